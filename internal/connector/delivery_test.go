package connector

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

const hour = event.Time(3600 * 1_000_000)

func TestWhatBecomesOfATry(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for name, c := range map[string]struct {
		from    Delivery
		err     error
		now     event.Time
		state   string
		tries   int
		next    event.Time
		mention string
	}{
		"TakenIsSentAndForgottenAfter30Days": {Delivery{State: Waiting, Text: "words"}, nil, 5, Sent, 1, 5 + 30*24*hour, ""},
		"TheFirstFailureWaitsASecond":        {Delivery{State: Waiting}, down, 5, Waiting, 1, 5 + 1_000_000, "down"},
		"EachWaitsTwiceAsLong":               {Delivery{State: Waiting, First: 1, Tries: 4}, down, 5, Waiting, 5, 5 + 16_000_000, "down"},
		"AtMostAnHour":                       {Delivery{State: Waiting, First: 1, Tries: 40}, down, 5, Waiting, 41, 5 + hour, "down"},
		"TheServiceSaysWhen":                 {Delivery{State: Waiting}, &Later{After: 2 * time.Hour, Err: down}, 5, Waiting, 1, 5 + 2*hour, "down"},
		"ButNotForEver":                      {Delivery{State: Waiting}, &Later{After: 1000 * time.Hour, Err: down}, 5, Waiting, 1, 5 + 24*hour, "down"},
		"RefusedIsDeadAtOnce":                {Delivery{State: Waiting}, fmt.Errorf("no: %w", &Refused{Reason: "gone"}), 5, Dead, 1, never, "gone"},
		"AMomentBeforeThreeDaysItLives":      {Delivery{State: Waiting, First: 5, Tries: 80}, down, 4 + 72*hour, Waiting, 81, 4 + 73*hour, "down"},
		"AfterThreeDaysItIsDead":             {Delivery{State: Waiting, First: 5, Tries: 80}, down, 5 + 72*hour, Dead, 81, never, "down"},
		"WaitedForAServerItIsTriedFirst":     {Delivery{State: Waiting, Created: 1}, down, 1000 * hour, Waiting, 1, 1000*hour + 1_000_000, "down"},
	} {
		got, due := settled(c.from, c.err, c.now, time.Second)
		if got.State != c.state || got.Tries != c.tries || due != c.next || !strings.Contains(got.Error, c.mention) || got.First == 0 || got.Last != c.now {
			t.Errorf("%s: got %+v, due %d; want %s, %d tries, due %d", name, got, due, c.state, c.tries, c.next)
		}
		if got.State == Sent && got.Text != "" {
			t.Errorf("%s: the words of what was sent are kept: %q", name, got.Text)
		}
	}
}

func TestWhatIsSentNext(t *testing.T) {
	t.Parallel()
	at := func(number int64, conversation string, due event.Time) entry {
		return entry{Delivery{Connector: "c", Conversation: conversation}, ledger.Note{Number: number, Due: due}}
	}
	waiting := []entry{at(4, "b", 1), at(2, "a", 9), at(3, "a", 1), at(5, "c", 1), at(6, "c", 1), at(7, "d", 1)}
	var got []int64
	for _, e := range next(waiting, 5, map[lane]bool{{"c", "d"}: true}) {
		got = append(got, e.note.Number)
	}
	if fmt.Sprint(got) != "[4 5]" {
		t.Errorf("sent next are %v, want 4 and 5: 3 waits behind 2, 6 behind 5, and something of d is under way", got)
	}
}

func TestACodeInWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"ABCDE-23456": "ABCDE-23456", "@bot  abcde-23456 ": "ABCDE-23456", "ABCDE23456": "", "ABCDE-23456x": "", "": ""} {
		if got := codeIn(text); got != want {
			t.Errorf("%q: got the code %q, want %q", text, got, want)
		}
	}
	if a, b := newCode(), newCode(); a == b || codeIn(a) != a {
		t.Errorf("codes are %s and %s", a, b)
	}
}

func TestSettingsOfAKind(t *testing.T) {
	t.Parallel()
	k := Kind{Settings: map[string]bool{"url": true, "room": false}, Secrets: map[string]bool{"key": true}, Open: func(Settings) (Driver, error) { return nil, nil }}
	for name, c := range map[string]struct {
		values, secrets map[string]string
		want            string
	}{
		"All":     {map[string]string{"url": "u", "room": "r"}, map[string]string{"key": "k"}, ""},
		"Unknown": {map[string]string{"url": "u", "rom": "r"}, map[string]string{"key": "k"}, `no setting "rom": there are key_variable, room, url`},
		"Missing": {nil, map[string]string{"key": "k"}, "needs url"},
		"NoKey":   {map[string]string{"url": "u"}, nil, "needs key_variable"},
		"NoSuch":  {map[string]string{"url": "u"}, map[string]string{"key": "k", "pin": "p"}, `no setting "pin_variable"`},
	} {
		_, err := k.Make(Settings{Name: "x", Values: c.values, Secrets: c.secrets})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

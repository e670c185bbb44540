package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
)

const answers = "rules: [{say: It is 42.}]"

func (l *lab) post(name string, b event.Body) {
	l.t.Helper()
	_, err := l.Post(l.t.Context(), name, ledger.Command{Body: b})
	must(l.t, err)
}

func say(text string) *event.UserMessage { return &event.UserMessage{Text: event.Text{Text: text}} }

func TestAQuestFromElsewhereHearsCommandsHere(t *testing.T) {
	t.Parallel()
	there, here := newLab(t), newLab(t)
	name := there.create(plan(t, "q", "", answers))
	for i := range 5 {
		there.post(name, say(fmt.Sprint("message ", i)))
	}
	_, err := there.Settle(t.Context(), name)
	must(t, err)
	events := there.events(name)
	for _, e := range events {
		refs, _ := event.Refs(e.Body)
		for _, ref := range refs {
			data, err := there.Blob(t.Context(), ref)
			must(t, err)
			_, err = here.Blobs.Put(t.Context(), data)
			must(t, err)
		}
	}
	_, err = here.Adopt(t.Context(), name, events, nil)
	must(t, err)
	here.post(name, say("from here"))
	s, err := here.Settle(t.Context(), name)
	must(t, err)
	if s.Inbox != 6 || !strings.Contains(types(here.events(name)[len(events):]), "user.message") {
		t.Fatalf("the last command taken is %d", s.Inbox)
	}
	here.run(name)
	here.sound(name)
}

// odd is a model that says whatever the test wants.
type odd struct{ answer model.Answer }

func (o odd) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Answer, error) {
	a := o.answer
	return &a, nil
}

func TestWhateverAModelSaysFitsTheLedger(t *testing.T) {
	t.Parallel()
	calls := func(n int, args string) (out []model.Part) {
		for i := range n {
			out = append(out, model.Part{Kind: event.PartToolCall, ID: fmt.Sprint(strings.Repeat("i", 300), i), Name: strings.Repeat("n", 300), Args: args})
		}
		return out
	}
	for name, a := range map[string]model.Answer{
		"many-calls":   {Parts: calls(60, strings.Repeat("1+", 100))},
		"most-calls":   {Parts: calls(100, strings.Repeat("x", 90))},
		"endless":      {Parts: calls(5000, "{}")},
		"long-kind":    {Parts: []model.Part{{Kind: strings.Repeat("kind", 9000), Text: "hello"}}, Stop: strings.Repeat("stop", 9000)},
		"not-text":     {Parts: []model.Part{{Kind: "te\xffxt", Text: "hel\xfflo"}}, Stop: "e\xffnd"},
		"huge-numbers": {Parts: []model.Part{{Kind: event.PartText, Text: "hello"}}, Cost: math.MaxInt64, Usage: event.Usage{Input: math.MaxInt64, Output: math.MaxInt64}},
		"below-zero":   {Parts: []model.Part{{Kind: event.PartText, Text: "hello"}}, Cost: -1e9, Usage: event.Usage{Input: -5}},
		"empty-text":   {Parts: []model.Part{{Kind: event.PartText}, {Kind: event.PartThinking, Text: "hm"}}},
		"controls":     {Parts: []model.Part{{Kind: event.PartText, Text: strings.Repeat("\x01", 9000)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.Models = func(string, func(string) ([]byte, error)) (model.Model, error) { return odd{a}, nil }
			q := l.create(plan(t, name, "limits: {turns: 4}\n", answers))
			s := l.run(q)
			if s.Status == quest.Running || s.Spent.Cost < 0 || s.Spent.Usage.Input < 0 {
				t.Errorf("%s, spent %+v", s.Status, s.Spent)
			}
			l.sound(q)
		})
	}
}

func TestThoughtsAloneAreNoAnswer(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	q := l.create(plan(t, "q", "", `
rules:
  - on: {turn: 1}
    say: "I will compute it."
    call: [{tool: calculate, args: {code: "1"}}]
  - think: "Hm."
`))
	if s := l.run(q); s.Status != quest.Failed || s.Answer != nil {
		t.Fatalf("%s, answer %v", s.Status, s.Answer)
	}
	l.sound(q)
}

func TestACommandTooLongForAnEventIsRefused(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	q := l.create(plan(t, "q", "", answers))
	long := say(strings.Repeat(`"`, 8182)) // fits, until it has its number
	if _, err := l.Post(t.Context(), q, ledger.Command{Body: long}); err == nil {
		t.Fatal("it was taken")
	}
	// Even one that got into the inbox some other way does not keep the quest.
	_, err := l.Ledger.Post(t.Context(), q, ledger.Command{Body: long})
	must(t, err)
	l.post(q, say("short"))
	if s := l.run(q); s.Status != quest.Finished {
		t.Fatalf("the quest is %s: %s, want it finished", s.Status, s.Reason)
	}
	l.sound(q)
}

func TestAResumeThatNobodyRunsStartsNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	q := l.create(plan(t, "q", "", answers))
	l.post(q, &event.QuestResumed{})
	s, err := l.Settle(t.Context(), q)
	must(t, err)
	if s.Status == quest.Running || len(s.Calls) != 0 {
		t.Fatalf("%s with %d calls", s.Status, len(s.Calls))
	}
	l.run(q)
	l.sound(q)
}

// posting posts a command right after a claim, as another process might.
type posting struct {
	ledger.Store
	body event.Body
}

func (p posting) Claim(ctx context.Context, quest string) (ledger.Claim, error) {
	claim, err := p.Store.Claim(ctx, quest)
	if err == nil {
		_, err = p.Post(ctx, quest, ledger.Command{Body: p.body})
	}
	return claim, err
}

func TestAStopSentToAStartingRunStopsIt(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	q := l.create(plan(t, "q", "", answers))
	l.post(q, &event.QuestStopped{Reason: "before the run, which goes on all the same"})
	store := l.Ledger
	l.Ledger = posting{store, &event.QuestStopped{Reason: "now"}}
	s, err := l.Run(t.Context(), q, runtime.RunOptions{})
	must(t, err)
	if s.Status != quest.Stopped || s.Reason != "now" {
		t.Fatalf("the quest is %s (%s): %s, want it stopped now", s.Status, s.Reason, types(l.events(q)))
	}
	l.Ledger = store
	if s := l.run(q); s.Status != quest.Finished {
		t.Fatalf("the quest is %s, want it finished", s.Status)
	}
	l.sound(q)
}

func TestASummaryThatIsLateIsNoChange(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	q := l.create(plan(t, "q", "", answers))
	l.run(q)
	path := filepath.Join(l.QuestDir(q), "SUMMARY.md")
	must(t, os.WriteFile(path, []byte("No answer yet.\n"), 0o600)) // killed before it was written
	l.sound(q)
	_, err := l.Settle(t.Context(), q)
	must(t, err)
	if data, err := os.ReadFile(path); err != nil || string(data) != itIs42 {
		t.Fatalf("the summary is %q, %v", data, err)
	}
	must(t, os.WriteFile(path, []byte("It is 42.\n"), 0o600)) // by a Lyceum that wrote the answer alone
	l.sound(q)
	must(t, os.WriteFile(path, []byte(strings.Replace(itIs42, "unchecked", "high", 1)), 0o600))
	if rep, err := audit.Verify(t.Context(), l.Runtime, q, nil); err != nil || rep.Difference == nil || rep.Difference.File != path {
		t.Errorf("a summary that claims to be surer than the ledger: found %v, %v, want %s", rep.Difference, err, path)
	}
	must(t, os.WriteFile(path, []byte(itIs42), 0o600))
	// Asked more, and killed before the next answer.
	l.post(q, say("more"))
	ctx, kill := context.WithCancel(t.Context())
	_, err = l.Run(ctx, q, runtime.RunOptions{OnEvent: func(e event.Event, _ *quest.State) {
		if e.Type == "model.call" {
			kill()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	rep, err := audit.Verify(t.Context(), l.Runtime, q, nil)
	must(t, err)
	if rep.Difference != nil {
		t.Fatalf("the replay differs: %v", rep.Difference)
	}
}

func TestAClockSetBackDoesNotEndTheTimeLimit(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	begun := runtime.SystemClock()
	l.Clock = func() event.Time { // half the limit back, once the timer is set
		now := runtime.SystemClock()
		if now > begun+20_000 {
			now -= 50_000
		}
		return now
	}
	q := l.create(plan(t, "q", "limits: {duration: 100ms}\n", "rules: [{fault: hang}]"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := l.Run(ctx, q, runtime.RunOptions{Grace: 1})
	must(t, err)
	if s.Status != quest.Exceeded || s.Reason != "duration" {
		t.Fatalf("the quest is %s (%s), want its duration exceeded", s.Status, s.Reason)
	}
}

// TestAPauseThatComesTooLateLeavesNoTrace: the head of a finished quest stays the head that
// somebody cites, and the pause does not come back when the quest goes on.
func TestAPauseThatComesTooLateLeavesNoTrace(t *testing.T) {
	l := newLab(t)
	name := l.create(plan(t, "q", "", simple+"  - {say: more}\n"))
	if s := l.run(name); s.Status != quest.Finished {
		t.Fatalf("it is %s", s.Status)
	}
	head, err := l.Ledger.Head(t.Context(), name)
	must(t, err)
	for _, b := range []event.Body{&event.QuestPaused{}, &event.QuestStopped{}} {
		l.post(name, b)
		s, err := l.Settle(t.Context(), name)
		must(t, err)
		if err := s.Accepts("person", b); err == nil {
			t.Errorf("a finished quest takes a %s", b.Type())
		}
	}
	now, err := l.Ledger.Head(t.Context(), name)
	must(t, err)
	left, err := l.Ledger.Commands(t.Context(), name, 0)
	must(t, err)
	if now != head || len(left) != 0 {
		t.Errorf("after a pause and a stop of a finished quest: head %d, commands %v, want %d and none", now.Seq, left, head.Seq)
	}
	l.post(name, &event.UserMessage{Text: event.Text{Text: "more?"}})
	if s := l.run(name); s.Status != quest.Finished || s.Answer.Text != "more" {
		t.Errorf("taken up by a message, it is %s with %v, want another answer", s.Status, s.Answer)
	}
	l.sound(name)
}

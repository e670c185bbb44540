package agent

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// turn asks the agent's model as the rules do: a summary first, then where the agent stands,
// then the turn. It returns the call of the turn, and whether its window is another than the
// last one's.
func turn(t *testing.T, a *Agent, seq *uint64, summary *event.ModelResult) (call *event.ModelCall, moved bool) {
	t.Helper()
	first := a.Transcript.First
	if c := a.Compaction("sum it up", "[your words]"); c != nil {
		if c.Last >= c.Compact.First || c.First != first {
			t.Fatalf("messages %d to %d are to be summed up, and the window then begins at %d", c.First, c.Last, c.Compact.First)
		}
		*seq++
		a.Called(*seq, c)
		shown, err := new(Rendering).Messages(&a.Transcript, c, nil)
		if err != nil || shown[len(shown)-1].Parts[0].Text != "sum it up" {
			t.Fatalf("a request for a summary ends with %v, %v: want what is asked", shown[len(shown)-1], err)
		}
		*seq++
		a.Heard(*seq, summary)
		if a.Compaction("sum it up", "") != nil {
			t.Fatal("a summary is asked for twice")
		}
	}
	if a.StandingDue() {
		a.Stand(event.Text{Text: "You are agent-0."})
	}
	if a.StandingDue() {
		t.Fatal("an agent that was told where it stands is to be told again")
	}
	call = a.NextCall()
	*seq++
	a.Called(*seq, call)
	return call, call.First != first
}

// answered has the model call a tool, and the tool say so many words.
func answered(a *Agent, seq *uint64, words string) {
	*seq++
	answer := *seq
	a.Heard(answer, &event.ModelResult{Stop: "tools", Usage: event.Usage{Input: a.Transcript.tokens(0), Output: 20}, Parts: []event.Part{{Kind: event.PartToolCall, ID: fmt.Sprint(answer), Name: "tool"}}})
	*seq++
	a.Used(*seq, &event.ToolCall{Answer: answer})
	a.Got(0, *seq, event.Text{Text: words}, false)
}

func says(text string) *event.ModelResult {
	return &event.ModelResult{Cost: 7, Stop: model.StopLength, Parts: []event.Part{
		{Kind: event.PartText, Text: &event.Text{Text: text}}, {Kind: event.PartToolCall, ID: "no", Name: "tool"},
	}}
}

func TestAnAgentIsToldWhereItStandsAfterACutAndEveryTwentyTurns(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		a := New(event.AgentSpec{Name: "agent-0", Model: "m", Window: 2000}, true)
		a.Compacts = seed%2 == 0
		a.Told(event.Text{Text: "the question"})
		var seq uint64
		last, moves := int64(0), 0
		for n := int64(1); n <= 200; n++ {
			summary := says("what I know")
			switch rng.IntN(4) {
			case 0:
				summary = &event.ModelResult{Error: &event.ModelError{Kind: "unavailable", Text: "overloaded"}}
			case 1:
				summary = &event.ModelResult{}
			}
			call, moved := turn(t, a, &seq, summary)
			standing := a.Transcript.at(call.Last).Aside
			if moved {
				moves++
			}
			if due := moved || call.Turn-last >= standEvery; standing != due {
				t.Fatalf("seed %d: turn %d ends with where the agent stands: %v, want %v (it was told at %d, and the window moved: %v)", seed, call.Turn, standing, due, last, moved)
			}
			if standing {
				last = call.Turn
			}
			if total := a.Transcript.tokens(0); total > a.Limit {
				t.Fatalf("seed %d: a request of %d tokens in a window of %d", seed, total, a.Limit)
			}
			checkLegal(t, a)
			if len(a.Open) > 0 || a.Failed != nil {
				t.Fatalf("seed %d: a summary that failed, or called for tools, has left %v and %v", seed, a.Failed, a.Open)
			}
			answered(a, &seq, words(rng, 60))
		}
		if moves == 0 {
			t.Errorf("seed %d: no window was full", seed)
		}
	}
}

func TestASummaryStandsInThePlaceOfWhatItSumsUp(t *testing.T) {
	t.Parallel()
	a := New(event.AgentSpec{Name: "agent-0", Model: "m", Window: 2000}, true)
	a.Compacts = true
	a.Told(event.Text{Text: "the question"})
	var seq uint64
	for a.Transcript.Summary == nil {
		turn(t, a, &seq, says("what I know"))
		answered(a, &seq, words(rand.New(rand.NewPCG(1, 1)), 400))
	}
	call, _ := turn(t, a, &seq, says("again"))
	shown, err := new(Rendering).Messages(&a.Transcript, call, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := [3]string{shown[0].Parts[0].Text, shown[0].Parts[1].Text, shown[0].Parts[2].Text}
	if want := [3]string{"the question", "[your words]", "what I know"}; got != want {
		t.Errorf("the request begins with %q: want %q", got, want)
	}
	if a.Cost != 7 {
		t.Errorf("the agent has spent %d: want the cost of the summary, 7", a.Cost)
	}
	other := a.Transcript
	other.Summary = nil
	other.shown = setting{}
	if other.rendering(call) == call.Rendering {
		t.Error("a request without the summary has the same hash")
	}
}

func TestACompactionThatFailsIsACut(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*event.ModelResult{
		"AnError": {Error: &event.ModelError{Kind: "unavailable"}}, "Nothing": {}, "TooLong": says(fmt.Sprintf("%3000d", 1)),
		"ToolsAlone": {Parts: []event.Part{{Kind: event.PartToolCall, ID: "x", Name: "tool"}}},
	} {
		t.Run(name, func(t *testing.T) {
			a := New(event.AgentSpec{Name: "agent-0", Model: "m", Window: 2000}, true)
			a.Compacts = true
			a.Told(event.Text{Text: "the question"})
			var seq uint64
			for moved := false; !moved; {
				var call *event.ModelCall
				call, moved = turn(t, a, &seq, r)
				if call.Turn > 500 {
					t.Fatal("the window was never cut")
				}
				answered(a, &seq, "some words of a tool, and some more of them")
			}
			if a.Transcript.Summary != nil || a.GaveUp() || len(a.Open) != 0 {
				t.Errorf("there is a summary %v, the agent has given up: %v, and waits for %v: want a plain cut", a.Transcript.Summary, a.GaveUp(), a.Open)
			}
		})
	}
}

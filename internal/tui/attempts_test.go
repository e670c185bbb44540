package tui

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/solo"

	"github.com/charmbracelet/x/ansi"
)

// made are rules that decide nothing: what a maker did is told by the test.
type made struct{ solo.Society }

func (made) Rules() string { return "world/1" }

// TestTheAttemptsOfAMaker: the panel follows the events, takes none twice, and shows what agents
// wrote without what terminals obey.
func TestTheAttemptsOfAMaker(t *testing.T) {
	t.Parallel()
	s := stateOf(made{}, 1, 0)
	s.Seq = 100
	m := show(s, 120, 30)
	one := event.WorldCondition{Kind: "title", Text: "Counter" + evil}
	events := happened{
		{Seq: 1, Actor: "agent-0", Body: &event.AttemptProposed{Attempt: 1, Intent: "a counter" + evil}},
		{Seq: 2, Body: &event.AnalysisCall{Attempt: 1, Tier: 1}},
		{Seq: 3, Body: &event.AnalysisResult{Call: 2, Verdict: "failed", Findings: []event.WorldFinding{{Check: "names" + evil, Kind: "failed", Path: "index.html", Observed: "none", Required: true}}}},
		{Seq: 4, Body: &event.TierJudged{Attempt: 1, Tier: 1, Verdict: "failed"}},
		{Seq: 5, Actor: "agent-0", Body: &event.AttemptProposed{Attempt: 2, Intent: "another"}},
		{Seq: 6, Body: &event.TierJudged{Attempt: 2, Tier: 1, Verdict: "passed"}},
		{Seq: 7, Body: &event.RewardGiven{Attempt: 2, Sum: 1000}},
		{Seq: 8, Actor: "agent-0", Body: &event.PredictionMade{Attempt: 2, Expect: []event.WorldExpectation{{Condition: one, Probability: 900}}}},
		{Seq: 9, Body: &event.WorldCall{Attempt: 2, Prediction: 8}},
		{Seq: 10, Body: &event.WorldObserved{Call: 9, End: "done", Held: []bool{true}}},
		{Seq: 11, Body: &event.SurpriseMeasured{Attempt: 2, Prediction: 8, Conditions: []int64{10_000}, Mean: 10_000}},
		{Seq: 12, Actor: "agent-0", Body: &event.AttemptProposed{Attempt: 3, Intent: "one more"}},
	}
	for range 2 {
		if err := m.take(events); err != nil {
			t.Fatal(err)
		}
	}
	screen := ansi.Strip(m.View().Content)
	for _, want := range []string{"Attempts", "rejected", "passed", "judging", "1.000", "1 of 3 attempts passed"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen does not say %q:\n%s", want, screen)
		}
	}
	x := m.panel.(*attempts)
	if len(x.making.Attempts) != 3 || len(x.asked("agent-0")) != 1 || len(x.about("agent-0")) != 3 || x.asked("nobody") != nil {
		t.Errorf("%d attempts, asked %v, about %v", len(x.making.Attempts), x.asked("agent-0"), x.about("agent-0"))
	}
	texts := []string{screen}
	x.move(-5)
	for i, wants := range [][]string{{"state        rejected", "in the way   names", "tier 1: failed", "index.html"}, {"reward       1.000", "predicted 0.900: title is “Counter", "held", "surprise 0.010, 0 unforeseen"}} {
		cmd, why := x.open(m.src)
		if cmd == nil {
			t.Fatalf("attempt %d cannot be opened: %s", i+1, why)
		}
		out := cmd().(loaded).text(200, Plain)
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("attempt %d does not say %q:\n%s", i+1, want, out)
			}
		}
		texts = append(texts, out)
		x.move(1)
	}
	for _, text := range texts {
		if strings.ContainsAny(text, "\x1b\x07\u202e") {
			t.Errorf("what an agent wrote reaches the terminal: %q", text)
		}
	}
	if cmd, why := newAttempts(s).open(nil); cmd != nil || why == "" {
		t.Error("an attempt is opened where there is none")
	}
}

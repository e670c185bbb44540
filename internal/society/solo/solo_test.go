package solo_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/society/solo"

	"github.com/google/go-cmp/cmp"
)

// story plays inputs against the rules and keeps what they lead to.
type story struct {
	t     *testing.T
	state *quest.State
	now   event.Time
}

func begin(t *testing.T, limits event.Limits) *story {
	t.Helper()
	ref := event.RefOf([]byte("pinned"))
	var texts []event.NamedText
	for _, x := range (solo.Society{}).Texts() {
		if x.Name != "system" {
			texts = append(texts, x)
		}
	}
	policies, err := policy.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{t: t}
	created := event.Draft{Actor: "person", Body: &event.QuestCreated{
		Name: "q", Rules: "solo/4", Policies: policies, Problem: event.Text{Text: "?"}, Spec: ref, Limits: limits, Texts: texts,
		Agents: []event.AgentSpec{{Name: "agent-0", Model: "m", System: ref, Tools: ref, ToolNames: []string{"look"}, Window: 2000}},
		Tools:  []event.ToolTraits{{Name: "look", Reads: true}},
	}}
	e, err := event.Seal("q", 1, event.Hash{}, created)
	if err != nil {
		t.Fatal(err)
	}
	if s.state, err = quest.New(e, []quest.Society{solo.Society{}}); err != nil {
		t.Fatal(err)
	}
	s.state.Apply(e)
	return s
}

// take feeds one input and returns what followed, one word each.
func (s *story) take(b event.Body) string {
	s.t.Helper()
	if err := s.state.Check("agent-0", b); err != nil {
		return "refused"
	}
	s.now += 1000
	queue := []event.Draft{{Time: s.now, Actor: "agent-0", Body: b}}
	var out []string
	for i := 0; len(queue) > 0; i++ {
		e, err := event.Seal("q", s.state.Seq+1, s.state.Hash, queue[0])
		if err != nil {
			s.t.Fatal(err)
		}
		s.state.Apply(e)
		if i > 0 {
			out = append(out, brief(e))
		}
		queue = append(queue[1:], quest.Decide(s.state, e)...)
	}
	return strings.Join(out, ", ")
}

func brief(e event.Event) string {
	switch b := e.Body.(type) {
	case *event.ModelCall:
		return fmt.Sprintf("ask %d", b.Turn)
	case *event.ToolCall:
		return "use " + e.Tool
	case *event.ToolAnswered:
		return "answer: " + b.Output.Text
	case *event.QuestFinished:
		return "finished: " + b.Answer.Text
	case *event.QuestFailed:
		return "failed: " + b.Reason
	case *event.BudgetExceeded:
		return fmt.Sprintf("exceeded %s %d of %d", b.Limit, b.Used, b.Max)
	case *event.MessageSent:
		return "say: " + b.Text.Text
	case *event.TimerSet:
		return "timer"
	}
	return string(e.Type)
}

// open returns the calls without results, in order.
func (s *story) open(kind event.Type) (out []uint64) {
	for seq := uint64(1); seq <= s.state.Seq; seq++ {
		if c, ok := s.state.Calls[seq]; ok && c.Kind == kind {
			out = append(out, seq)
		}
	}
	return out
}

func (s *story) model(r event.ModelResult) string {
	s.t.Helper()
	r.Call = s.open("model.call")[0]
	return s.take(&r)
}

func says(text string) event.ModelResult {
	return event.ModelResult{Stop: model.StopEnd, Parts: []event.Part{{Kind: event.PartText, Text: &event.Text{Text: text}}}, Cost: 10, Usage: event.Usage{Input: 5, Output: 5}}
}

func uses(tools ...string) event.ModelResult {
	r := event.ModelResult{Stop: model.StopTools, Cost: 10, Usage: event.Usage{Input: 5, Output: 5}}
	for i, name := range tools {
		r.Parts = append(r.Parts, event.Part{Kind: event.PartToolCall, ID: fmt.Sprint(i), Name: name})
	}
	return r
}

func fails(kind model.Kind) event.ModelResult {
	return event.ModelResult{Error: &event.ModelError{Kind: string(kind), Text: "trouble"}}
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("what was decided differs (-want +got):\n%s", diff)
	}
}

func (s *story) result(i int) string {
	s.t.Helper()
	return s.take(&event.ToolResult{Call: s.open("tool.call")[i], Output: event.Text{Text: "seen"}})
}

func TestSolo(t *testing.T) {
	t.Parallel()
	started := func(t *testing.T) *story {
		s := begin(t, event.Limits{})
		expect(t, s.take(&event.QuestStarted{}), "ask 1")
		return s
	}
	t.Run("AnswersAtOnce", func(t *testing.T) {
		expect(t, started(t).model(says("42")), "finished: 42")
	})
	t.Run("WaitsForAllToolsBeforeItAsksAgain", func(t *testing.T) {
		s := started(t)
		expect(t, s.model(uses("look", "look", "look")), "use look, use look, use look")
		expect(t, s.result(2), "")
		expect(t, s.result(0), "")
		expect(t, s.result(0), "ask 2")
	})
	t.Run("TellsOfAToolThatIsNotThere", func(t *testing.T) {
		s := started(t)
		expect(t, s.model(uses("peek")), `use , answer: There is no tool "peek". You have: look., ask 2`)
	})
	t.Run("RefusesASecondResult", func(t *testing.T) {
		s := started(t)
		call := s.open("model.call")[0]
		s.model(uses("look"))
		r := says("again")
		r.Call = call
		expect(t, s.take(&r), "refused")
		tool := s.open("tool.call")[0]
		s.result(0)
		expect(t, s.take(&event.ToolResult{Call: tool}), "refused")
	})
	t.Run("GoesOnAfterACutAnswer", func(t *testing.T) {
		s := started(t)
		r := says("half of it")
		r.Stop = model.StopLength
		expect(t, s.model(r), "say: "+s.state.Texts["continue"]+", ask 2")
	})
	t.Run("StopsAskingAModelThatIsAlwaysCutOff", func(t *testing.T) {
		s := started(t)
		for n := 2; n <= 6; n++ {
			r := says(fmt.Sprint("part ", n))
			r.Stop = model.StopLength
			got, word := s.model(r), "say: "+s.state.Texts["continue"]
			if n == 4 {
				word = "say: You have given answers that were cut off"
			}
			if !strings.HasPrefix(got, word) || !strings.HasSuffix(got, fmt.Sprint(", ask ", n)) {
				t.Fatalf("after cut %d: got %s, want %s…, ask %d", n-1, got, word, n)
			}
		}
		r := says("part 7")
		r.Stop = model.StopLength
		expect(t, s.model(r), "say: "+s.state.Texts["continue"]+", policy.blocked, failed: agent-0 is parked. Refused by the policy whole-answers: "+
			"agent-0 has given answers that were cut off at the limit of their length, or had nothing in them, 6 times in a row. The length of answers is max_output in quest.yaml.")
		expect(t, s.take(&event.QuestResumed{}), "ask 7")
	})
	t.Run("RaisesTheLimitOfAnswersOnce", func(t *testing.T) {
		s := started(t)
		a := s.state.Agents[0]
		a.RaisedOutput = 64_000
		cut := says("half of it")
		cut.Stop = model.StopLength
		for _, want := range []int64{64_000, 64_000} {
			s.model(cut)
			if got := a.NextCall().MaxTokens; got != want {
				t.Errorf("the next call after a cut: got at most %d tokens, want %d", got, want)
			}
		}
		a.Become("another")
		if got := a.NextCall().MaxTokens; got != 0 {
			t.Errorf("the call of another model: got at most %d tokens, want as many as it takes", got)
		}
	})
	t.Run("FailsWhenTheModelRefuses", func(t *testing.T) {
		r := says("no")
		r.Stop = model.StopRefusal
		expect(t, started(t).model(r), "failed: the model refused to go on")
	})
	t.Run("AsksAgainAfterAnEmptyAnswerThriceAtMost", func(t *testing.T) {
		s := started(t)
		expect(t, s.model(event.ModelResult{}), "ask 2")
		expect(t, s.model(event.ModelResult{}), "ask 3")
		expect(t, s.model(event.ModelResult{}), "failed: the model answered nothing, three times in a row")
		expect(t, s.take(&event.QuestResumed{}), "ask 4")
		expect(t, s.model(event.ModelResult{}), "ask 5")
	})
	t.Run("CutsTheWindowOnceWhenItIsTooLong", func(t *testing.T) {
		s := started(t)
		expect(t, s.model(fails(model.ContextTooLong)), "ask 2")
		expect(t, s.model(fails(model.ContextTooLong)), "failed: trouble")
	})
	t.Run("FailsWithItsModelAndCanBeResumed", func(t *testing.T) {
		s := started(t)
		expect(t, s.model(fails(model.Unavailable)), "failed: trouble")
		expect(t, s.take(&event.QuestResumed{}), "ask 2")
		expect(t, s.model(says("42")), "finished: 42")
	})
	t.Run("StartsNothingWhilePaused", func(t *testing.T) {
		s := started(t)
		expect(t, s.take(&event.QuestPaused{}), "")
		expect(t, s.model(uses("look", "look")), "")
		expect(t, s.take(&event.UserMessage{Text: event.Text{Text: "hello"}}), "")
		expect(t, s.take(&event.QuestResumed{}), "use look, use look")
		s.take(&event.QuestStopped{})
		expect(t, s.result(0), "")
		expect(t, s.result(0), "")
		expect(t, s.take(&event.QuestResumed{}), "ask 2")
	})
	t.Run("HearsAPersonAfterItsAnswer", func(t *testing.T) {
		s := started(t)
		s.take(&event.UserMessage{Text: event.Text{Text: "and 43?"}})
		expect(t, s.model(says("42")), "ask 2")
		expect(t, s.model(says("43")), "finished: 43")
		expect(t, s.take(&event.UserMessage{Text: event.Text{Text: "and 44?"}}), "")
		expect(t, s.take(&event.QuestResumed{}), "ask 3")
	})
	t.Run("TakesACommandOnce", func(t *testing.T) {
		s := started(t)
		expect(t, s.take(&event.QuestPaused{Inbox: 3}), "")
		expect(t, s.take(&event.QuestPaused{Inbox: 3}), "refused")
		expect(t, s.take(&event.QuestResumed{Inbox: 2}), "refused")
		expect(t, s.take(&event.UserMessage{To: "nobody"}), "refused")
		expect(t, s.take(&event.QuestStarted{}), "refused")
	})
}

func TestSoloKeepsItsLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits event.Limits
		want   string
	}{
		"turns":    {event.Limits{Turns: new(int64(1))}, "exceeded turns 1 of 1"},
		"cost":     {event.Limits{Cost: new(int64(10))}, "exceeded cost 10 of 10"},
		"tokens":   {event.Limits{Tokens: new(int64(9))}, "exceeded tokens 10 of 9"},
		"duration": {event.Limits{Duration: new(int64(1500))}, "exceeded duration 2000 of 1500"},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, c.limits)
			s.take(&event.QuestStarted{})
			s.model(uses("look"))
			expect(t, s.result(0), c.want)
			if s.state.Status != quest.Exceeded {
				t.Fatalf("status %s", s.state.Status)
			}
			s.take(&event.QuestResumed{Limits: event.Limits{Turns: new(int64(9)), Cost: new(int64(999)), Tokens: new(int64(999)), Duration: new(int64(99999))}})
			if s.state.Status != quest.Running || len(s.open("model.call")) != 1 {
				t.Fatalf("status %s, %d calls", s.state.Status, len(s.open("model.call")))
			}
		})
	}
	t.Run("NothingIsAskedOnABudgetOfNothing", func(t *testing.T) {
		s := begin(t, event.Limits{Cost: new(int64(0))})
		expect(t, s.take(&event.QuestStarted{}), "exceeded cost 0 of 0")
	})
	t.Run("ATimerThatFiresEarlySetsAnother", func(t *testing.T) {
		s := begin(t, event.Limits{Duration: new(int64(1 << 40))})
		expect(t, s.take(&event.QuestStarted{}), "timer, ask 1")
		expect(t, s.take(&event.TimerFired{Call: s.open("timer.set")[0]}), "timer")
	})
	t.Run("TimeThatNobodyRanDoesNotCount", func(t *testing.T) {
		s := begin(t, event.Limits{})
		s.take(&event.QuestStarted{})
		s.take(&event.QuestPaused{})
		s.now += 1 << 40
		s.take(&event.QuestResumed{})
		if ran := s.state.Elapsed(s.now); ran != 1000 {
			t.Errorf("ran %d µs", ran)
		}
		// The process dies and is started again much later.
		s.now += 1 << 40
		s.take(&event.QuestResumed{})
		if ran := s.state.Elapsed(s.now); ran != 1000 {
			t.Errorf("ran %d µs", ran)
		}
	})
}

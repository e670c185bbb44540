package quest_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

const paused = "answer: not run: the quest was paused before it was this call's turn; make it again if it is still wanted"

// TestCallsOfATurnAreMadeInTheirOrder: what may have an effect waits for what is before it,
// whatever becomes of that; what only reads, or is said to be parallel, runs beside its like.
func TestCallsOfATurnAreMadeInTheirOrder(t *testing.T) {
	t.Parallel()
	begun := func(t *testing.T) *story {
		s := tell(t, "[]", event.Limits{}, nil)
		s.start()
		return s
	}
	t.Run("OneAfterAnother", func(t *testing.T) {
		s := begun(t)
		s.expect(s.calls(`write{"n":1}`, `look{"n":2}`, `write{"n":3}`), "use write")
		s.expect(s.gives(0, "it failed", true), "use look")
		s.expect(s.gives(0, "seen", false), "use write")
		s.expect(s.gives(0, "done", false), "ask 2")
	})
	t.Run("ReadsTogether", func(t *testing.T) {
		s := begun(t)
		s.expect(s.calls(`look{"n":1}`, `look{"n":2}`, `write{}`, `look{"n":3}`, `look{"n":4}`), "use look", "use look")
		s.expect(s.gives(1, "second", false))
		s.expect(s.gives(0, "first", false), "use write")
		s.expect(s.gives(0, "written", false), "use look", "use look")
		s.expect(s.gives(1, "fourth", false))
		s.expect(s.gives(0, "third", false), "ask 2")
		msgs := s.state.Agents[0].Transcript.Messages
		var heard []string
		for _, p := range msgs[len(msgs)-1].Parts {
			heard = append(heard, p.Text.Text)
		}
		if got, want := strings.Join(heard, " "), "first second written third fourth"; got != want {
			t.Errorf("the agent hears %q, want %q", got, want)
		}
	})
	t.Run("AtMostEight", func(t *testing.T) {
		s := begun(t)
		var list []string
		for range 11 {
			list = append(list, "look{}")
		}
		if got := s.calls(list...); len(got) != quest.MaxTogether {
			t.Fatalf("%d of 11 calls began together, want %d", len(got), quest.MaxTogether)
		}
		s.expect(s.gives(3, "seen", false), "use look")
	})
	t.Run("ByTheModelsOwnWord", func(t *testing.T) {
		s := begun(t)
		s.expect(s.calls(`write{"parallel":true}`, `look{}`, `write{"parallel":true,"n":1}`, `write{"parallel":"true"}`), "use write", "use look", "use write")
	})
	t.Run("AnUnknownToolIsAnsweredInItsTurn", func(t *testing.T) {
		s := begun(t)
		s.expect(s.calls(`write{}`, `peek{}`, `write{}`), "use write")
		s.expect(s.gives(0, "done", false), "use ", `answer: There is no tool "peek". You have: look, write.`, "use write")
	})
	t.Run("EachIsJudgedWhenItIsItsTurn", func(t *testing.T) {
		s := tell(t, "[{use: analysis-first, analysis: [look], execution: [write]}]", event.Limits{}, nil)
		s.start()
		s.expect(s.calls(`look{"path":"a"}`, `write{"path":"a"}`), "use look")
		s.expect(s.gives(0, "fine", false), "use write")
	})
	t.Run("AQuestionHoldsUpWhatIsBehindIt", func(t *testing.T) {
		s := tell(t, "[{name: careful, steps: [{ask: {type: tool.call, where: {tool: write, args.n: 1}, reason: May it?}}]}]", event.Limits{}, nil)
		s.start()
		s.expect(s.calls(`write{"n":1}`, `write{"n":2}`), "interaction.opened")
		q := s.open("interaction.opened")[0]
		s.expect(s.take("person", &event.QuestPaused{}))
		s.expect(s.take("person", &event.QuestResumed{}))
		s.expect(s.take("person", &event.InteractionAnswered{Interaction: q, Choice: "yes"}), "use write")
	})
}

// TestTheRestOfATurnIsNotRunWhenTheQuestRests: once some of its calls were made, the others
// are answered; a turn that has not begun is left whole.
func TestTheRestOfATurnIsNotRunWhenTheQuestRests(t *testing.T) {
	t.Parallel()
	begun := func(t *testing.T, limits event.Limits) *story {
		s := tell(t, "[]", limits, nil)
		s.start()
		return s
	}
	t.Run("APause", func(t *testing.T) {
		s := begun(t, event.Limits{})
		s.calls(`write{"n":1}`, `write{"n":2}`, `look{}`)
		s.expect(s.take("person", &event.QuestPaused{}), "tool.skipped", "tool.skipped", paused, paused)
		s.expect(s.gives(0, "done", false))
		s.expect(s.take("person", &event.QuestResumed{}), "ask 2")
	})
	t.Run("AStop", func(t *testing.T) {
		s := begun(t, event.Limits{})
		s.calls(`write{"n":1}`, `write{"n":2}`)
		s.expect(s.take("person", &event.QuestStopped{}), "tool.skipped", strings.Replace(paused, "paused", "stopped", 1))
		s.expect(s.take("person", &event.QuestResumed{}))
		s.expect(s.gives(0, "done", false), "ask 2")
	})
	t.Run("TheEndOfABudget", func(t *testing.T) {
		s := begun(t, event.Limits{Duration: new(int64(1500))})
		s.calls(`write{"n":1}`, `write{"n":2}`)
		s.now += 1_000_000
		s.expect(s.take("core", &event.TimerFired{Call: s.open("timer.set")[0]}), "exceeded duration", "tool.skipped",
			strings.Replace(paused, "the quest was paused", "a limit of the quest was reached", 1))
	})
	t.Run("NotATurnThatHasNotBegun", func(t *testing.T) {
		s := begun(t, event.Limits{})
		s.take("person", &event.QuestPaused{})
		s.expect(s.calls(`write{"n":1}`, `write{"n":2}`))
		s.expect(s.take("person", &event.QuestPaused{}))
		s.expect(s.take("person", &event.QuestResumed{}), "use write")
	})
	t.Run("NorAfterACrash", func(t *testing.T) {
		s := begun(t, event.Limits{})
		s.calls(`write{"n":1}`, `write{"n":2}`)
		s.expect(s.take("person", &event.QuestResumed{})) // the process died, and its calls go on
		s.expect(s.gives(0, "done", false), "use write")
	})
	t.Run("AForkGoesOnWhereverItIsCut", func(t *testing.T) {
		s := begun(t, event.Limits{})
		s.calls(`write{"n":1}`, `write{"n":2}`, `write{"n":3}`)
		s.take("person", &event.QuestPaused{})
		for at := len(s.events) - 5; at <= len(s.events); at++ {
			f := &story{t: s.t, society: s.society, state: s.foldTo(at), events: append([]event.Event{}, s.events[:at]...), now: s.now}
			f.take("person", &event.QuestForked{At: uint64(at), From: "q", Hash: f.state.Hash, Name: "q"})
			for f.take("person", &event.QuestResumed{}); len(f.open("tool.call")) > 0; {
				f.gives(0, "done", false)
			}
			if got := f.state.Agents[0].Turns; got != 2 {
				t.Errorf("a fork at %d of %d is at turn %d, want 2", at, len(s.events), got)
			}
		}
	})
}

package quest_test

import (
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
)

// TestALedgerWithAPauseAfterItsEndFolds: earlier builds appended one that came too late, and
// such a ledger reads as it did: the quest is finished, with its answer. No new one is taken.
func TestALedgerWithAPauseAfterItsEndFolds(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]event.Body{"Pause": &event.QuestPaused{Inbox: 1, Reason: "late"}, "Stop": &event.QuestStopped{Inbox: 1, Reason: "late"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := asked(t, solo.Society{}, 1, "", event.Limits{})
			s.Answer(s.State.Agents[0].Name, questtest.Says("It is 42."))
			if s.State.Status != quest.Finished {
				t.Fatalf("the quest is %v, want it finished", s.State.Status)
			}
			if err := s.State.Accepts("person", late); err == nil {
				t.Errorf("a finished quest takes a %s, want it refused", late.Type())
			}
			if after := s.Take("person", late); len(after) > 0 {
				t.Errorf("the rules derive %d events from a %s after the end, want none", len(after), late.Type())
			}
			if s.State.Status != quest.Finished || s.State.Reason != "" || s.State.Answer == nil || s.State.Answer.Text != "It is 42." || s.State.Inbox != 1 {
				t.Errorf("after a %s behind its end the quest is %v (%s) with %v, want it finished with its answer", late.Type(), s.State.Status, s.State.Reason, s.State.Answer)
			}
			s.Sound()
			s.Take("person", &event.UserMessage{Inbox: 2, Text: event.Text{Text: "Sure?"}})
			s.Take("person", &event.QuestResumed{})
			if len(s.Open("model.call", "")) != 1 {
				t.Errorf("after a %s behind its end a message asks %d models, want one", late.Type(), len(s.Open("model.call", "")))
			}
			s.Sound()
		})
	}
}

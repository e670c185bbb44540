package quest_test

import (
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/solo"
)

// renewer is solo whose executor begins anew when it has answered, and then hears a task.
type renewer struct {
	solo.Society
	deaf bool
}

var renewedTree = event.TreeRef(event.RefOf([]byte("another tree")))

func (r renewer) Hears(*agent.Agent) bool { return !r.deaf }

func (renewer) Answered(_ *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	if !a.Renewable() {
		return nil
	}
	return []event.Draft{quest.After(e, a.Name, "", &event.HomeCall{Tree: &renewedTree}),
		quest.After(e, "core", "", &event.MessageSent{To: a.Name, Text: event.Text{Text: "The next task."}})}
}

func TestAnExecutorBeginsAnewInAnotherHome(t *testing.T) {
	s := questtest.Begin(t, renewer{}, hosting(t, renewer{}, 1, "", event.Limits{}))
	s.Start()
	s.Take("agent-0", &event.SessionOpened{How: event.SessionNew, ID: "s1", Process: "p1"})
	ready(s)
	begin(s, "p1")
	a := s.State.Agent("agent-0")
	s.Take("agent-0", &event.PromptResult{Call: prompt(s), Stop: event.StopEnd, Text: event.Text{Text: "Done."}})
	open := s.Open("home.call", "agent-0")
	if len(open) != 1 || len(s.Open("prompt.call", "agent-0")) != 0 {
		t.Fatalf("after its answer %v homes are made anew, and prompts are open: %v", open, s.State.Calls)
	}
	if err := s.State.Check("agent-0", &event.HomeRenewed{Call: open[0] + 1}); err == nil {
		t.Error("a home is taken that nobody asked for")
	}
	before := s.State.Spent.Stored
	s.Take("agent-0", &event.HomeRenewed{Call: open[0], Tree: &renewedTree, Stored: 17})
	if a.Tree == nil || *a.Tree != renewedTree || s.State.Spent.Stored != before+17 {
		t.Errorf("its home is %v, and %d bytes were stored", a.Tree, s.State.Spent.Stored-before)
	}
	// It is told the task as the first word, in a session of its own, and is not made ready again.
	call := s.State.Calls[prompt(s)]
	if call.First != 0 || a.Transcript.End() != 1 || a.Session.ID != "" || a.Session.Info == nil || len(s.Open("executor.call", "")) != 0 {
		t.Errorf("its next prompt begins at message %d of %d, in session %q", call.First, a.Transcript.End(), a.Session.ID)
	}
	if err := s.State.Check("agent-0", &event.SessionOpened{How: event.SessionNew, ID: "s2", Process: "p2"}); err != nil {
		t.Errorf("a new session: %v", err)
	}
}

func TestNobodyPromptsAnExecutorThatHasHeardNothing(t *testing.T) {
	s := questtest.Begin(t, renewer{deaf: true}, hosting(t, renewer{deaf: true}, 1, "", event.Limits{}))
	s.Start()
	s.Take("person", &event.UserMessage{Text: event.Text{Text: "Hello, all of you."}})
	if len(s.State.Calls) != 0 {
		t.Errorf("somebody who heard nothing is asked: %v", s.State.Calls)
	}
	s.Take("person", &event.UserMessage{Text: event.Text{Text: "Hello, you."}, To: "agent-0"})
	if len(s.Open("executor.call", "")) != 1 {
		t.Error("somebody who was spoken to is not made ready")
	}
}

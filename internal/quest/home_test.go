package quest_test

import (
	"errors"
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

// limiter is solo whose executor may run one command, and whose prompt is stopped when a second
// one is reported.
type limiter struct{ solo.Society }

func (limiter) MayRun(_ *quest.State, a *agent.Agent, _ bool) error {
	if len(a.Commands) > 0 {
		return errors.New("one command is enough")
	}
	return nil
}

func (limiter) Tend(s *quest.State, e event.Event) []event.Draft {
	if e.Type == "tool.reported" {
		return s.Stop(s.Agents[0], "It ran a command by itself.", e)
	}
	return nil
}

func (limiter) Failed(_ *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	return []event.Draft{quest.After(e, "core", "", &event.QuestFailed{Reason: a.Failed.Kind + ": " + a.Failed.Text})}
}

func limited(t *testing.T) *questtest.Story {
	s := questtest.Begin(t, limiter{}, hosting(t, limiter{}, 1, "", event.Limits{}))
	s.Start()
	s.Take("agent-0", &event.SessionOpened{How: event.SessionNew, ID: "s1", Process: "p1"})
	ready(s)
	begin(s, "p1")
	return s
}

func TestASocietyLimitsTheCommandsOfItsExecutors(t *testing.T) {
	s := limited(t)
	run := &event.CliRun{Command: "executor-1-t1", Prompt: prompt(s), Args: event.Text{Text: `["ls"]`}}
	s.Take("agent-0", run)
	more := *run
	more.Command = "executor-1-t2"
	if err := s.State.Check("agent-0", &more); err == nil || err.Error() != "one command is enough" {
		t.Errorf("a command too many: %v", err)
	}
	options := []event.PermissionOption{{ID: "yes", Kind: event.AllowOnce, Name: "yes"}, {ID: "no", Kind: event.RejectOnce, Name: "no"}}
	for kind, given := range map[string]bool{"execute": false, "edit": true} {
		var got *event.PermissionDecided
		for _, e := range s.Take("agent-0", &event.PermissionAsked{ID: kind, Kind: kind, At: s.State.Agent("agent-0").Session.At + 1, Prompt: prompt(s), Options: options}) {
			if b, ok := e.Body.(*event.PermissionDecided); ok {
				got = b
			}
		}
		if got == nil || got.Given != given || !given && (got.Option != "no" || got.Reason != "one command is enough") {
			t.Errorf("the permission to %s: %+v", kind, got)
		}
	}
}

func TestAPromptThatIsStoppedIsNotTakenUpAgain(t *testing.T) {
	for _, stop := range []string{event.StopInterrupted, event.StopEnd, event.StopCancelled} {
		s := limited(t)
		turns := s.State.Spent.Turns
		done := s.Take("agent-0", &event.ToolReported{ID: "1", Kind: "execute", Status: "in_progress", At: 1, Prompt: prompt(s)})
		if kinds(done) != "prompt.stopped" {
			t.Fatalf("a command is reported: %s", kinds(done))
		}
		call := prompt(s)
		s.Take("agent-0", &event.PromptResult{Call: call, Stop: stop, Text: event.Text{Text: "I was at it."}})
		if s.State.Status != quest.Failed || s.State.Reason != "stopped: It ran a command by itself." || s.State.Spent.Turns != turns {
			t.Errorf("ended by %s: the quest is %s (%s) after %d turns, want as many as %d", stop, s.State.Status, s.State.Reason, s.State.Spent.Turns, turns)
		}
		if a := s.State.Agent("agent-0"); a.Session.Stopped != "" {
			t.Error("what comes next is taken for stopped, too")
		}
	}
}

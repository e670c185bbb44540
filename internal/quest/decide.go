package quest

import (
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
)

// maxEmpty is how many answers without content in a row an agent may give.
const maxEmpty = 3

// Decide returns the events that follow from e, which has been applied to s. It
// reads s and nothing else.
func Decide(s *State, e event.Event) []event.Draft {
	switch b := e.Body.(type) {
	case *event.QuestStarted, *event.QuestResumed:
		return append(s.setTimer(e), s.advanceAll(e)...)
	case *event.UserMessage:
		return s.advanceAll(e)
	case *event.MessageSent:
		return s.advance(s.Agent(b.To), e)
	case *event.ModelResult:
		return s.advance(s.agentOf(e), e)
	case *event.ToolCall:
		return s.answerTool(e)
	case *event.ToolResult, *event.ToolAnswered:
		return s.advance(s.agentOf(e), e)
	case *event.TimerFired:
		if s.Status != Running {
			return nil
		}
		if stop := s.exceeded(e); stop != nil {
			return stop
		}
		return s.setTimer(e) // the clock was set back: there is time left
	}
	return nil
}

// agentOf returns the agent that an event is about: results carry the actor of
// their call.
func (s *State) agentOf(e event.Event) *agent.Agent { return s.Agent(e.Actor) }

func (s *State) advanceAll(e event.Event) (out []event.Draft) {
	for _, a := range s.Agents {
		out = append(out, s.advance(a, e)...)
	}
	return out
}

// advance says the next step of an agent, if it is its turn. Asked twice in the
// same state it would say the same again, so each event that can change what an
// agent waits for asks once.
func (s *State) advance(a *agent.Agent, e event.Event) []event.Draft {
	if s.Status != Running || a == nil {
		return nil
	}
	switch a.Phase() {
	case agent.Acting:
		return s.callTools(a, e)
	case agent.Ready:
		return s.ask(a, e)
	case agent.Answered:
		return s.society.Answered(s, a, e)
	}
	return nil
}

// ask has the model called, unless a limit is reached or it failed for good.
func (s *State) ask(a *agent.Agent, e event.Event) []event.Draft {
	if _, ok := e.Body.(*event.ModelResult); ok {
		// Only a result that failed leaves the agent ready: a context that was too
		// long is cut and tried again, an empty answer is asked for again.
		overflow := a.Failed != nil && a.Failed.Kind == string(model.ContextTooLong) && a.Overflows == 1
		empty := a.Failed == nil && a.Empty%maxEmpty != 0
		told := a.Failed == nil && a.Empty == 0
		if !overflow && !empty && !told {
			return s.society.Failed(s, a, e)
		}
	}
	if stop := s.exceeded(e); stop != nil {
		return stop
	}
	return []event.Draft{After(e, a.Name, "", a.NextCall())}
}

// callTools calls for those tools of the last answer that have not been called.
func (s *State) callTools(a *agent.Agent, e event.Event) (out []event.Draft) {
	for _, u := range a.Open {
		if u.Call != 0 || u.Done {
			continue
		}
		name := u.Name
		if !slices.Contains(a.ToolNames, name) {
			name = "" // a stranger's word does not stand in an envelope
		}
		out = append(out, After(e, a.Name, name, &event.ToolCall{Answer: u.Answer, ID: u.ID, Part: u.Part}))
	}
	return out
}

// answerTool answers a call that the world need not be asked about.
func (s *State) answerTool(e event.Event) []event.Draft {
	a := s.agentOf(e)
	if e.Tool != "" {
		return nil // the runtime runs it
	}
	u, err := a.Use(e.Seq)
	if err != nil {
		return nil
	}
	text := fmt.Sprintf("There is no tool %q. You have: %s.", short(u.Name), list(a.ToolNames))
	return []event.Draft{After(e, a.Name, "", &event.ToolAnswered{Call: e.Seq, Error: true, Output: event.Text{Text: text}})}
}

// exceeded says which limit is reached, if one is.
func (s *State) exceeded(e event.Event) []event.Draft {
	tokens := s.Spent.Usage.Input + s.Spent.Usage.Output
	for _, l := range []struct {
		name string
		max  *int64
		used int64
	}{
		{"cost", s.Limits.Cost, s.Spent.Cost},
		{"turns", s.Limits.Turns, s.Spent.Turns},
		{"tokens", s.Limits.Tokens, tokens},
		{"duration", s.Limits.Duration, s.Elapsed(e.Time)},
	} {
		if l.max != nil && l.used >= *l.max {
			used := min(l.used, 1<<53) // what an event can hold
			return []event.Draft{After(e, "core", "", &event.BudgetExceeded{Limit: l.name, Max: *l.max, Used: used})}
		}
	}
	return nil
}

// setTimer asks to be woken when the quest's time is up.
func (s *State) setTimer(e event.Event) []event.Draft {
	if s.Limits.Duration == nil {
		return nil
	}
	at := e.Time + event.Time(max(*s.Limits.Duration-s.Elapsed(e.Time), 0))
	return []event.Draft{After(e, "core", "", &event.TimerSet{At: at, Purpose: "duration"})}
}

// After drafts an event that follows from e.
func After(e event.Event, actor, tool string, b event.Body) event.Draft {
	return event.Draft{Parent: e.Seq, Time: e.Time, Actor: actor, Tool: tool, Body: b}
}

func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

func list(names []string) string {
	if len(names) == 0 {
		return "no tools"
	}
	out := names[0]
	for _, n := range names[1:] {
		out += ", " + n
	}
	return out
}

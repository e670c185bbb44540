package quest

import (
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// The calls of one turn take effect in the order in which the model wrote them: each is
// judged and made when those before it have their results, whatever these are. Only calls
// that are declared to have no effect on each other run together. An outside agent's calls
// are no turn: it orders them itself, by waiting for results.

// MaxTogether is how many calls of a turn run at the same time, at most.
const MaxTogether = 8

// turn is what is under way of a turn, up to some call.
type turn struct {
	open  int
	bound bool // one of them may have an effect on others
}

// comes reports whether a call that has not been made may be, beside those before it.
func (t *turn) comes(u *agent.Use) bool {
	return u.Outside || t.open == 0 || u.Free && !t.bound && t.open < MaxTogether
}

// pass counts a call that has no result yet.
func (t *turn) pass(u *agent.Use) {
	t.open++
	t.bound = t.bound || !u.Free
}

// order notes which calls of the last answer are free: those of tools that only read, and
// those that the model itself says may run beside others, where the tool lets it.
func (s *State) order(a *agent.Agent) {
	for i := range a.Open {
		u := &a.Open[i]
		traits := s.traits(a, known(a, u.Name))
		u.Free = traits.Reads
		if traits.Parallel {
			f := policy.Facts{Args: &policy.Args{Text: u.Args, Outline: u.Outline}}
			v := f.Field([]string{"args", "parallel"})
			u.Free = u.Free || v.Kind == behavior.Bool && v.Text == "true"
		}
	}
}

// skipRest says of each turn that has begun that its other calls are not made: the quest
// rests, and what they were to follow on may be long past when it goes on. A turn that has
// not begun is left for later, and so is a call that a person is asked about.
func (s *State) skipRest(e event.Event) (out []event.Draft) {
	if s.Status != Paused && s.Status != Stopped && s.Status != Exceeded {
		return nil
	}
	for _, a := range s.Agents {
		if !slices.ContainsFunc(a.Open, func(u agent.Use) bool { return u.Call != 0 }) {
			continue
		}
		for i := range a.Open {
			u := &a.Open[i]
			if u.Call == 0 && !u.Outside && s.about(useOf(a, u)) == nil {
				b := &event.ToolSkipped{Answer: u.Answer, ID: u.ID, Part: u.Part, Reason: string(s.Status)}
				out = append(out, After(e, a.Name, known(a, u.Name), b))
			}
		}
	}
	return out
}

// notRun is what an agent is told of a call that is not made.
func notRun(b *event.ToolSkipped) string {
	if b.Reason == event.SkippedPrompt {
		return "not run: the prompt was over before it was this call's turn; make it again if it is still wanted"
	}
	why := map[string]string{string(Paused): "the quest was paused", string(Stopped): "the quest was stopped", string(Exceeded): "a limit of the quest was reached"}[b.Reason]
	return "not run: " + why + " before it was this call's turn; make it again if it is still wanted"
}

// afterSkip answers a call that is not made, though the quest rests.
func (s *State) afterSkip(e event.Event) []event.Draft {
	a := s.Agent(e.Actor)
	u, err := a.Use(e.Seq)
	if err != nil {
		return nil
	}
	return []event.Draft{After(e, a.Name, e.Tool, &event.ToolAnswered{Call: e.Seq, Error: true, Output: event.Text{Text: u.Refused}})}
}

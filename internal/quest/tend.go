package quest

import (
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Moving is the agent that the last input was about, nil if it was about none.
func (s *State) Moving() *agent.Agent { return s.Agent(s.moving) }

// tend asks the society what it has to do by itself. An answer must pass the gate,
// like one that an agent gives.
func (s *State) tend(e event.Event) []event.Draft {
	if s.rules.host == nil {
		return nil
	}
	return s.pass(e, s.rules.host.Tend(s, e), s.unfinished)
}

// unfinished is what follows when policies do not let a quest end. Whose answer it is
// hears why and goes on. If it cannot, nobody can.
func (s *State) unfinished(d event.Draft, b *event.PolicyBlocked) []event.Draft {
	if a := s.Agent(d.Actor); a != nil && !a.Held && (a.Mind() == agent.ByModel || a.Session != nil) {
		d.Body = b
	} else {
		d.Actor, d.Body = "core", &event.QuestFailed{Reason: "The quest has an answer that it may not give. " + refusal(b)}
	}
	return []event.Draft{d}
}

// advise tells agents what happened, and wakes those that were parked. That a
// request has expired is no reason to.
func (s *State) advise(b *event.AdvisorySent) {
	tell := func(a *agent.Agent) {
		// Only parked agents are woken. Waking others would reset their count of empty
		// answers, and where much happens a silent model would be asked for ever.
		if a.Parked != "" && b.Kind != event.AdviseExpired {
			a.Wake()
		}
		a.Told(b.Text)
		if a.Parked == "" && a.Phase() == agent.Ready {
			s.woken = append(s.woken, a)
		}
	}
	for _, name := range b.To {
		if a := s.Agent(name); a != nil {
			tell(a)
		}
	}
	if len(b.To) > 0 {
		return
	}
	for _, a := range s.Agents {
		if a.Name != b.Except {
			tell(a)
		}
	}
}

// checkPrepared tells whether what the world found in the arguments of an own tool may
// come now.
func (s *State) checkPrepared(actor string, b *event.ToolPrepared) error {
	if err := s.calledBy(actor, b.Call); err != nil {
		return err
	}
	if own := s.Own(s.Calls[b.Call].Tool); own == nil || own.Step != PreparedTool {
		return fmt.Errorf("tool.call %d of quest %s is of no tool that is prepared", b.Call, s.Name)
	}
	if u, err := s.Agent(actor).Use(b.Call); err != nil || u.Prepared != nil {
		return fmt.Errorf("tool.call %d of quest %s has been prepared already", b.Call, s.Name)
	}
	return nil
}

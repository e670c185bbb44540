package quest

import (
	"fmt"

	"lyceum/internal/event"
)

// A society may have an executor begin anew: with another tree in its home, in another session,
// as one that has heard nothing (agent.Renewable, home.call). It is prompted again when the home
// is there and somebody has said something to it.

// applyHome takes in that a home is made anew.
func (s *State) applyHome(e event.Event) {
	a := s.Agent(e.Actor)
	switch b := e.Body.(type) {
	case *event.HomeCall:
		s.Calls[e.Seq] = Call{Kind: e.Type, Agent: e.Actor}
		a.Renew(e.Seq)
	case *event.HomeRenewed:
		delete(s.Calls, b.Call)
		s.stored(e.Actor, b.Stored)
		a.Renewed(b)
	}
}

// checkRenewed tells whether a home can have been made anew now.
func (s *State) checkRenewed(actor string, b *event.HomeRenewed) error {
	a, err := s.executor(actor)
	switch {
	case err != nil:
		return err
	case a.Session.Home == 0 || a.Session.Home != b.Call:
		return fmt.Errorf("quest %s has no open home.call %d of %s", s.Name, b.Call, actor)
	case b.Stored < 0:
		return fmt.Errorf("the home of %s takes less than nothing", actor)
	}
	return nil
}

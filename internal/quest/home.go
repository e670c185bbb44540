package quest

import (
	"fmt"
	"strings"

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

// Tasker is a memory that knows tasks which people can say something about.
type Tasker interface {
	// MayOrder says why an order about a task comes to nothing, in words for the person; nil,
	// if it does not.
	MayOrder(b *event.TaskOrder) error
}

// maxOrder is how long a person's word about a task may be.
const maxOrder = 8 << 10

// checkOrder tells whether a person's word about a task may come now.
func (s *State) checkOrder(b *event.TaskOrder) error {
	m, ok := s.memory.(Tasker)
	switch {
	case !ok:
		return fmt.Errorf("quest %s has no tasks that could be cancelled or told something: its society is %s", s.Name, s.Society())
	case b.Action != event.OrderCancel && b.Action != event.OrderMessage:
		return fmt.Errorf("a task can be sent a cancel or a message, not %.40q", b.Action)
	case b.Action == event.OrderMessage && strings.TrimSpace(b.Text) == "":
		return fmt.Errorf("the message to task %.80q says nothing", b.Task)
	case len(b.Text) > maxOrder:
		return fmt.Errorf("a word about a task has at most %d bytes; this one has %d", maxOrder, len(b.Text))
	}
	return m.MayOrder(b)
}

package quest

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// Mode is a way in which a society works. ID is what it is called by programs, Name and About
// are for people.
type Mode struct{ ID, Name, About string }

// Moded is a society that works in one of several modes. A person changes it with a mode.set,
// which the society's memory takes in; what follows is for its rules to say.
type Moded interface {
	// Modes are those of a quest, and the one that it is in. Without a state they are those of
	// a quest whose spec says nothing about it.
	Modes(s *State) (modes []Mode, current string)
}

// Located is a Moded society whose mode is where a quest stands. A person moves it by an order of
// the society's own, which may be refused, and a quest can begin in any mode.
type Located interface {
	Moded
	// ModeOrder is the order by which a person sets a mode.
	ModeOrder(id string) event.Body
	// ModeOf is the mode that such an order sets, empty for other orders.
	ModeOf(order event.Body) string
	// ModeKeys are the keys of a quest that begins in a mode.
	ModeKeys(id string) Keys
}

// ModeOrder is the order by which a person sets a mode of the quest: a mode.set, unless the society
// has one of its own.
func (s *State) ModeOrder(id string) event.Body {
	if p, ok := s.rules.Society.(Located); ok {
		return p.ModeOrder(id)
	}
	return &event.ModeSet{Mode: id}
}

// ModeOf is the mode that an order to the quest sets, empty for other orders.
func (s *State) ModeOf(order event.Body) string {
	if p, ok := s.rules.Society.(Located); ok {
		return p.ModeOf(order)
	}
	if b, ok := order.(*event.ModeSet); ok {
		return b.Mode
	}
	return ""
}

// ModeKeys are the keys of a quest of a society that begins in a mode; none, where a mode is set
// when the quest is there.
func (l Societies) ModeKeys(society, id string) Keys {
	if p, ok := l.Named(society).(Located); ok {
		return p.ModeKeys(id)
	}
	return nil
}

// Modes are those of a quest of a society, and the one that it is in; none if the society works
// in one way alone. The state is nil for a quest that is not made yet.
func (l Societies) Modes(society string, s *State) (modes []Mode, current string) {
	if m, ok := l.Named(society).(Moded); ok {
		return m.Modes(s)
	}
	return nil, ""
}

// Modes are those of the quest, and the one that it is in.
func (s *State) Modes() (modes []Mode, current string) {
	if m, ok := s.rules.Society.(Moded); ok {
		return m.Modes(s)
	}
	return nil, ""
}

// checkMode tells whether the quest has a mode.
func (s *State) checkMode(b *event.ModeSet) error {
	modes, _ := s.Modes()
	if len(modes) == 0 {
		return fmt.Errorf("quest %s has no modes: its society, %s, works in one way", s.Name, s.Society())
	}
	if p, ok := s.rules.Society.(Located); ok {
		return fmt.Errorf("the society %s has an order of its own for its modes, %s", s.Society(), p.ModeOrder(b.Mode).Type())
	}
	return CheckMode(modes, b.Mode)
}

// CheckMode tells whether a mode is one of some.
func CheckMode(modes []Mode, id string) error {
	if slices.ContainsFunc(modes, func(m Mode) bool { return m.ID == id }) {
		return nil
	}
	var ids []string
	for _, m := range modes {
		ids = append(ids, m.ID)
	}
	return fmt.Errorf("there is no mode %s: want %s", plain.Quoted(id, 40), spoken(ids, "or"))
}

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

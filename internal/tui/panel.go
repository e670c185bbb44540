package tui

import (
	"lyceum/internal/event"
	"lyceum/internal/quest"

	tea "charm.land/bubbletea/v2"
)

// panel is what a society shows beside the agents: a list of things that can be chosen and
// read. It looks at the state that it was made for.
type panel interface {
	// length is how many things there are, and list draws them.
	length() int
	list(m *Model, l layout) []string
	// move chooses another, so many further up or down.
	move(by int)
	// open reads what is chosen, or says why there is nothing to read.
	open(src *Source) (read tea.Cmd, why string)
	// counts are for the line above all.
	counts() []string
	// asked are the things that an agent has to do something about; about is what else
	// there is to say of it.
	asked(agent string) []string
	about(agent string) []fact
}

// reader is a panel that is folded from the events: it is given all of them, from the first
// on.
type reader interface{ take(e event.Event) }

// panelOf finds the panel of a quest's society, nil if it has none.
func panelOf(s *quest.State) panel {
	if begin := panels[s.Society()]; begin != nil {
		return begin(s)
	}
	return nil
}

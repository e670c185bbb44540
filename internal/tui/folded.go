package tui

import (
	"lyceum/internal/event"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// folded is what panels share that list something folded from the events, which the view gives them from
// the first on: each is taken once, and one of the things is chosen.
type folded struct {
	fold func(event.Event)
	size func() int
	// seq is the last event that was taken.
	seq    uint64
	chosen int
}

// take implements reader.
func (x *folded) take(e event.Event) {
	if e.Seq > x.seq {
		x.fold(e)
		x.seq = e.Seq
	}
}

func (x *folded) length() int { return x.size() }

func (x *folded) move(by int) { x.chosen = max(min(x.chosen+by, x.length()-1), 0) }

// told opens a text as a page.
func told(title, text string) tea.Cmd {
	return func() tea.Msg {
		return loaded{title: title, text: func(width int, _ Look) string { return ansi.Wrap(text, width, "") }}
	}
}

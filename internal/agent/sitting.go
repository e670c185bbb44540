package agent

import (
	"slices"

	"lyceum/internal/event"
)

// Agents that work in sittings are told blocks, and remember which they know. A sitting goes on
// in the window of the last one, or begins with an empty one.

// Known is a block that an agent was told in its window.
type Known struct {
	Name string
	Hash event.Hash
}

// Knows is the hash of the block of that name that the agent was told last, zero if there is
// none in its window.
func (a *Agent) Knows(name string) event.Hash {
	for _, k := range a.Blocks {
		if k.Name == name {
			return k.Hash
		}
	}
	return event.Hash{}
}

// Learn notes that the agent is told a block.
func (a *Agent) Learn(name string, hash event.Hash) {
	for i := range a.Blocks {
		if a.Blocks[i].Name == name {
			a.Blocks[i].Hash = hash
			return
		}
	}
	a.Blocks = append(a.Blocks, Known{name, hash})
}

// Afresh has the agent's window begin with what follows. What it has used still counts, and its
// long results can still be read.
func (a *Agent) Afresh() {
	t := &a.Transcript
	a.Transcript = Transcript{Head: t.End(), First: t.End()}
	a.Blocks, a.Idle, a.Overflows, a.Uncompacted = nil, 0, 0, false
	a.Stood, a.Seen = a.Turns, event.Hash{}
	if x := a.Session; x != nil {
		x.Told = 0 // whatever it has heard, it hears all that it needs
	}
}

// Bare reports whether there is nothing in the window.
func (t *Transcript) Bare() bool { return len(t.Messages) == 0 }

// Filled is how many tokens of the agent's window are taken, as far as its provider has counted
// them, and else by estimate.
func (a *Agent) Filled() int64 { return a.Transcript.tokens(a.System.Size + a.Tools.Size) }

// HalfFull reports whether half of the room for the agent's window is taken.
func (a *Agent) HalfFull() bool { return a.Filled() > a.Limit/2 }

// Unsay takes back what was said from message from on: nothing has come of it. What an executor
// heard stays said. The blocks that it knew have to be told again.
func (a *Agent) Unsay(from int64) {
	a.Blocks = nil
	t := &a.Transcript
	if from = max(from, t.First); a.Session != nil && a.Session.Told > from || from >= t.End() {
		return
	}
	for _, m := range t.Messages[from-t.First:] {
		t.Size -= m.Tokens
	}
	t.Messages = slices.Clone(t.Messages[:from-t.First])
	t.Counted, t.shown = min(t.Counted, t.End()), setting{}
}

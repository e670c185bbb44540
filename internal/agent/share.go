package agent

import "lyceum/internal/event"

// What of an agent's window belongs to what it is given besides its work, in hundredths.
const (
	ToolShare     = 15 // tools that were found
	SkillShare    = 10
	RuleShare     = 10
	RelationShare = 5
)

// bytesPerToken is how much text a token is, about.
const bytesPerToken = 4

// Room is how many tokens of a window a share is.
func Room(window, share int64) int64 { return max(window, 0) * share / 100 }

// Tokens is about how many tokens a text of so many bytes has.
func Tokens(bytes int64) int64 { return (bytes + bytesPerToken - 1) / bytesPerToken }

// Fit chooses what has room, of items that come best first. Each is kept whole or left out whole,
// the worst first: one is left out if those before it that are kept leave too little for it.
func Fit[T any](items []T, room int64, cost func(T) int64) (kept, left []T) {
	for _, x := range items {
		if c := cost(x); c <= room {
			room -= c
			kept = append(kept, x)
		} else {
			left = append(left, x)
		}
	}
	return kept, left
}

// Guide tells the agent how to work, right before its model is asked. It returns the number of
// the message. It panics if the agent is busy.
func (a *Agent) Guide(t event.Text) int64 {
	if a.Phase() != Ready {
		panic("the agent is told how to work, and is " + a.Phase().String())
	}
	a.Transcript.addAside(t)
	return a.Transcript.End() - 1
}

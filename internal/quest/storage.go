package quest

import (
	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// Storage. How many bytes of the disk a call took is told with its result, and so is the
// limit that left no room for more, be it the quest's own or the default. What follows from
// that is decided here: an agent whose files could not be recorded hears so, may delete
// something, and is parked if it goes on; at the quest's limit the quest comes to rest.

// What may be stored if a quest does not say.
const (
	DefaultStorage      = 20 << 30
	DefaultAgentStorage = 2 << 30
	// MinStorage is the least that a quest can say.
	MinStorage = 1 << 20
)

// MaxUnkept is how often in a row an agent's files may stay unrecorded for want of room
// before the agent is parked.
const MaxUnkept = 3

// Storage are the limits that hold now, for the quest and for each agent.
func (s *State) Storage() (all, each int64) {
	all, each = DefaultStorage, DefaultAgentStorage
	if s.Limits.Storage != nil {
		all = *s.Limits.Storage
	}
	if s.Limits.Agent != nil && s.Limits.Agent.Storage != nil {
		each = *s.Limits.Agent.Storage
	}
	return all, each
}

// stored takes in that the disk has so many bytes less.
func (s *State) stored(name string, bytes int64) {
	s.Spent.Stored = max(sum(s.Spent.Stored, bytes), 0)
	if a := s.Agent(name); a != nil {
		a.Stored = max(sum(a.Stored, bytes), 0)
	}
}

// kept takes in what a call stored, and whether a limit left no room for the rest.
func (s *State) kept(name string, stored int64, full *event.Full) {
	s.stored(name, stored)
	a := s.Agent(name)
	switch {
	case full != nil && full.Of == event.FullQuest:
		s.Full = full
	case full != nil && a != nil:
		a.Full = full
		a.Unkept++
	case a != nil && stored > 0:
		a.Unkept = 0
	}
}

// keptFor is kept for a call that is prepared: what it stored ends no row of refusals.
func (s *State) keptFor(name string, b *event.ToolPrepared) {
	if s.stored(name, b.Stored); b.Full != nil {
		s.kept(name, 0, b.Full)
	}
}

// keeps takes in the result of a call of the society's own.
func (s *State) keeps(b event.Keeper) {
	delete(s.Calls, b.Answers())
	stored, full := b.Kept()
	s.kept(nobody, stored, full)
}

// nobody is whose storage it is that no agent's counts: the quest has it alone.
const nobody = ""

// overStored says which limit on storage keeps an agent from its next turn. One that has
// been raised since does not.
func (s *State) overStored(l *event.Limits, a *agent.Agent) *policy.Over {
	if f := s.Full; f != nil && (l.Storage == nil || *l.Storage <= f.Max) {
		return &policy.Over{Of: "quest", Limit: "storage", Max: f.Max, Used: f.Used}
	}
	if a == nil || a.Full == nil || a.Unkept < MaxUnkept {
		return nil
	}
	if f := a.Full; l.Agent == nil || l.Agent.Storage == nil || *l.Agent.Storage <= f.Max {
		return &policy.Over{Of: "agent", Limit: "storage", Max: f.Max, Used: f.Used}
	}
	return nil
}

package ledger

import (
	"context"

	"lyceum/internal/event"
)

// Wanted is a quest that a server is to run in the background: the one that runs it now, or the next.
type Wanted struct {
	Quest string
	// Rest is how the quest stood when it was last let go because it waited for a person, nil if it
	// never was.
	Rest *Rest
}

// Rest is how a quest stands that waits for a person.
type Rest struct {
	// Seq and Hash are of its last event: if there are others, nothing here holds.
	Seq  uint64
	Hash event.Hash
	// Inbox is the last command that it has taken, Due when its first question expires, 0 for
	// never.
	Inbox int64
	Due   event.Time
}

// At reports whether it holds for a ledger that ends there.
func (r *Rest) At(head Head) bool { return r.Seq == head.Seq && r.Hash == head.Hash }

// Wants keeps which quests are to run. What is said there is of a quest, not of a name: it goes with
// the quest, and another quest of the name has none of it. No copy of the home has it, because a
// copy runs nothing by itself. Whoever changes what is said has claimed the quest.
type Wants interface {
	// Want notes that a quest is to run, in the place of what was noted of it, or returns
	// ErrNoQuest. When it returns, other processes see it, and it outlasts this one; the machine
	// may lose it until the next batch is durable.
	Want(ctx context.Context, w Wanted) error
	// Unwant takes that back. Of a quest that is not wanted it does nothing.
	Unwant(ctx context.Context, quest string) error
	// Wanted returns what is noted of a quest, nil if it is not to run.
	Wanted(ctx context.Context, quest string) (*Wanted, error)
	// AllWanted returns all quests that are to run, sorted by name.
	AllWanted(ctx context.Context) ([]Wanted, error)
}

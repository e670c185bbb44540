package ledger

import (
	"context"
	"time"
)

// Pool is a store that many nodes share: each takes quests that are to run, as long as it has room,
// and those of a node that is gone are free for the others. A store of one machine is none.
type Pool interface {
	// Join says what this node is. Others see it until the store is closed, or they have not heard
	// of it for too long; then it comes back, as another node, with the next claim.
	Join(ctx context.Context, n Node) error
	// Nodes returns those that are there, in the order in which they came.
	Nodes(ctx context.Context) ([]Node, error)
	// Pull claims quests that are to run, that nobody owns and that do not just wait for a person, at
	// most so many. What this node has refused lately it does not get.
	Pull(ctx context.Context, most int) ([]Pulled, error)
	// Refuse notes why this node cannot run a quest.
	Refuse(ctx context.Context, quest, why string) error
	// Waiting is how many quests are to run that nobody owns and that do not just wait for a person.
	Waiting(ctx context.Context) (int, error)
	// Stranded returns the quests that are to run and that every node has refused.
	Stranded(ctx context.Context) ([]Stranded, error)
}

// Node is one of those who share a store.
type Node struct {
	// ID is new each time a node comes. The store sets it.
	ID int64
	// Address is where people and programs reach it, Version its program's.
	Address, Version string
	// Rules and Drivers are what it can run: rules of societies, drivers of computers.
	Rules, Drivers []string
	// Room is how many quests it runs at once.
	Room int

	// What follows the store says, for people to see.

	// Quests is how many it owns.
	Quests int
	// Silent is for how long it has not beaten, by the store's clock; Ahead by how much that clock is ahead
	// of the node's.
	Silent, Ahead time.Duration
}

// Pulled is a quest that this node owns from now on.
type Pulled struct {
	Quest string
	Claim Claim
}

// Stranded is a quest that runs nowhere.
type Stranded struct {
	Quest string
	// Why is what nodes have said, one line each.
	Why []string
}

// Fenced is a claim that can be lost without a word, because somebody else decides who is alive.
type Fenced interface {
	Claim
	// Epoch is above those of all takings before, Before that of the last one, 0 if there was none.
	Epoch() int64
	Before() int64
	// Sure waits until the owner has been heard of lately, so that nobody can have given it up, or
	// returns ErrLost or ctx's error. Whoever is about to do something outside asks.
	Sure(ctx context.Context) error
}

// Silence is after which time without a word of the store an owner begins nothing, in beats of its own:
// another gives it up after one more.
const Silence = 4

// RefusedFor is for how long a node is not offered again what it refused.
const RefusedFor = time.Minute

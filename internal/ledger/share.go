package ledger

import (
	"context"
	"time"
)

// Lines is a store by which many nodes share what others bear, as the provider of a model: so many calls
// under way at once, of all nodes together. Each node has a share, and only the node itself makes its share
// smaller, once it has let go of what it gives back; the share of a node that is gone returns. So all
// shares together are never more than the limit, whatever was lost on the way.
type Lines interface {
	// Share changes this node's share of a line, and returns what it has from then on. A node that
	// asks no more keeps its share until Share.Until; then it must begin nothing. ErrLost says that the
	// node was given up meanwhile, and has none.
	Share(ctx context.Context, line string, a Asked) (Share, error)
}

// Asked is what a node says of a line.
type Asked struct {
	// Most is how much is borne at most, as this node knows it: the least of what the nodes say holds.
	Most int
	// Held is what the node does not give back, because it is in use or may be before there is an
	// answer. What is more than its share counts for nothing.
	Held int
	// Wants is what it could use.
	Wants int
	// Answered is how many were answered since it asked last, while it used all that it might, and the
	// limit had been lowered Known times. After another time they say nothing.
	Answered int
	Known    int64
	// Crowded says that one was sent away because there were too many, which began when the limit had
	// been lowered Began times. After another time that is no news.
	Crowded bool
	Began   int64
	// Pause is for how long nobody is to begin.
	Pause time.Duration
}

// Share is a node's part of a line.
type Share struct {
	// Held is its share, May how many it may have under way: less than Held if others are to have
	// some of it, who get that once the node asks with less, or if all have more than the limit is now.
	Held, May int
	// Cuts is how often the limit was lowered.
	Cuts int64
	// Pause is for how long nobody is to begin, from now.
	Pause time.Duration
	// Until is when this ends, by this machine's clock, unless the node asks again.
	Until time.Time
}

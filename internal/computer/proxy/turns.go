package proxy

import (
	"sync"
	"time"
)

const (
	freeTurns = 20
	maxTurn   = 20 * time.Second
)

// turns keeps refusals apart. due is when the next one may happen, if freeTurns of
// them have been used up.
type turns struct {
	mu       sync.Mutex
	due      time.Time
	unlogged int
}

// take says how long to wait for a turn, and how many went without one before. If
// it would be longer than longest there is no turn.
func (t *turns) take(at time.Time, gap, longest time.Duration) (wait time.Duration, unlogged int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.due.Before(at) {
		t.due = at
	}
	wait = max(0, t.due.Sub(at)-(freeTurns-1)*gap)
	if wait > longest {
		t.unlogged++
		return longest, 0, false
	}
	t.due = t.due.Add(gap)
	unlogged, t.unlogged = t.unlogged, 0
	return wait, unlogged, true
}

// Package driver is what drivers of the ledger share: who waits for a quest is told (Board), its events
// are read in short pages and checked (Read, Lines, Follow), and appends stand in line for one writer
// (Place, Gather, Fill). How a driver learns of what other processes write, and how it stores anything, is its own matter.
package driver

import (
	"maps"
	"slices"
	"sync"
)

// Board tells those who wait for a quest that there may be something new. One
// that has been told and has not looked yet is not told twice.
type Board struct {
	mu sync.Mutex
	of map[string]map[chan struct{}]struct{}
	// some is sent to when anybody begins to wait.
	some chan struct{}
}

// NewBoard makes one. some is sent to when anybody begins to wait, so that whoever looks for news
// can rest as long as nobody does; several boards may share it.
func NewBoard(some chan struct{}) *Board {
	return &Board{of: map[string]map[chan struct{}]struct{}{}, some: some}
}

// Subscribe returns a channel that is sent to after each Wake of the quest, until stop.
func (b *Board) Subscribe(quest string) (told <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[quest] == nil {
		b.of[quest] = map[chan struct{}]struct{}{}
	}
	b.of[quest][ch] = struct{}{}
	Tell(b.some)
	return ch, func() { b.drop(quest, ch) }
}

func (b *Board) drop(quest string, ch chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of[quest], ch)
	if len(b.of[quest]) == 0 {
		delete(b.of, quest)
	}
}

// Wake tells those who wait for a quest.
func (b *Board) Wake(quest string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.of[quest] {
		Tell(ch)
	}
}

// WakeAll tells everybody, and reports whether anybody waits.
func (b *Board) WakeAll() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, chans := range b.of {
		for ch := range chans {
			Tell(ch)
		}
	}
	return len(b.of) > 0
}

// Any reports whether anybody waits.
func (b *Board) Any() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.of) > 0
}

// Tell sends to a channel with room for one, unless that is taken: whoever receives has not looked yet.
func Tell(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// Waited returns the quests that anybody waits for.
func (b *Board) Waited() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(b.of))
}

package runtimetest

import (
	"context"
	"errors"
	"iter"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// memoryLog is a ledger in memory whose disk can be full, and whose answer can be lost on
// the way.
type memoryLog struct {
	events []event.Event
	// full refuses batches; unheard takes them and loses the answer.
	full, unheard bool
}

var errUnheard = errors.New("the answer was lost")

func (l *memoryLog) Append(_ context.Context, b ledger.Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	if l.full {
		return ledger.ErrFull
	}
	var head ledger.Head
	if n := len(l.events); n > 0 {
		head.Seq, head.Hash = l.events[n-1].Seq, l.events[n-1].Hash
	}
	if first := b.Events[0]; first.Seq != head.Seq+1 || first.Prev() != head.Hash {
		return ledger.ErrConflict
	}
	l.events = append(l.events, b.Events...)
	if l.unheard {
		return errUnheard
	}
	return nil
}

func (l *memoryLog) Read(_ context.Context, _ string, seq uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range l.events[seq-1:] {
			if !yield(e, nil) {
				return
			}
		}
	}
}

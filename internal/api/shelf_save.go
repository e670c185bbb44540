package api

import (
	"context"
	"maps"
	"slices"

	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// worthSaving is from how many new events on a quest's projections are saved while the
// server runs, and worthClosing when it ends. Reading so many takes a fifth of a second.
const (
	worthSaving  = 20_000
	worthClosing = 5_000
)

// due reports whether enough is new. What is saved is the whole, so the distance grows
// with it: over a quest's life each event is written a few times.
func (s *shelf) due(b *book) bool {
	return !b.saving && b.state.Seq-b.saved >= max(s.worth, b.saved/4)
}

// load takes up what was saved, if it fits the ledger.
func (b *book) load(ctx context.Context, rt *runtime.Runtime) error {
	state, data, err := rt.LoadViews(ctx, b.name)
	if err != nil || state == nil {
		return err
	}
	views, err := view.DecodeViews(data)
	if err != nil || views.Timeline.Len() != state.Seq {
		return nil // of another version: they are made again
	}
	b.state, b.Views, b.saved = state, *views, state.Seq
	return nil
}

// saveLater saves a book that the caller has open once it is free.
func (s *shelf) saveLater(b *book) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	b.saving = true
	s.saves.Go(func() {
		b.turn <- struct{}{}
		write := s.pack(b)
		b.saving = false
		<-b.turn
		write()
	})
}

// pack encodes a book that the caller has open, and returns what writes it. A cache that
// cannot be written is made again by whoever needs it.
func (s *shelf) pack(b *book) (write func()) {
	if b.state == nil { // it could not be read on
		return func() {}
	}
	data, err := b.Views.Encode()
	if err != nil {
		return func() {}
	}
	state, err := b.state.Encode()
	if err != nil {
		return func() {}
	}
	b.saved = b.state.Seq
	name := b.name
	return func() {
		// A cache is worth saving whatever becomes of the request that made it grow.
		if _, err := s.rt.Ledger.Head(context.Background(), name); err == nil { // not removed meanwhile
			_ = s.rt.SaveViews(name, state, data)
		}
	}
}

// close saves what is worth it, and waits for what is being saved. Requests that still
// have a book open are waited for.
func (s *shelf) close() {
	s.mu.Lock()
	s.closed = true
	books := slices.Collect(maps.Values(s.books))
	s.mu.Unlock()
	s.saves.Wait()
	for _, b := range books {
		b.turn <- struct{}{}
		if b.state != nil && b.state.Seq-b.saved >= s.closing {
			s.pack(b)()
		}
		<-b.turn
	}
}

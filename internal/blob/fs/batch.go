package fs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"lyceum/internal/blob"
	"lyceum/internal/event"
)

// batch is many blobs that get their names together. Until then they are drafts, for a name
// must not reach the disk before its content; and one flush of the whole disk takes less than
// two for each blob. It keeps Collect and Close waiting.
type batch struct {
	*Store

	// mu guards what is below.
	mu     sync.Mutex
	drafts []placed
	have   map[event.Hash]bool
	over   bool
}

type placed struct {
	d   *draft
	ref event.Ref
}

// Batch implements blob.Batcher.
func (s *Store) Batch() (blob.Batch, error) {
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return nil, ErrClosed
	}
	return &batch{Store: s, have: map[event.Hash]bool{}}, nil
}

// Put implements blob.Store, but for that the blob can be found and is on disk only after
// Flush. It does not write what is there already: the last flush is for that, too.
func (b *batch) Put(ctx context.Context, data []byte) (event.Ref, error) {
	ref := event.RefOf(data)
	b.mu.Lock()
	known, over := b.have[ref.Hash], b.over
	b.mu.Unlock()
	if over {
		return event.Ref{}, fmt.Errorf("put blob: %w", ErrClosed)
	}
	if !known {
		at, err := b.holds(ref)
		if err != nil {
			return event.Ref{}, fmt.Errorf("put blob: %w", err)
		}
		known = at != ""
	}
	if known {
		return ref, ctx.Err()
	}
	return b.draft(ctx, func(d *draft) (event.Ref, bool, error) { return ref, false, d.whole(data) })
}

// Create implements blob.Store as Put does.
func (b *batch) Create(ctx context.Context, r io.Reader) (event.Ref, error) {
	return b.draft(ctx, func(d *draft) (event.Ref, bool, error) {
		ref, err := d.stream(blob.Interruptible(ctx, r))
		if err != nil {
			return ref, false, err
		}
		at, err := b.holds(ref)
		return ref, at != "", err
	})
}

// draft keeps what fill writes until Flush, unless fill says that the store has it.
func (b *batch) draft(ctx context.Context, fill func(*draft) (ref event.Ref, held bool, err error)) (event.Ref, error) {
	if err := ctx.Err(); err != nil {
		return event.Ref{}, err
	}
	d := &draft{ctx: ctx, s: b.Store}
	err := d.room(0)
	if err == nil {
		d.f, err = os.CreateTemp(filepath.Join(b.dir, scratch), "put-*")
	}
	if err != nil {
		return event.Ref{}, fmt.Errorf("put blob: %w", err)
	}
	ref, held, err := fill(d)
	err = errors.Join(err, d.f.Close())
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil && b.over {
		err = ErrClosed
	}
	if err != nil || held || b.have[ref.Hash] {
		d.giveBack()
		if err = errors.Join(err, removeIfThere(d.f.Name())); err != nil {
			err = fmt.Errorf("put blob: %w", err)
		}
		return ref, err
	}
	b.have[ref.Hash] = true
	b.drafts = append(b.drafts, placed{d, ref})
	return ref, nil
}

// Since implements blob.Steady: what is put may come to nothing.
func (b *batch) Since() any { return nil }

// Flush implements blob.Batch.
func (b *batch) Flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return ErrClosed
	}
	all, err := b.drafts, b.flushAll()
	for err == nil && len(b.drafts) > 0 {
		p := b.drafts[0]
		if err = p.d.place(p.ref); err == nil {
			b.drafts = b.drafts[1:]
		}
	}
	if err == nil {
		err = b.flushAll()
	}
	for _, p := range all {
		if err == nil && p.d.tight {
			err = b.removePlain(p.ref.Hash)
		}
	}
	if err = errors.Join(err, b.end()); err != nil {
		return fmt.Errorf("put blobs: %w", err)
	}
	return nil
}

// flushAll has all that was written reach the disk.
func (b *batch) flushAll() error {
	f, err := os.Open(b.dir)
	if err != nil {
		return err
	}
	return errors.Join(b.sync(f), f.Close())
}

// Abort implements blob.Batch.
func (b *batch) Abort() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		_ = b.end() // what it leaves goes when the store is opened next
	}
}

// end removes drafts that have no name, and lets others at the store.
func (b *batch) end() (err error) {
	for _, p := range b.drafts {
		p.d.giveBack()
		err = errors.Join(err, removeIfThere(p.d.f.Name()))
	}
	b.drafts, b.over = nil, true
	b.Store.mu.RUnlock()
	return err
}

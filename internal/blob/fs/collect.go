package fs

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/event"
)

// Collect implements blob.Collector by being alone: it gets blob.ErrBusy when anybody else,
// this process's other Stores included, has the store open, and knows no grace.
//
// keep may read from the store but not write to it. Writers of this Store wait
// until Collect is done. Their earlier blobs are in no ledger yet if their events
// are not: whoever calls Collect must have no such event in hand.
func (s *Store) Collect(ctx context.Context, keep func(yield func(event.Hash) error) error) (removed int, bytes int64, err error) {
	s.pace.wanted.Add(1) // the packer leaves what it is at
	defer s.pace.wanted.Add(-1)
	s.packing.Lock()
	defer s.packing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, 0, fmt.Errorf("collect blobs of %s: %w", s.dir, ErrClosed)
	}
	err = s.alone(func() error {
		marked, err := mark(ctx, keep)
		if err != nil {
			return err
		}
		s.collected++
		removed, bytes, err = s.sweep(ctx, marked)
		return errors.Join(err, s.clearScratch())
	})
	if err != nil {
		err = fmt.Errorf("collect blobs of %s: %w", s.dir, err)
	}
	return removed, bytes, err
}

func mark(ctx context.Context, keep func(yield func(event.Hash) error) error) (map[event.Hash]bool, error) {
	marked := map[event.Hash]bool{}
	err := keep(func(h event.Hash) error {
		marked[h] = true
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	// keep may have stopped at our error and swallowed it. Then the marks are
	// not all, and removing the rest would be a disaster.
	return marked, ctx.Err()
}

// sweep does not flush: a blob that a power cut brings back is collected the next
// time. It leaves empty folders, of which there are few, so that no writer ever
// finds its folder gone.
func (s *Store) sweep(ctx context.Context, marked map[event.Hash]bool) (removed int, bytes int64, err error) {
	for held, err := range s.List(ctx) {
		if err != nil {
			return removed, bytes, err
		}
		if marked[held.Hash] {
			continue
		}
		// A crash may have left one in both forms.
		for _, path := range s.paths(held.Hash) {
			if err := errors.Join(removeIfThere(path), removeIfThere(path+packed)); err != nil {
				return removed, bytes, err
			}
		}
		removed++
		bytes += held.Bytes
	}
	return removed, bytes, nil
}

// Held is a blob that is there, and how many bytes of the disk it takes.
type Held struct {
	Hash  event.Hash
	Bytes int64
}

// List yields every blob in the order of the hashes, without reading any. Blobs
// that come or go meanwhile may be missed; files that are not named like a blob
// in its place are not ours and passed over. An error ends the sequence.
func (s *Store) List(ctx context.Context) iter.Seq2[Held, error] {
	return func(yield func(Held, error) bool) {
		l := lister{ctx: ctx, yield: yield}
		if err := l.store(s.dir); err != nil && !errors.Is(err, errEnough) {
			yield(Held{}, fmt.Errorf("list blobs of %s: %w", s.dir, err))
		}
	}
}

// errEnough says that the reader of a list wants no more.
var errEnough = errors.New("enough")

type lister struct {
	ctx   context.Context
	yield func(Held, error) bool
}

// store lists the blobs of a store: those of one folder in it after the other.
func (l lister) store(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && len(e.Name()) == 2 {
			if err := l.folder(dir, e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// folder lists the blobs whose hashes begin with ab.
func (l lister) folder(dir, ab string) error {
	found, deeper, err := l.files(filepath.Join(dir, ab), ab)
	if err != nil {
		return err
	}
	for _, cd := range deeper {
		more, _, err := l.files(filepath.Join(dir, ab, cd), ab+cd)
		if err != nil {
			return err
		}
		found = append(found, more...)
	}
	// Of a blob in several places or both forms, the one comes first that is found first.
	slices.SortStableFunc(found, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	last := ""
	for _, e := range found {
		name := strings.TrimSuffix(e.Name(), packed)
		if name == last {
			continue
		}
		last = name
		if err := l.blob(name, e); err != nil {
			return err
		}
	}
	return nil
}

// files are the files of a folder that are named like blobs which begin with prefix, and the
// folders in it that can be those of an older store.
func (l lister) files(dir, prefix string) (found []os.DirEntry, deeper []string, err error) {
	if err := l.ctx.Err(); err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		switch {
		case e.IsDir() && len(e.Name()) == 2:
			deeper = append(deeper, e.Name())
		case e.Type().IsRegular() && strings.HasPrefix(e.Name(), prefix):
			found = append(found, e)
		}
	}
	return found, deeper, nil
}

func (l lister) blob(name string, e os.DirEntry) error {
	h, err := event.ParseHash(name)
	if err != nil {
		return nil
	}
	info, err := e.Info()
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !l.yield(Held{Hash: h, Bytes: taken(info)}, nil) {
		return errEnough
	}
	return nil
}

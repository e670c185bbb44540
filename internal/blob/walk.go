package blob

import (
	"context"
	"fmt"
	"path"

	"lyceum/internal/event"
)

// Walk calls visit for every blob that a tree refers to, the tree itself and the
// trees below included, each hash once, a tree before what it lists. It does not
// read the content of files. It stops at the first error, of visit too.
func Walk(ctx context.Context, s Store, ref event.TreeRef, visit func(event.Ref) error) error {
	return NewWalker(s, visit).Walk(ctx, ref)
}

// A Walker walks one tree after another, and visits each blob once over all of
// them: a history of snapshots costs as much as what changed between them.
type Walker struct {
	store Store
	visit func(event.Ref) error
	// Blobs told are another set than trees seen, for the same bytes may stand in
	// one folder as a file and in another as the tree of a folder.
	told map[event.Hash]bool
	seen map[event.TreeRef]bool
	open []event.TreeRef
}

// NewWalker returns a walker that has seen nothing yet.
func NewWalker(s Store, visit func(event.Ref) error) *Walker {
	return &Walker{store: s, visit: visit, told: map[event.Hash]bool{}, seen: map[event.TreeRef]bool{}}
}

// Walk visits what ref refers to and no earlier tree did. After an error the
// walker is of no more use.
func (w *Walker) Walk(ctx context.Context, ref event.TreeRef) error {
	if err := w.meet(event.Ref(ref), Dir); err != nil {
		return err
	}
	// A stack and not recursion: depth costs nothing here, so it has no limit.
	for len(w.open) > 0 {
		last := len(w.open) - 1
		t, err := ReadTree(ctx, w.store, w.open[last])
		if err != nil {
			return err
		}
		w.open = w.open[:last]
		for _, e := range t {
			if err := w.meet(e.Ref(), e.Kind); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Walker) meet(ref event.Ref, kind Kind) error {
	if kind == Link {
		return nil
	}
	if tree := event.TreeRef(ref); kind == Dir && !w.seen[tree] {
		w.seen[tree] = true
		w.open = append(w.open, tree)
	}
	if w.told[ref.Hash] {
		return nil
	}
	w.told[ref.Hash] = true
	return w.visit(ref)
}

// survey reads a whole tree before Restore touches anything: it is well formed,
// within the limits, and all it needs is there.
type survey struct {
	store Store
	gone  func(event.Hash) bool // files that need not be there, nil for none
	trees map[event.TreeRef]extent
	files map[event.Hash]bool
}

// extent is the size of a tree written out. A shared subtree counts each time
// but is looked at once.
type extent struct{ depth, entries int }

func (s *survey) tree(ctx context.Context, ref event.TreeRef, at string, depth int) (extent, error) {
	if x, ok := s.trees[ref]; ok {
		return x, nil
	}
	if depth > MaxDepth {
		return extent{}, fmt.Errorf("%s: more than %d folders in each other", quote(at), MaxDepth)
	}
	t, err := ReadTree(ctx, s.store, ref)
	if err != nil {
		return extent{}, fmt.Errorf("%s: %w", quote(at), err)
	}
	x := extent{depth: 1, entries: len(t)}
	for _, e := range t {
		below, err := s.entry(ctx, e, path.Join(at, e.Name), depth)
		if err != nil {
			return extent{}, err
		}
		x.depth = max(x.depth, 1+below.depth)
		x.entries += below.entries
		if err := x.check(at, depth); err != nil {
			return extent{}, err
		}
	}
	s.trees[ref] = x
	return x, nil
}

// check is done after every entry, so entries cannot overflow: each summand has
// passed it before.
func (x extent) check(at string, depth int) error {
	if x.entries > MaxEntries {
		return fmt.Errorf("%s: more than %d entries", quote(at), MaxEntries)
	}
	if depth+x.depth-1 > MaxDepth {
		return fmt.Errorf("%s: more than %d folders in each other", quote(at), MaxDepth)
	}
	return nil
}

func (s *survey) entry(ctx context.Context, e Entry, at string, depth int) (extent, error) {
	switch e.Kind {
	case Dir:
		return s.tree(ctx, event.TreeRef(e.Ref()), at, depth+1)
	case File:
		return extent{}, s.file(ctx, e.Hash, at)
	}
	return extent{}, nil
}

func (s *survey) file(ctx context.Context, h event.Hash, at string) error {
	if s.files[h] || s.gone != nil && s.gone(h) {
		return nil
	}
	ok, err := s.store.Has(ctx, h)
	if err == nil && !ok {
		err = fmt.Errorf("blob %s: %w", h, ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", quote(at), err)
	}
	s.files[h] = true
	return nil
}

package crate

import (
	"context"
	"fmt"
	"path"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
)

// inventory is every blob that the events of a quest name, those below trees
// included. A tree is read once, however many events name it or share parts.
type inventory struct {
	store blob.Store
	held  map[event.Hash]*holding
	trees map[event.TreeRef]extent
	total int64
	// dropped says that some have expired.
	dropped bool
	// redacted are not in a crate, whatever names them.
	redacted map[event.Hash]bool
}

// holding is what is known of a blob from where it was named first.
type holding struct {
	size int64
	// by is the event, path the place in a workspace, if it has one there.
	by   uint64
	kind event.Type
	path string
	tree bool
}

// extent is the size of a tree written out, where shared parts count each time.
type extent struct{ depth, entries int }

func newInventory(store blob.Store) *inventory {
	return &inventory{store: store, held: map[event.Hash]*holding{}, trees: map[event.TreeRef]extent{}, redacted: map[event.Hash]bool{}}
}

func (v *inventory) add(ctx context.Context, e event.Event) error {
	if b, ok := e.Body.(*event.ArtifactsDropped); ok {
		v.drop(b.Files)
		return nil
	}
	if b, ok := e.Body.(*event.BlobRedacted); ok {
		v.drop(b.Blobs)
		for _, h := range b.Blobs {
			v.redacted[h] = true
		}
		return nil
	}
	n := runtime.Named(e, v.dropped)
	for _, ref := range append(n.Refs, n.Files...) {
		if err := v.hold(ref, holding{by: e.Seq, kind: e.Type}); err != nil {
			return err
		}
	}
	for _, ref := range append(n.Trees, n.Homes...) {
		if _, err := v.tree(ctx, ref, holding{by: e.Seq, kind: e.Type, path: "./"}, 1); err != nil {
			return err
		}
	}
	return nil
}

// drop leaves out artifacts that have expired; that nothing else needs them is checked when the
// ledger is replayed. What comes after brings what it names.
func (v *inventory) drop(files []event.Hash) {
	for _, h := range files {
		if b := v.held[h]; b != nil && !b.tree {
			v.total -= b.size
			delete(v.held, h)
		}
	}
	v.dropped = true
	clear(v.trees)
}

func (v *inventory) hold(ref event.Ref, h holding) error {
	if ref.Size < 0 {
		return fmt.Errorf("event %d names blob %s with %d bytes", h.by, ref.Hash, ref.Size)
	}
	if v.redacted[ref.Hash] && !h.tree {
		return nil
	}
	if old := v.held[ref.Hash]; old != nil {
		if old.size != ref.Size {
			return fmt.Errorf("event %d names blob %s with %d bytes, event %d with %d", h.by, ref.Hash, ref.Size, old.by, old.size)
		}
		return nil
	}
	h.size = ref.Size
	v.held[ref.Hash] = &h
	// Saturates instead of going round: sizes are a stranger's.
	if v.total += ref.Size; v.total < 0 {
		v.total = 1<<63 - 1
	}
	return nil
}

// tree takes in all that a tree names. It refuses one that blob.Restore would
// refuse, for by then the quest would exist.
func (v *inventory) tree(ctx context.Context, ref event.TreeRef, at holding, depth int) (extent, error) {
	if x, ok := v.trees[ref]; ok {
		return x, x.check(ref, at, depth)
	}
	if depth > blob.MaxDepth {
		return extent{}, extent{depth: 1}.check(ref, at, depth)
	}
	at.tree = true
	if err := v.hold(event.Ref(ref), at); err != nil {
		return extent{}, err
	}
	t, err := blob.ReadTree(ctx, v.store, ref)
	if err != nil {
		return extent{}, fmt.Errorf("event %d: %w", at.by, err)
	}
	x := extent{depth: 1, entries: len(t)}
	for _, entry := range t {
		below := extent{}
		in := holding{by: at.by, kind: at.kind, path: path.Join(at.path, entry.Name)}
		switch entry.Kind {
		case blob.Dir:
			below, err = v.tree(ctx, event.TreeRef(entry.Ref()), in, depth+1)
		case blob.File:
			err = v.hold(entry.Ref(), in)
		}
		if err != nil {
			return extent{}, err
		}
		x.depth = max(x.depth, 1+below.depth)
		x.entries += below.entries
		if err := x.check(ref, at, depth); err != nil {
			return extent{}, err
		}
	}
	v.trees[ref] = x
	return x, nil
}

func (x extent) check(ref event.TreeRef, at holding, depth int) error {
	if x.entries > blob.MaxEntries || depth+x.depth-1 > blob.MaxDepth {
		return fmt.Errorf("event %d: tree %s has more than %d entries or %d folders in each other", at.by, ref.Hash, blob.MaxEntries, blob.MaxDepth)
	}
	return nil
}

package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// A sweeper is a ledger that can forget the blobs it holds. It is told all hashes to keep.
type sweeper interface {
	Sweep(ctx context.Context, keep map[event.Hash]bool) (removed int, err error)
}

// A store that is sparing takes only what nobody has put for some time, so that it can forget beside everybody who
// writes. What is left for that reason goes with a later collection.
type sparing interface{ Spares() time.Duration }

func spares(store any) time.Duration {
	if s, ok := store.(sparing); ok {
		return s.Spares()
	}
	return 0
}

// Lingers is for how long blobs that nobody refers to stay at least, 0 for not at all: what Collect removes is
// older than that.
func (r *Runtime) Lingers() time.Duration { return max(spares(r.Ledger), spares(r.Blobs)) }

// A quest that is removed leaves a note that there may be blobs nobody refers to, until
// they have been collected.
func (r *Runtime) garbagePath() string { return filepath.Join(r.Home, "cache", "garbage") }

// Litter notes that blobs may come to be there which no quest refers to: whoever stores some before their
// quest is there may die in between.
func (r *Runtime) Litter() error { return ReplaceFile(r.garbagePath(), nil) }

// Garbage reports whether a quest was removed and its blobs may still be there.
func (r *Runtime) Garbage() bool {
	_, err := os.Lstat(r.garbagePath())
	return err == nil
}

// Collect removes the blobs that no ledger refers to. A store in a home refuses while another
// process has the home open: that process may be about to refer to some.
func (r *Runtime) Collect(ctx context.Context) (removed int, bytes int64, err error) {
	c, ok := r.Blobs.(blob.Collector)
	if !ok {
		return 0, 0, fmt.Errorf("collect blobs: the store cannot forget")
	}
	old := r.settled()
	removed, bytes, err = c.Collect(ctx, func(yield func(event.Hash) error) error {
		keep := map[event.Hash]bool{}
		if err := r.reach(ctx, keep); err != nil {
			return err
		}
		// A ledger that is not sparing forgets its small blobs only while nobody can be about to name
		// one: beside others, what was appended since the events were read would go.
		_, beside := r.Blobs.(blob.Holder)
		if s, ok := r.Ledger.(sweeper); ok && (!beside || spares(r.Ledger) > 0) {
			n, err := s.Sweep(ctx, keep)
			if err != nil {
				return err
			}
			removed += n
		}
		for h := range keep {
			if err := yield(h); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && old {
		err = RemoveIfThere(r.garbagePath())
	}
	return removed, bytes, err
}

// settled reports whether a collection that begins now takes all that was garbage when that was last noted. The note
// and the clock that it is compared with are of this machine; an hour is for the stores', which may be others.
func (r *Runtime) settled() bool {
	wait := r.Lingers()
	if wait == 0 {
		return true
	}
	noted, err := os.Lstat(r.garbagePath())
	return err != nil || SystemClock().Time().Sub(noted.ModTime()) > wait+time.Hour
}

// packer is a store that packs blobs some time after they were put.
type packer interface {
	Pack(ctx context.Context) error
}

// Pack packs the blobs that are still to be packed, as far as another process does not, and
// the disk has room for that.
func (r *Runtime) Pack(ctx context.Context) error {
	p, ok := r.Blobs.(packer)
	if !ok {
		return nil
	}
	err := p.Pack(ctx)
	if errors.Is(err, blob.ErrBusy) || blob.Full(err) {
		return nil
	}
	return err
}

// reach finds every blob that any event of any quest refers to.
func (r *Runtime) reach(ctx context.Context, keep map[event.Hash]bool) error {
	heads, err := r.Ledger.Quests(ctx)
	if err != nil {
		return err
	}
	reach := NewReach(r.Ledger, r.Blobs, func(h event.Hash) error { keep[h] = true; return nil })
	for _, h := range heads {
		// One that another process has removed meanwhile refers to nothing any more.
		if err := reach.Quest(ctx, h.Quest); err != nil && !errors.Is(err, ledger.ErrNoQuest) {
			return err
		}
	}
	// Whoever was killed after the event may not have said so.
	return r.entomb(ctx, reach.out)
}

// A Reach finds the blobs that ledgers refer to, and visits each at least once: files
// of trees too, whose trees it reads from a store. What waits in a quest's inbox counts
// as what stands in its ledger: files of a message are stored before it is taken.
//
// Files of artifacts, and homes that may hold some, wait for the end of the ledger: those that
// an event drops until then are not visited for events before it.
type Reach struct {
	log   ledger.Log
	store blob.Store
	visit func(event.Hash) error
	trees *blob.Walker

	// Of the quest that is read: what may have expired, and whether something has.
	files   []event.Ref
	homes   []event.TreeRef
	dropped bool
	// out are the blobs of all quests that events say were redacted.
	out []event.Hash
}

// NewReach returns one that has visited nothing yet.
func NewReach(log ledger.Log, store blob.Store, visit func(event.Hash) error) *Reach {
	return &Reach{log: log, store: store, visit: visit, trees: blob.NewWalker(store, func(b event.Ref) error { return visit(b.Hash) })}
}

// Quest visits what the events of a quest refer to. After an error the Reach is of no
// more use.
func (r *Reach) Quest(ctx context.Context, name string) error {
	r.files, r.homes, r.dropped = nil, nil, false
	if red, err := r.redacted(ctx, name); err != nil {
		return fmt.Errorf("find the blobs of quest %s: %w", name, err)
	} else if len(red) > 0 {
		r.out = slices.AppendSeq(r.out, maps.Keys(red))
		// A walker of its own: another quest may need what this one does not.
		trees, visit := r.trees, r.visit
		defer func() { r.trees, r.visit = trees, visit }()
		r.visit = func(h event.Hash) error {
			if red[h] {
				return nil
			}
			return visit(h)
		}
		r.trees = blob.NewWalker(r.store, func(b event.Ref) error { return r.visit(b.Hash) })
	}
	for e, err := range r.log.Read(ctx, name, 1) {
		if err != nil {
			return fmt.Errorf("find the blobs of quest %s: %w", name, err)
		}
		if err := r.take(ctx, e); err != nil {
			return fmt.Errorf("find the blobs of quest %s at %d: %w", name, e.Seq, err)
		}
	}
	if err := r.rest(ctx, nil); err != nil {
		return fmt.Errorf("find the blobs of quest %s: %w", name, err)
	}
	return r.inbox(ctx, name)
}

// redacted are the blobs that a quest's events say were redacted.
func (r *Reach) redacted(ctx context.Context, name string) (map[event.Hash]bool, error) {
	out, seq := map[event.Hash]bool{}, uint64(0)
	for line, err := range r.log.Lines(ctx, name, 1) {
		if err != nil {
			return nil, err
		}
		if seq++; !bytes.Contains(line, []byte(`"type":"blob.redacted"`)) {
			continue
		}
		for e, err := range r.log.Read(ctx, name, seq) {
			if err != nil {
				return nil, err
			}
			if b, ok := e.Body.(*event.BlobRedacted); ok {
				for _, h := range b.Blobs {
					out[h] = true
				}
			}
			break
		}
	}
	return out, nil
}

// take visits what an event refers to.
func (r *Reach) take(ctx context.Context, e event.Event) error {
	if b, ok := e.Body.(*event.ArtifactsDropped); ok {
		r.dropped = true
		return r.rest(ctx, b.Files)
	}
	n := Named(e, r.dropped)
	r.files, r.homes = append(r.files, n.Files...), append(r.homes, n.Homes...)
	for _, b := range n.Refs {
		if err := r.visit(b.Hash); err != nil {
			return err
		}
	}
	for _, t := range n.Trees {
		if err := r.trees.Walk(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// rest visits what may have expired and has not.
func (r *Reach) rest(ctx context.Context, gone []event.Hash) error {
	trees, visit := r.trees, r.visit
	if len(gone) > 0 {
		// A walker of its own: another quest may need what this one does not.
		visit = func(h event.Hash) error {
			if slices.Contains(gone, h) {
				return nil
			}
			return r.visit(h)
		}
		trees = blob.NewWalker(r.store, func(b event.Ref) error { return visit(b.Hash) })
	}
	for _, f := range r.files {
		if err := visit(f.Hash); err != nil {
			return err
		}
	}
	for _, t := range r.homes {
		if err := trees.Walk(ctx, t); err != nil {
			return err
		}
	}
	r.files, r.homes = nil, nil
	return nil
}

// inbox visits what the commands to a quest refer to.
func (r *Reach) inbox(ctx context.Context, name string) error {
	box, ok := r.log.(ledger.Inbox)
	if !ok {
		return nil
	}
	waiting, err := box.Commands(ctx, name, 0)
	if err != nil {
		return fmt.Errorf("find the blobs of quest %s: %w", name, err)
	}
	for _, c := range waiting {
		refs, _ := event.Refs(c.Body)
		for _, b := range refs {
			if err := r.visit(b.Hash); err != nil {
				return err
			}
		}
	}
	return nil
}

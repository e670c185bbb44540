package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// Expiry is a fold of a quest's ledger that tells which blobs can be dropped: files which the
// manifest of a run names that was not accepted, once its task has ended. Nothing else goes, and
// no such file either that anything besides needs: another event, a tree that was taken over or
// checked, the home of an accepted run. The homes of the other runs hold the files too, and do
// without them.
type Expiry struct {
	runs map[string][]*attempt // by task
	at   map[string]*attempt   // by worker: the run that is under way
	over map[string]bool       // the tasks that have ended
	// refs and trees are what is needed in any case.
	refs  map[event.Hash]bool
	trees map[event.TreeRef]bool
}

// attempt is a run of a task: what its manifest names, and the homes it came through.
type attempt struct {
	run      int64
	accepted bool
	files    []event.Ref
	homes    map[event.TreeRef]bool
}

// NewExpiry returns one that has heard nothing yet.
func NewExpiry() *Expiry {
	return &Expiry{
		runs: map[string][]*attempt{}, at: map[string]*attempt{}, over: map[string]bool{}, refs: map[event.Hash]bool{}, trees: map[event.TreeRef]bool{},
	}
}

// Names are the blobs and trees that an event names.
type Names struct {
	Refs  []event.Ref
	Trees []event.TreeRef
	// Files are of artifacts, and Homes may hold some: these can expire.
	Files []event.Ref
	Homes []event.TreeRef
}

// Named is what an event names. Once something was dropped, what a home was before counts no
// more: it was told when it was so.
func Named(e event.Event, dropped bool) (n Names) {
	body := e.Body
	switch b := body.(type) {
	case event.Expiring:
		n.Files, body = b.Expires()
	case *event.FileDiff:
		if n.Homes = []event.TreeRef{b.After}; b.Before != nil && !dropped {
			n.Homes = append(n.Homes, *b.Before)
		}
		return n
	}
	n.Refs, n.Trees = event.Refs(body)
	return n
}

// Add takes in the next event.
func (x *Expiry) Add(e event.Event) {
	n := Named(e, true)
	switch b := e.Body.(type) {
	case event.Handover:
		worker, task, run := b.Hands()
		if worker != "" {
			x.at[worker] = x.of(task, run)
			break
		}
		for worker, a := range x.at {
			if a == x.of(task, run) {
				delete(x.at, worker)
			}
		}
	case event.Settling:
		task, run, accepted := b.Settles()
		x.over[task] = true
		x.of(task, run).accepted = accepted
	case event.Expiring:
		if task, run := b.MadeBy(); task != "" {
			a := x.of(task, run)
			a.files = append(a.files, n.Files...)
		}
	case *event.ArtifactsDropped:
		for _, runs := range x.runs {
			for _, a := range runs {
				a.files = slices.DeleteFunc(a.files, func(f event.Ref) bool { return slices.Contains(b.Files, f.Hash) })
			}
		}
	case *event.FileDiff:
		if a := x.at[e.Actor]; a != nil {
			a.homes[b.After], n.Homes = true, nil
		}
	}
	for _, ref := range n.Refs {
		x.refs[ref.Hash] = true
	}
	for _, t := range append(n.Trees, n.Homes...) {
		x.trees[t] = true
	}
}

// of is a run of a task.
func (x *Expiry) of(task string, run int64) *attempt {
	for _, a := range x.runs[task] {
		if a.run == run {
			return a
		}
	}
	a := &attempt{run: run, homes: map[event.TreeRef]bool{}}
	x.runs[task] = append(x.runs[task], a)
	return a
}

// Needed are the blobs that must stay.
func (x *Expiry) Needed(ctx context.Context, store blob.Store) (map[event.Hash]bool, error) {
	out := map[event.Hash]bool{}
	walk := blob.NewWalker(store, func(ref event.Ref) error { out[ref.Hash] = true; return nil })
	for h := range x.refs {
		out[h] = true
	}
	for t := range x.trees {
		if err := walk.Walk(ctx, t); err != nil {
			return nil, err
		}
	}
	for task, runs := range x.runs {
		for _, a := range runs {
			if x.over[task] && !a.accepted {
				continue
			}
			for _, f := range a.files {
				out[f.Hash] = true
			}
			for t := range a.homes {
				if err := walk.Walk(ctx, t); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// Droppable are the blobs that can be dropped, were not yet, and are there, in the order of their
// hashes.
func (x *Expiry) Droppable(ctx context.Context, store blob.Store) ([]event.Ref, error) {
	needed, err := x.Needed(ctx, store)
	if err != nil {
		return nil, err
	}
	var out []event.Ref
	for _, runs := range x.runs {
		for _, a := range runs {
			for _, f := range a.files {
				if needed[f.Hash] {
					continue
				}
				needed[f.Hash] = true // once
				there, err := store.Has(ctx, f.Hash)
				if err != nil {
					return nil, err
				}
				if there {
					out = append(out, f)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b event.Ref) int { return slices.Compare(a.Hash[:], b.Hash[:]) })
	return out, nil
}

// maxDropped is how many hashes stand in one event.
const maxDropped = 200

// DropArtifacts records that the artifacts of runs that were not accepted are no longer kept, and
// returns them. Their space is free once blobs are collected. One that somebody runs is refused
// with ledger.ErrClaimed.
func (r *Runtime) DropArtifacts(ctx context.Context, name string) ([]event.Ref, error) {
	claim, err := r.Ledger.Claim(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("drop artifacts of quest %s: %w", name, err)
	}
	defer claim.Release()
	gone, err := r.dropArtifacts(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("drop artifacts of quest %s: %w", name, err)
	}
	return gone, nil
}

func (r *Runtime) dropArtifacts(ctx context.Context, name string) ([]event.Ref, error) {
	x := NewExpiry()
	s, err := r.until(ctx, name, 0, x.Add)
	if err != nil {
		return nil, err
	}
	gone, err := x.Droppable(ctx, r.Blobs)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	// Whoever is killed after the event leaves blobs that nobody needs.
	if err := ReplaceFile(r.garbagePath(), nil); err != nil {
		return nil, err
	}
	o := &owner{key: name, log: r.Ledger, state: s}
	_, refused, err := o.step(ctx, r.dropped(hashesOf(gone)))
	return gone, errors.Join(append(refused, err)...)
}

// dropped are the inputs that say so.
func (r *Runtime) dropped(files []event.Hash) (out []event.Draft) {
	for part := range slices.Chunk(files, maxDropped) {
		out = append(out, event.Draft{Time: r.Clock(), Actor: "person", Body: &event.ArtifactsDropped{Files: part}})
	}
	return out
}

func hashesOf(refs []event.Ref) (out []event.Hash) {
	for _, r := range refs {
		out = append(out, r.Hash)
	}
	return out
}

// expired are the files that a fork at an event cannot have any more, because its origin dropped
// them since. What is needed there cannot be forked.
func (r *Runtime) expired(ctx context.Context, from string, at uint64, prefix []event.Event) ([]event.Hash, error) {
	var files []event.Hash
	last := uint64(0)
	for e, err := range r.Ledger.Read(ctx, from, at+1) {
		if _, damaged := errors.AsType[*ledger.DamageError](err); damaged {
			break // the good part can be forked; what it has not, verify tells
		}
		if err != nil {
			return nil, err
		}
		if b, ok := e.Body.(*event.ArtifactsDropped); ok {
			files, last = append(files, b.Files...), e.Seq
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	x := NewExpiry()
	for _, e := range prefix {
		x.Add(e)
	}
	needed, err := x.Needed(ctx, r.Blobs)
	if err != nil {
		return nil, err
	}
	for _, h := range files {
		if there, err := r.Blobs.Has(ctx, h); err != nil {
			return nil, err
		} else if needed[h] && !there {
			return nil, BadPlan("artifacts that event %d needs are no longer kept: fork it before the task that made them, or after %d", at, last)
		}
	}
	return slices.DeleteFunc(files, func(h event.Hash) bool { return needed[h] }), nil
}

// Expired tells which files of a quest's homes are no longer kept, nil if all are.
func (r *Runtime) Expired(ctx context.Context, s *quest.State) func(event.Hash) bool {
	if len(s.Dropped) == 0 {
		return nil
	}
	return func(h event.Hash) bool {
		if !slices.Contains(s.Dropped, h) {
			return false
		}
		there, err := r.Blobs.Has(ctx, h)
		return err == nil && !there
	}
}

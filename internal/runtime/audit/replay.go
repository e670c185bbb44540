// Package audit looks at quests that were recorded: it replays them, verifies them, and
// runs their calls again.
//
// Nothing here changes a quest. What is found wrong with one is a Difference in a
// Report; an error means that looking failed, and says nothing about the quest.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// Report is what replaying or verifying a quest found.
type Report struct {
	Quest   string `json:"quest"`
	Events  uint64 `json:"events"`
	Inputs  uint64 `json:"inputs"`
	Derived uint64 `json:"derived"`
	Blobs   int    `json:"blobs"`
	// Head is the hash of the last event that was read: who knew it before knows all before it.
	Head event.Hash `json:"head"`
	// Again is what came of the calls of tools that give the same for the same arguments. All are run again
	// whenever a quest is verified; those that are the same are only counted.
	Again *Execution `json:"again,omitempty"`
	// Words are whose word the rest is: what is not derived, and was not made again here.
	Words []Word `json:"words,omitempty"`
	// Known are the hashes that somebody knew before, and where they stand.
	Known []Known `json:"known,omitempty"`
	// Notes are what could not be checked here, or nobody vouches for.
	Notes []string `json:"notes,omitempty"`
	// Difference is the first thing that does not hold, nil if all does.
	Difference *Difference `json:"difference,omitempty"`
}

// Known is a hash that somebody knew before, and the event that has it.
type Known struct {
	Hash event.Hash `json:"hash"`
	Seq  uint64     `json:"seq"`
}

// Difference is where a ledger and what should be there part.
type Difference = runtime.Difference

// Replay feeds the recorded inputs of a quest to the rules and compares each
// event they lead to with the one recorded, byte for byte. It calls no model and
// no tool. Progress, which may be nil, is told the seq now and then.
func Replay(ctx context.Context, r *runtime.Runtime, name string, progress func(seq uint64)) (*Report, error) {
	return examine(ctx, r, name, Options{Progress: progress}, nil, nil)
}

// Audit replays a quest, and looks besides at what the world is recorded to have said,
// as Verify does.
func Audit(ctx context.Context, r *runtime.Runtime, name string, progress func(seq uint64)) (*Report, error) {
	return examine(ctx, r, name, Options{Progress: progress}, newWitnesses(r), nil)
}

// Verify checks everything that can be checked: the chain, the form of each event, that
// the rules derive what is derived, every blob and tree that is named, what the world is
// recorded to have said as far as it can be known again, and the files of the quest's
// folder.
func Verify(ctx context.Context, r *runtime.Runtime, name string, progress func(seq uint64)) (*Report, error) {
	return VerifyWith(ctx, r, name, Options{Progress: progress})
}

// Options are what can be said about verifying.
type Options struct {
	// Progress is told the seq now and then; nil tells nobody.
	Progress func(seq uint64)
	// Known are hashes of events that somebody knew before. A quest that has not all of them is not the one
	// that was known, nor does it go on from there.
	Known []event.Hash
}

// VerifyWith does as Verify, and looks for what somebody knew before.
func VerifyWith(ctx context.Context, r *runtime.Runtime, name string, opts Options) (*Report, error) {
	return examine(ctx, r, name, opts, newWitnesses(r), verifyFolder)
}

// examine reads a quest's ledger from its first event on and has each looked at.
// What is found wrong is in the report; an error means that looking failed.
func examine(ctx context.Context, r *runtime.Runtime, name string, opts Options, witness *witnesses,
	finally func(context.Context, *runtime.Runtime, string, *quest.State, []runtime.Summary) (*Difference, error),
) (*Report, error) {
	var summaries []runtime.Summary // what the quest's folder may have said, each once
	if witness != nil {
		witness.key = name
		defer witness.close()
	}
	p := runtime.NewReplayer(r.Societies)
	b := newBlobReader(ctx, r)
	rep := &Report{Quest: name}
	whose := newWords()
	if witness != nil {
		rep.Again = &witness.again.found
		defer func() { rep.Words = whose.list() }()
	}
	for e, err := range r.Ledger.Read(ctx, name, 1) {
		if damage, ok := errors.AsType[*ledger.DamageError](err); ok {
			rep.Difference = &Difference{Seq: damage.Seq, What: damage.Err.Error()}
			return rep, nil
		}
		if err != nil {
			return nil, err
		}
		rep.Events++
		rep.Head = e.Hash
		if slices.Contains(opts.Known, e.Hash) {
			rep.Known = append(rep.Known, Known{e.Hash, e.Seq})
		}
		if e.Input() {
			rep.Inputs++
		} else {
			rep.Derived++
		}
		d, err := p.Begin(e)
		if err != nil {
			return nil, err
		}
		if d == nil {
			d = p.Replay(e)
		}
		if d == nil {
			d = b.read(e)
		}
		if d == nil && witness != nil {
			if d, err = witness.look(ctx, p.State, e); err != nil {
				return nil, err
			}
			rep.Notes = witness.notes
			whose.take(p.State, e, witness.made)
		}
		if sum := runtime.SummaryOf(p.State); sum != nil && finally != nil && !same(summaries, *sum) {
			summaries = append(summaries, *sum)
		}
		if rep.Blobs = len(b.seen); d != nil {
			rep.Difference = d
			return rep, nil
		}
		if opts.Progress != nil && e.Seq%100 == 0 {
			opts.Progress(e.Seq)
		}
	}
	rep.Notes = append(rep.Notes, b.notes...)
	if d := cmp.Or(p.End(), b.end()); d != nil {
		rep.Difference = d
		return rep, nil
	}
	if d := rep.unknown(opts.Known); d != nil {
		rep.Difference = d
		return rep, nil
	}
	if finally != nil {
		d, err := finally(ctx, r, name, p.State, summaries)
		rep.Difference = d
		return rep, err
	}
	return rep, nil
}

// unknown tells of a hash that was known before and that no event has.
func (r *Report) unknown(known []event.Hash) *Difference {
	for _, h := range known {
		if !slices.ContainsFunc(r.Known, func(k Known) bool { return k.Hash == h }) {
			return &Difference{Seq: r.Events, What: fmt.Sprintf("none of its %d events has the hash %s: it is not the quest of which that was known, nor one that goes on from there", r.Events, h)}
		}
	}
	return nil
}

// same reports whether the last of some summaries is this one.
func same(before []runtime.Summary, s runtime.Summary) bool {
	n := len(before)
	return n > 0 && before[n-1].Heading == s.Heading && before[n-1].Answer.Text == s.Answer.Text && before[n-1].Answer.Ref == s.Answer.Ref
}

// A blobReader reads what events refer to, once each.
type blobReader struct {
	rt    *runtime.Runtime
	ctx   context.Context
	seen  map[event.Hash]bool
	trees *blob.Walker

	expiry *runtime.Expiry
	// homes walks what may hold artifacts; lost are those that are not there, and no event has
	// dropped so far, gone those that one has.
	homes *blob.Walker
	lost  map[event.Hash]*Difference
	gone  map[event.Hash]bool
	out   map[event.Hash]bool // redacted
	at    uint64              // the event that is looked at
	notes []string
}

func newBlobReader(ctx context.Context, rt *runtime.Runtime) *blobReader {
	r := &blobReader{rt: rt, ctx: ctx, seen: map[event.Hash]bool{}, expiry: runtime.NewExpiry(), lost: map[event.Hash]*Difference{}, gone: map[event.Hash]bool{}, out: map[event.Hash]bool{}}
	r.trees = blob.NewWalker(rt.Blobs, r.perhaps) // a file of it may have been redacted
	r.homes = blob.NewWalker(rt.Blobs, r.perhaps)
	return r
}

// through reads a blob, once.
func (r *blobReader) through(b event.Ref) error {
	if r.seen[b.Hash] {
		return nil
	}
	r.seen[b.Hash] = true
	return readThrough(r.ctx, r.rt.Blobs, b)
}

// perhaps reads a blob that may have expired.
func (r *blobReader) perhaps(b event.Ref) error {
	err := r.through(b)
	if errors.Is(err, blob.ErrNotFound) {
		delete(r.seen, b.Hash)
		r.miss(b.Hash, err)
		return nil
	}
	return err
}

// miss notes a blob that is not there.
func (r *blobReader) miss(h event.Hash, err error) {
	if r.lost[h] == nil && !r.out[h] {
		r.lost[h] = &Difference{Seq: r.at, What: err.Error()}
	}
}

// redacted takes in that blobs were redacted. One that no event named before, or that the rules need, cannot have been.
func (r *blobReader) redacted(e event.Event, b *event.BlobRedacted) *Difference {
	for _, h := range b.Blobs {
		if r.out[h] {
			continue
		}
		if !r.seen[h] && r.lost[h] == nil {
			return &Difference{Seq: e.Seq, What: fmt.Sprintf("it says that blob %s was redacted, which no event before names, or which nobody can do without", h)}
		}
		delete(r.lost, h)
		r.out[h] = true
	}
	by := "the owner"
	if b.By != "" {
		by = b.By
	}
	r.notes = append(r.notes, fmt.Sprintf("seq %d: redacted by %s: %s: %s", e.Seq, by, count(uint64(len(b.Blobs)), "blob"), b.Why))
	return nil
}

func (r *blobReader) read(e event.Event) *Difference {
	wrong := func(err error) *Difference { return &Difference{Seq: e.Seq, What: err.Error()} }
	r.at = e.Seq
	switch b := e.Body.(type) {
	case *event.ArtifactsDropped:
		return r.dropped(e, b)
	case *event.BlobRedacted:
		return r.redacted(e, b)
	}
	r.expiry.Add(e)
	n := runtime.Named(e, len(r.gone) > 0)
	for _, ref := range n.Refs {
		if r.seen[ref.Hash] {
			continue
		}
		_, err := r.rt.Whole(r.ctx, ref)
		if errors.Is(err, blob.ErrNotFound) && e.Seq > 1 && slices.Contains(event.Passages(e.Body), ref) {
			if r.miss(ref.Hash, err); !r.out[ref.Hash] { // an event may yet tell that it was redacted
				continue
			}
			err = nil
		}
		if err != nil {
			return wrong(err)
		}
		r.seen[ref.Hash] = true
	}
	for _, tree := range n.Trees {
		if err := r.trees.Walk(r.ctx, tree); err != nil {
			return wrong(err)
		}
	}
	for _, ref := range n.Files {
		if err := r.perhaps(ref); err != nil {
			return wrong(err)
		}
	}
	for _, tree := range n.Homes {
		if err := r.homes.Walk(r.ctx, tree); err != nil {
			return wrong(err)
		}
	}
	if a := runtime.AttachedBy(e); a != nil {
		if _, err := runtime.Attachments(r.ctx, r.rt.Blobs, *a); err != nil {
			return &Difference{Seq: e.Seq, What: err.Error()}
		}
	}
	return nil
}

// dropped takes in that artifacts have expired. What is needed cannot have.
func (r *blobReader) dropped(e event.Event, b *event.ArtifactsDropped) *Difference {
	needed, err := r.expiry.Needed(r.ctx, r.rt.Blobs)
	if err != nil {
		return &Difference{Seq: e.Seq, What: err.Error()}
	}
	for _, h := range b.Files {
		if needed[h] {
			return &Difference{Seq: e.Seq, What: fmt.Sprintf("it says that blob %s is no longer kept, which events before need", h)}
		}
		delete(r.lost, h)
		r.gone[h] = true
	}
	r.notes = append(r.notes, fmt.Sprintf("seq %d: %d artifacts of runs that were not accepted have expired: they are no longer kept", e.Seq, len(b.Files)))
	// What comes after needs what it names.
	r.homes = blob.NewWalker(r.rt.Blobs, r.perhaps)
	return nil
}

// end tells of the first blob that is lost: it is not there, and nobody has dropped it.
func (r *blobReader) end() (first *Difference) {
	for _, d := range r.lost {
		if first == nil || d.Seq < first.Seq || d.Seq == first.Seq && d.What < first.What {
			first = d
		}
	}
	return first
}

// Folder finds a file of a quest's folder that is not what the ledger says.
func Folder(ctx context.Context, r *runtime.Runtime, name string, s *quest.State) (*Difference, error) {
	return verifyFolder(ctx, r, name, s, nil)
}

func verifyFolder(ctx context.Context, r *runtime.Runtime, name string, s *quest.State, before []runtime.Summary) (*Difference, error) {
	if d, err := verifyRows(ctx, r, name); d != nil || err != nil {
		return d, err
	}
	changed, err := r.ChangedFiles(ctx, name, s, before)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	what := "the file differs from what the ledger says"
	if _, err := os.Lstat(changed[0]); errors.Is(err, os.ErrNotExist) {
		what = "it was there and has been removed; lyceum run writes it again"
	}
	return &Difference{File: changed[0], What: what}, nil
}

// verifyRows asks a ledger that keeps events in rows whether it has some that no reader
// comes to: a second one of an event, or one after the last.
func verifyRows(ctx context.Context, r *runtime.Runtime, name string) (*Difference, error) {
	rows, ok := r.Ledger.(interface {
		Stray(ctx context.Context, quest string) (seq uint64, err error)
	})
	if !ok {
		return nil, nil
	}
	seq, err := rows.Stray(ctx, name)
	if err != nil || seq == 0 {
		return nil, err
	}
	return &Difference{Seq: seq, What: "the ledger has more than one row of this event, or a row after the last event"}, nil
}

// readThrough reads a blob to its end without keeping it, which checks it.
func readThrough(ctx context.Context, s blob.Store, ref event.Ref) error {
	f, err := s.Open(ctx, ref.Hash)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(io.Discard, f)
	if err == nil && n != ref.Size {
		err = fmt.Errorf("blob %s has %d bytes, its reference says %d", ref.Hash, n, ref.Size)
	}
	return err
}

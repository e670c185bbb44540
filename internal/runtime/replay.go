package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// Report is what replaying or verifying a quest found.
type Report struct {
	Quest   string `json:"quest"`
	Events  uint64 `json:"events"`
	Inputs  uint64 `json:"inputs"`
	Derived uint64 `json:"derived"`
	Blobs   int    `json:"blobs"`
	// Notes are what could not be checked here, or nobody vouches for.
	Notes []string `json:"notes,omitempty"`
	// Difference is the first thing that does not hold, nil if all does.
	Difference *Difference `json:"difference,omitempty"`
}

// Difference is where a ledger and what should be there part.
type Difference struct {
	// Seq is the event, 0 if it is about a file.
	Seq  uint64 `json:"seq,omitempty"`
	File string `json:"file,omitempty"`
	What string `json:"what"`
	// Recorded and Computed are both sides, where there are two.
	Recorded string `json:"recorded,omitempty"`
	Computed string `json:"computed,omitempty"`
}

func (d *Difference) Error() string {
	if d.File != "" {
		return fmt.Sprintf("%s: %s", d.File, d.What)
	}
	return fmt.Sprintf("seq %d: %s", d.Seq, d.What)
}

// Replay feeds the recorded inputs of a quest to the rules and compares each
// event they lead to with the one recorded, byte for byte. It calls no model and
// no tool. Progress, which may be nil, is told the seq now and then.
func (r *Runtime) Replay(ctx context.Context, name string, progress func(seq uint64)) (*Report, error) {
	return r.examine(ctx, name, progress, func(p *replayer, e event.Event) *Difference { return p.replay(e) }, nil, nil)
}

// Audit replays a quest, and looks besides at what the world is recorded to have said,
// as Verify does.
func (r *Runtime) Audit(ctx context.Context, name string, progress func(seq uint64)) (*Report, error) {
	return r.examine(ctx, name, progress, func(p *replayer, e event.Event) *Difference { return p.replay(e) }, newWitness(r), nil)
}

// Verify checks everything that can be checked: the chain, the form of each event, that
// the rules derive what is derived, every blob and tree that is named, what the world is
// recorded to have said as far as it can be known again, and the files of the quest's
// folder.
func (r *Runtime) Verify(ctx context.Context, name string, progress func(seq uint64)) (*Report, error) {
	return r.examine(ctx, name, progress, func(p *replayer, e event.Event) *Difference { return p.replay(e) }, newWitness(r), r.verifyFolder)
}

// examine reads a quest's ledger from its first event on and has each looked at.
// What is found wrong is in the report; an error means that looking failed.
func (r *Runtime) examine(ctx context.Context, name string, progress func(uint64), look func(*replayer, event.Event) *Difference, witness *witness,
	finally func(context.Context, string, *quest.State, []event.Text) (*Difference, error),
) (*Report, error) {
	var answers []event.Text
	if witness != nil {
		defer witness.close()
	}
	p := &replayer{societies: r.Societies}
	b := newBlobReader(ctx, r)
	rep := &Report{Quest: name}
	for e, err := range r.Ledger.Read(ctx, name, 1) {
		if damage, ok := errors.AsType[*ledger.DamageError](err); ok {
			rep.Difference = &Difference{Seq: damage.Seq, What: damage.Err.Error()}
			return rep, nil
		}
		if err != nil {
			return nil, err
		}
		rep.Events++
		if e.Input() {
			rep.Inputs++
		} else {
			rep.Derived++
		}
		if b, ok := e.Body.(*event.QuestFinished); ok {
			answers = append(answers, b.Answer)
		}
		d, err := p.begin(e)
		if err != nil {
			return nil, err
		}
		if d == nil {
			d = look(p, e)
		}
		if d == nil {
			d = b.read(e)
		}
		if d == nil && witness != nil {
			if d, err = witness.look(ctx, e); err != nil {
				return nil, err
			}
			rep.Notes = witness.notes
		}
		if rep.Blobs = len(b.seen); d != nil {
			rep.Difference = d
			return rep, nil
		}
		if progress != nil && e.Seq%10_000 == 0 {
			progress(e.Seq)
		}
	}
	if d := p.end(); d != nil {
		rep.Difference = d
		return rep, nil
	}
	if finally != nil {
		d, err := finally(ctx, name, p.state, answers)
		rep.Difference = d
		return rep, err
	}
	return rep, nil
}

// A replayer stands in a quest's history and knows what must come next.
type replayer struct {
	societies []quest.Society
	state     *quest.State
	// queue is what the rules derived and the ledger must still show.
	queue []event.Draft
}

// begin sets the state up at the first event.
func (p *replayer) begin(e event.Event) (*Difference, error) {
	if p.state == nil {
		s, err := quest.New(e, p.societies)
		if err != nil {
			return nil, err
		}
		p.state = s
	}
	return p.named(e), nil
}

// named checks that an event was recorded under the name the quest had then.
func (p *replayer) named(e event.Event) *Difference {
	want := p.state.Name
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		want = b.Name
	case *event.QuestForked:
		if b.At != p.state.Seq || b.Hash != p.state.Hash || b.From != p.state.Name {
			return &Difference{Seq: e.Seq, What: "the fork does not stand where it says it does"}
		}
		want = b.Name
	}
	if e.Quest != want {
		return &Difference{Seq: e.Seq, What: fmt.Sprintf("the event was recorded for quest %s, not %s", e.Quest, want)}
	}
	return nil
}

// accept takes a recorded event as it is, if it may come now.
func (p *replayer) accept(e event.Event) *Difference {
	if err := p.state.Fold(e); err != nil {
		return &Difference{Seq: e.Seq, What: err.Error()}
	}
	return nil
}

func (p *replayer) replay(e event.Event) *Difference {
	if e.Input() {
		if len(p.queue) > 0 && e.Type != "quest.forked" {
			return p.missing(e.Seq, string(e.Line()))
		}
		p.queue = nil // a fork may cut what its origin had still to record
	} else {
		if len(p.queue) == 0 {
			return &Difference{Seq: e.Seq, What: "the rules derive no such event here", Recorded: string(e.Line())}
		}
		again, err := event.Seal(p.state.Name, e.Seq, p.state.Hash, p.queue[0])
		if err != nil {
			return &Difference{Seq: e.Seq, What: err.Error(), Recorded: string(e.Line())}
		}
		if !bytes.Equal(again.Line(), e.Line()) {
			return &Difference{Seq: e.Seq, What: "the rules derive another event", Recorded: string(e.Line()), Computed: string(again.Line())}
		}
		p.queue = p.queue[1:]
	}
	if d := p.accept(e); d != nil {
		return d
	}
	more, err := decide(p.state, e)
	if err != nil {
		return &Difference{Seq: e.Seq, What: err.Error()}
	}
	p.queue = append(p.queue, more...)
	return nil
}

func (p *replayer) missing(seq uint64, recorded string) *Difference {
	d := &Difference{Seq: seq, What: "an event that the rules derive is missing", Recorded: recorded}
	if again, err := event.Seal(p.state.Name, p.state.Seq+1, p.state.Hash, p.queue[0]); err == nil {
		d.Computed = string(again.Line())
	}
	return d
}

// end finds what the last input led to and the ledger does not show.
func (p *replayer) end() *Difference {
	if len(p.queue) > 0 {
		return p.missing(p.state.Seq+1, "")
	}
	return nil
}

// A blobReader reads what events refer to, once each.
type blobReader struct {
	rt    *Runtime
	ctx   context.Context
	seen  map[event.Hash]bool
	trees *blob.Walker
}

func newBlobReader(ctx context.Context, rt *Runtime) *blobReader {
	r := &blobReader{rt: rt, ctx: ctx, seen: map[event.Hash]bool{}}
	r.trees = blob.NewWalker(rt.Blobs, func(b event.Ref) error {
		if r.seen[b.Hash] {
			return nil
		}
		r.seen[b.Hash] = true
		return readThrough(ctx, rt.Blobs, b)
	})
	return r
}

func (r *blobReader) read(e event.Event) *Difference {
	refs, trees := event.Refs(e.Body)
	for _, ref := range refs {
		if r.seen[ref.Hash] {
			continue
		}
		if _, err := r.rt.Blob(r.ctx, ref); err != nil {
			return &Difference{Seq: e.Seq, What: err.Error()}
		}
		r.seen[ref.Hash] = true
	}
	for _, tree := range trees {
		if err := r.trees.Walk(r.ctx, tree); err != nil {
			return &Difference{Seq: e.Seq, What: err.Error()}
		}
	}
	return nil
}

func (r *Runtime) verifyFolder(ctx context.Context, name string, s *quest.State, answers []event.Text) (*Difference, error) {
	changed, err := r.changedFiles(ctx, name, s, answers)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	return &Difference{File: changed[0], What: "the file differs from what the ledger says"}, nil
}

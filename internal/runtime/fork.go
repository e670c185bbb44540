package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// ForkOptions say what is different in a fork.
type ForkOptions struct {
	// Name of the new quest; if empty, one is made from the origin's.
	Name string
	// At is the last event taken over; 0 means all of them.
	At uint64
	// Model replaces the model of every agent; Dir is where its files are, the
	// working folder if empty.
	Model, Dir string
	// Seed replaces the seed.
	Seed *uint64
	// Message is said to the agents first.
	Message string
}

// Fork makes a new quest that begins with another's events, bytes and hashes
// included, and then goes its own way. It is paused until it is run.
func (r *Runtime) Fork(ctx context.Context, from string, opts ForkOptions) (*quest.State, error) {
	s, err := r.fork(ctx, from, opts)
	if err != nil {
		return nil, fmt.Errorf("fork quest %s: %w", from, err)
	}
	return s, nil
}

func (r *Runtime) fork(ctx context.Context, from string, opts ForkOptions) (*quest.State, error) {
	head, err := r.Ledger.Head(ctx, from)
	if err != nil {
		return nil, err
	}
	if opts.At == 0 {
		opts.At = head.Seq
	}
	if opts.At > head.Seq {
		return nil, BadPlan("there is no event %d: the last is %d", opts.At, head.Seq)
	}
	if opts.Name == "" {
		if opts.Name, err = r.freeName(ctx, from); err != nil {
			return nil, err
		}
	}
	release, err := r.newName(ctx, opts.Name)
	if err != nil {
		return nil, fmt.Errorf("as %s: %w", opts.Name, err)
	}
	defer release()
	var b []event.Event
	s, err := r.until(ctx, from, opts.At, func(e event.Event) { b = append(b, e) })
	if err != nil {
		return nil, err
	}
	if (opts.Model != "" || opts.Message != "") && !s.Thinks() {
		return nil, BadPlan("it works by rules alone, and nobody in it could use a model or a message: make it anew with a model")
	}
	if err := s.Check("person", &event.QuestForked{Model: opts.Model}); err != nil {
		return nil, &PlanError{err}
	}
	o := &owner{key: opts.Name, state: s, batch: ledger.Batch{Quest: opts.Name, Events: b}}
	if last, err := r.redactions(ctx, from, opts.At+1); err != nil {
		return nil, err
	} else if last > 0 {
		return nil, BadPlan("something was redacted since, which event %d may need: fork at %d or later", opts.At, last)
	}
	gone, err := r.expired(ctx, from, opts.At, b)
	if err != nil {
		return nil, err
	}
	if err := r.diverge(ctx, o, opts); err != nil {
		return nil, err
	}
	for _, d := range r.dropped(gone) {
		if err := o.feed(d); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(r.bequeath(ctx, from, opts.Name), r.inherit(ctx, from, opts.Name)); err != nil {
		return nil, err
	}
	if o.batch.Checkpoints, err = r.shared(ctx, from, opts.At); err != nil {
		return nil, err
	}
	if err := r.Ledger.Append(ctx, o.batch); err != nil {
		return nil, err
	}
	if im, err := r.Imported(ctx, opts.Name); im != nil || err != nil {
		return o.state, errors.Join(err, r.WriteFolder(ctx, opts.Name, o.state)) // as Adopt does
	}
	return o.state, r.prepare(ctx, opts.Name, o.state)
}

// shared are the checkpoints of what a fork has in common with its origin. They are words about the
// origin's log; that of the fork is another.
func (r *Runtime) shared(ctx context.Context, from string, at uint64) (out []ledger.Checkpoint, err error) {
	points, err := r.Ledger.Checkpoints(ctx, from, 0)
	for _, c := range points {
		if c.Own = false; c.Size <= at {
			out = append(out, c)
		}
	}
	return out, err
}

// At returns the state of a quest as it was after the event seq, 0 for the last.
func (r *Runtime) At(ctx context.Context, name string, seq uint64) (*quest.State, error) {
	if seq == 0 {
		return r.Load(ctx, name)
	}
	head, err := r.Ledger.Head(ctx, name)
	if err != nil {
		return nil, err
	}
	if seq > head.Seq {
		return nil, BadPlan("quest %s has no event %d: the last is %d", name, seq, head.Seq)
	}
	s, err := r.until(ctx, name, seq, func(event.Event) {})
	if err != nil {
		return nil, fmt.Errorf("fold quest %s up to %d: %w", name, seq, err)
	}
	return s, nil
}

// until folds the events up to at, and hands each to keep.
func (r *Runtime) until(ctx context.Context, from string, at uint64, keep func(event.Event)) (s *quest.State, err error) {
	for e, err := range r.Ledger.Read(ctx, from, 1) {
		if err != nil {
			return nil, err
		}
		if s == nil {
			if s, err = quest.New(e, r.Societies); err != nil {
				return nil, err
			}
		}
		if err := s.Fold(e); err != nil {
			return nil, err
		}
		if keep(e); e.Seq == at {
			break
		}
	}
	return s, nil
}

// diverge adds what makes the fork another quest.
func (r *Runtime) diverge(ctx context.Context, o *owner, opts ForkOptions) error {
	t := texts{rt: r}
	body := &event.QuestForked{At: o.state.Seq, From: o.state.Name, Hash: o.state.Hash, Model: opts.Model, Name: opts.Name}
	if opts.Seed != nil {
		body.Reseed, body.Seed = true, *opts.Seed
	}
	if opts.Model != "" {
		root, err := os.OpenRoot(cmp.Or(opts.Dir, "."))
		if err != nil {
			return err
		}
		defer root.Close()
		c := &creation{rt: r, texts: t}
		if body.Pins, err = c.pins(ctx, root, opts.Model); err != nil {
			return err
		}
		t = c.texts
	}
	if err := o.feed(event.Draft{Parent: o.state.Seq, Time: r.Clock(), Actor: "person", Body: body, Blobs: t.small}); err != nil {
		return err
	}
	if opts.Message == "" {
		return nil
	}
	t.small = nil
	text, err := t.of(ctx, opts.Message, maxInline)
	if err != nil {
		return err
	}
	return o.feed(event.Draft{Time: r.Clock(), Actor: "person", Body: &event.UserMessage{Text: text}, Blobs: t.small})
}

func (r *Runtime) freeName(ctx context.Context, from string) (string, error) {
	for i := 1; i < 1000; i++ {
		suffix := fmt.Sprintf("-fork-%d", i)
		name := from[:min(len(from), 63-len(suffix))] + suffix
		if _, err := r.Ledger.Head(ctx, name); errors.Is(err, ledger.ErrNoQuest) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", errors.New("there are too many forks already: give a name with --name")
}

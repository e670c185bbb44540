package conduct

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/survey"
)

// maxSaid is how many bytes of a text an observation keeps.
const maxSaid = 1000

// work makes the quest of a cell, unless it is there, and has it run until it rests.
func (m *Studies) work(ctx context.Context, s *survey.State, c survey.Cell, interrupt <-chan struct{}) worked {
	w := worked{cell: c.Number}
	q, err := m.make(ctx, s, &c)
	if fault, ok := errors.AsType[*runtime.PlanError](err); ok {
		w.seen = &event.SurveyObserved{Cell: c.Number, State: survey.Refused, Reason: plain.Cut(plain.Line(m.Runtime.Redact(fault.Error())), maxSaid)}
		return w
	}
	if err == nil && !Over(q) {
		q, err = m.run(ctx, c.Quest, interrupt)
	}
	switch {
	case errors.Is(err, runtime.ErrInterrupted) && q != nil:
		w.rest = "interrupted"
	case err != nil && (q == nil || !Over(q)):
		w.err = err
		return w
	}
	if Over(q) {
		w.rest, w.seen = "", observe(c.Number, q)
	} else if w.rest == "" {
		w.rest = q.Rest()
	}
	return w
}

// make makes the quest of a cell. One that is there already must be made of the same quest.yaml, which
// has the hash of the study's first event.
func (m *Studies) make(ctx context.Context, s *survey.State, c *survey.Cell) (q *quest.State, err error) {
	err = m.planned(s, c, func(p runtime.Plan) error {
		q, err = m.create(ctx, p)
		if !errors.Is(err, runtime.ErrExists) {
			return err
		}
		if q, err = m.Runtime.Load(ctx, c.Quest); err != nil {
			return err
		}
		source, err := m.Runtime.Blob(ctx, q.Spec)
		if err == nil && !bytes.Equal(source, p.Source) {
			err = &runtime.PlanError{Err: fmt.Errorf("there is a quest %s that is none of this study's", c.Quest)}
		}
		return err
	})
	return q, err
}

func (m *Studies) create(ctx context.Context, p runtime.Plan) (q *quest.State, err error) {
	create := func() (err error) {
		q, err = m.Runtime.Create(ctx, p)
		return err
	}
	if m.Making != nil {
		err = m.Making(create)
	} else {
		err = create()
	}
	return q, err
}

// run has a quest run until it rests. One that somebody else has is waited for: what came of it counts,
// whoever ran it.
func (m *Studies) run(ctx context.Context, name string, interrupt <-chan struct{}) (*quest.State, error) {
	for {
		var q *quest.State
		var err error
		if m.Run != nil {
			q, err = m.Run(ctx, name, interrupt)
		} else {
			q, err = m.Runtime.Run(ctx, name, runtime.RunOptions{Interrupt: interrupt, Leave: true, OnProgress: m.Say})
		}
		if !errors.Is(err, ledger.ErrClaimed) {
			return q, err
		}
		if q, err = m.await(ctx, name, interrupt); err != nil || Over(q) || ended(interrupt) {
			return q, err
		}
	}
}

// await waits until nobody else has a quest any more.
func (m *Studies) await(ctx context.Context, name string, interrupt <-chan struct{}) (*quest.State, error) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if claimed, err := m.Runtime.Ledger.Claimed(name); err != nil {
			return nil, err
		} else if !claimed {
			return m.Runtime.Load(ctx, name)
		}
		select {
		case <-look.C:
		case <-interrupt:
			return m.Runtime.Load(ctx, name)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// lookEvery is how often a quest that somebody else has is looked at. The end of a process is no event
// that could be followed.
const lookEvery = 300 * time.Millisecond

// Over reports whether a quest will not go on by itself, nor by being run again as it is. One that
// waits for a person, or for its provider, or was paused, will.
func Over(q *quest.State) bool {
	switch {
	case q == nil:
		return false
	case q.Status == quest.Finished:
		return true
	}
	switch q.Rest() {
	case "no-agreement", "budget", "stopped", "failed":
		return true
	}
	return false
}

// observe is what a study records of a quest that is over.
func observe(cell int64, q *quest.State) *event.SurveyObserved {
	b := &event.SurveyObserved{
		Cell: cell, Cost: q.Spent.Cost, Unpriced: q.Spent.Unpriced, Events: q.Seq, Head: q.Hash, Running: q.Elapsed(q.Time),
		Tokens: q.Spent.Usage.Input + q.Spent.Usage.Output, Turns: q.Spent.Turns, State: survey.Finished,
	}
	if q.Status != quest.Finished {
		b.State, b.Reason = q.Rest(), plain.Cut(plain.Line(q.Reason), maxSaid)
	}
	if v := q.Verdict(); v != nil {
		b.Answer, b.Candidate = plain.Cut(plain.Line(v.Value), maxSaid), v.Candidate
		b.Agree, b.Sure = plain.Cut(plain.Line(v.Agree), maxSaid), v.Sure
	}
	return b
}

package service

import (
	"context"
	"fmt"

	"lyceum/internal/analysis"
	"lyceum/internal/browser"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/society/world/trial"
)

// tries answers world.call: it does what the maker wants to see, and looks before and after.
type tries struct{ w *worldBench }

// Start implements runtime.Service.
func (s tries) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.WorldCall)
	return func(ctx context.Context) ([]event.Draft, error) {
		begun, on := s.w.q.Clock(), runtime.Refusable(ctx)
		body, err := s.w.observe(on, e.Seq, b)
		if why, full := runtime.NoRoom(err); full {
			body, err = &event.WorldObserved{End: trial.Unavailable, Error: event.Text{Text: "there is no room to keep what was seen: " + why}}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("world.call %d: %w", e.Seq, err)
		}
		d := s.w.q.Result(e.Seq, "core", body)
		body.Call, body.Duration = e.Seq, int64(max(d.Time-begun, 0))
		return []event.Draft{d}, nil
	}, nil
}

// observe does the steps of a trial, in a fresh computer.
func (w *worldBench) observe(ctx context.Context, seq uint64, b *event.WorldCall) (*event.WorldObserved, error) {
	out := &event.WorldObserved{End: trial.Unavailable}
	if w.q.Driver == nil {
		out.Error.Text = "this quest has no computers to try it in"
		return out, nil
	}
	purpose := fmt.Sprintf("try-%d", seq)
	if w.set.Kind == trial.Program {
		run, err := w.command(ctx, purpose, b.Tree, b.Steps)
		if err != nil {
			return nil, err
		}
		out.End, out.Error.Text, out.Fingerprint = run.End, run.Why, run.in
		if out.After, err = w.kept(ctx, run.Sight, nil); err != nil {
			return nil, err
		}
		return out, compared(ctx, w.q.Runtime, w.set.Kind, b.Expect, out)
	}
	why, err := w.browse(ctx, purpose, func(v visitor, in event.Hash) error {
		out.Fingerprint = in
		seen, err := v.Visit(ctx, browser.Visit{Files: served(ctx, w.q.Blobs, b.Tree), Entry: analysis.Entry, Steps: b.Steps, Limit: maxStory, Picture: true})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			out.Error = w.told(err.Error())
			return nil
		}
		out.End, out.Error = seen.End, w.told(seen.Why)
		if out.Before, err = w.kept(ctx, w.seenPage(seen.Before), seen.Before.Picture); err != nil {
			return err
		}
		out.After, err = w.kept(ctx, w.seenPage(seen.After), seen.After.Picture)
		return err
	})
	if err != nil {
		return nil, err
	}
	if why != "" {
		out.Error = w.told(why)
	}
	return out, compared(ctx, w.q.Runtime, w.set.Kind, b.Expect, out)
}

// compared says of an observation what held, and what changed that nobody foresaw: a function of
// what is recorded of it.
func compared(ctx context.Context, rt *runtime.Runtime, kind string, expect []event.WorldCondition, out *event.WorldObserved) error {
	out.Held, out.Changes, out.Unforeseen = nil, nil, 0
	before, err := recalled(ctx, rt, out.Before)
	if err != nil {
		return err
	}
	after, err := recalled(ctx, rt, out.After)
	if err != nil {
		return err
	}
	if out.End != trial.Done && (kind == trial.Program || len(after.Nodes) == 0) {
		return nil // nothing could be seen
	}
	out.Held = trial.Held(expect, after)
	out.Unforeseen, out.Changes = trial.Unforeseen(before, after, expect)
	return nil
}

package service

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/society/architect/task"
)

// merges answers merge.call.
type merges struct{ q *runtime.Quest }

// Start implements runtime.Service.
func (s *merges) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.MergeCall)
	return func(ctx context.Context) ([]event.Draft, error) {
		tab := s.q.Tab()
		body, err := merge(tab.On(ctx), s.q.Runtime, b)
		if why, full := runtime.NoRoom(err); full {
			body, err = &event.MergeReport{Error: event.Text{Text: "there is no room to keep what was put together: " + why}}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("merge.call %d: %w", e.Seq, err)
		}
		body.Call, body.Stored = e.Seq, tab.Taken()
		return []event.Draft{s.q.Result(e.Seq, "core", body)}, nil
	}, nil
}

// merge puts together what tasks made of a base. The same call gives the same report.
func merge(ctx context.Context, rt *runtime.Runtime, b *event.MergeCall) (*event.MergeReport, error) {
	var parts []repo.Part
	for _, p := range b.Parts {
		parts = append(parts, repo.Part{Name: p.Task, Tree: p.Tree})
	}
	m, err := repo.Merge(ctx, rt.Blobs, b.Base, parts, task.Folded)
	if err != nil {
		return nil, err
	}
	out := &event.MergeReport{Files: int64(len(m.Changes))}
	if len(m.Conflicts) > 0 {
		out.Conflicts = clipped(m.Conflicts, maxListed)
		return out, fit(out, half(&out.Conflicts, 1, nil))
	}
	if err = m.Fits(); err == nil {
		var patch []byte
		if patch, _, err = m.Proven(ctx); err == nil {
			return out, keepMerged(ctx, rt, b, m, patch, out)
		}
	}
	if much, ok := errors.AsType[*repo.TooMuchError](err); ok {
		out.Error.Text = runtime.AtMost(rt.Redact(much.Error()), 1000)
		return out, nil
	}
	return nil, err
}

func keepMerged(ctx context.Context, rt *runtime.Runtime, b *event.MergeCall, m *repo.Merged, patch []byte, out *event.MergeReport) error {
	tree, err := repo.Edited(ctx, rt.Blobs, b.Base, m.Changes)
	if err != nil {
		return err
	}
	ref, err := rt.Blobs.Put(ctx, patch)
	out.Tree, out.Patch = &tree, &ref
	return err
}

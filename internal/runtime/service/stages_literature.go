package service

import (
	"context"
	"fmt"

	"lyceum/internal/arxiv"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages"
)

// literature answers literature.call: it looks through what the study has, and asks outside where
// the call says so. A call that was interrupted is made again: to ask changes nothing.
type literature struct {
	q       *runtime.Quest
	outside Library
}

// Bounds of what is recorded.
const (
	maxHere  = 5000
	maxTitle = 300
	maxAbout = 6000 // of all papers together
)

// Start implements runtime.Service.
func (s *literature) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.LiteratureCall)
	among := stages.Searching(s.q.State, b)
	return func(ctx context.Context) ([]event.Draft, error) {
		r := &event.LiteratureResult{Call: e.Seq}
		here, err := s.q.Find(ctx, among)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if r.Here = runtime.AtMost(here, maxHere); err != nil {
			r.Error = runtime.AtMost(s.q.Redact(err.Error()), 1000)
		}
		if b.Outside {
			if err := s.ask(ctx, b, r); err != nil {
				return nil, fmt.Errorf("literature.call %d: %w", e.Seq, err)
			}
		}
		if err := fit(r, half(&r.Papers, 1, nil)); err != nil {
			return nil, fmt.Errorf("literature.call %d: %w", e.Seq, err)
		}
		return []event.Draft{s.q.Result(e.Seq, "core", r)}, nil
	}, nil
}

// ask asks outside. That nobody answers there is no error of the quest's.
func (s *literature) ask(ctx context.Context, b *event.LiteratureCall, r *event.LiteratureResult) error {
	im, err := s.q.Imported(ctx, s.q.Key)
	if err != nil {
		return err
	}
	if im != nil && !im.Allowed.Reaches(arxiv.Host) {
		r.Unasked = "the quest was imported, and may not ask outside: a person allows it with lyceum run " + s.q.Key + " --allow-network"
		return nil
	}
	papers, err := s.outside.Search(ctx, s.q.Redact(b.Query), int(b.Limit))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.Unasked = runtime.AtMost(s.q.Redact(err.Error()), 1000)
	}
	papers = papers[:min(len(papers), int(b.Limit))]
	for _, p := range papers {
		f := event.FoundPaper{ID: p.ID, Published: p.Published, Title: runtime.AtMost(s.q.Redact(p.Title), maxTitle), Summary: runtime.AtMost(s.q.Redact(p.Summary), maxAbout/len(papers))}
		for _, a := range p.Authors {
			f.Authors = append(f.Authors, runtime.AtMost(s.q.Redact(a), 100))
		}
		r.Papers = append(r.Papers, f)
	}
	return nil
}

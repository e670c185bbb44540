package service

import (
	"context"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/memory"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages/study"
)

// cards answers card.call: it puts cards of the quest into the home's memory, and looks for those
// of others there. A call that was interrupted is made again: what was written stays as it is.
type cards struct {
	q     *runtime.Quest
	store *memory.Store
}

// Start implements runtime.Service.
func (s *cards) Start(e event.Event) (runtime.Work, error) {
	b, quest := e.Body.(*event.CardCall), s.q.State.Name
	return func(ctx context.Context) ([]event.Draft, error) {
		r := &event.CardResult{Call: e.Seq}
		found, err := s.answer(ctx, quest, e, b)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			r.Error = runtime.AtMost(s.q.Redact(err.Error()), 1000)
		default:
			r.Cards = found
		}
		if err := fit(r, half(&r.Cards, 0, nil)); err != nil {
			return nil, err
		}
		return []event.Draft{s.q.Result(e.Seq, e.Actor, r)}, nil
	}, nil
}

// maxFound is how many cards a search for a tool brings.
const maxFound = 10

func (s *cards) answer(ctx context.Context, quest string, e event.Event, b *event.CardCall) ([]event.HomeCard, error) {
	switch {
	case b.Action == study.CardPut && b.Text != nil:
		text, err := s.q.Joined(ctx, []event.Text{*b.Text})
		if err == nil {
			err = s.store.Put(ctx, []byte(text))
		}
		return nil, err
	case b.Action == study.CardApprove:
		return nil, s.store.Approve(ctx, quest, b.ID, b.Revision, e.Actor, e.Time)
	case b.Action == study.CardRead:
		return s.read(ctx, b.ID)
	case b.Action == study.CardSearch:
		return s.search(ctx, quest, b)
	}
	return nil, fmt.Errorf("cards of the home are not asked to %.40q", b.Action)
}

func (s *cards) read(ctx context.Context, id string) ([]event.HomeCard, error) {
	c, err := s.store.Card(ctx, id)
	if err != nil {
		return nil, err
	}
	if c == nil || c.Approved == 0 {
		return nil, fmt.Errorf("there is no card %.40q of the home that a person has approved", id)
	}
	h := c.Home()
	h.Text = &event.Text{Text: event.Shorten(s.q.Redact(c.Whole()), 10<<10)}
	return []event.HomeCard{h}, nil
}

// search looks for cards that a person has approved: for a prompt, among those of others, the
// newest and those with words of the mail; for a tool, those that fit its question.
func (s *cards) search(ctx context.Context, quest string, b *event.CardCall) (out []event.HomeCard, err error) {
	all, _, err := s.store.Cards(ctx)
	if err != nil {
		return nil, err
	}
	all = memory.Approved(all, b.Kinds)
	if b.Answer == 0 {
		all = memory.Plan(memory.Others(all, quest), b.Kinds, b.Query)
	} else if all, err = memory.Find(ctx, all, b.Query, maxFound); err != nil {
		return nil, err
	}
	for _, c := range all {
		h := c.Home()
		h.Title, h.Summary = s.q.Redact(h.Title), s.q.Redact(h.Summary)
		out = append(out, h)
	}
	return out, nil
}

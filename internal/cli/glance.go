package cli

import (
	"context"
	"encoding/json"

	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// glance is what list says of a quest as of its head: all of it follows from the events.
type glance struct {
	Said *questJSON `json:"said"`
	// What questJSON tells people alone.
	Cost   string `json:"cost"`
	Absent string `json:"absent,omitempty"`
	// Inbox is the last command taken: later ones may answer a question.
	Inbox int64 `json:"inbox,omitempty"`
}

// glancer makes them when a quest is made, and when one comes to rest.
var glancer = runtime.Glancer{Form: runtime.FormOf("list", glance{}), Of: func(name string, s *quest.State) ([]byte, error) {
	q := outline(name, s)
	return json.Marshal(glance{q, q.cost, q.absent, s.Inbox})
}}

// list says of all quests what is kept of them, and reads those of which nothing is as of their heads.
func (a *app) list(ctx context.Context) ([]*questJSON, error) {
	all, err := a.rt.Glances(ctx, glancer.Form)
	if err != nil {
		return nil, err
	}
	out, fresh := []*questJSON{}, []ledger.Glance{}
	for _, g := range all {
		q, err := a.kept(ctx, g)
		if q == nil && err == nil {
			q, err = a.listed(ctx, g.Head, &fresh)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	a.rt.KeepGlances(ctx, glancer.Form, fresh)
	return out, nil
}

// kept is what was said of a quest as of its head, and what can change without an event: who has it, and
// whether somebody has answered. It is nil if there is nothing.
func (a *app) kept(ctx context.Context, g runtime.Glanced) (*questJSON, error) {
	var k glance
	if g.Body == nil || json.Unmarshal(g.Body, &k) != nil || k.Said == nil {
		return nil, nil
	}
	q := k.Said
	q.cost, q.absent = k.Cost, k.Absent
	return q, a.stand(ctx, q, k.Inbox)
}

// listed reads a quest, and notes what is said of it.
func (a *app) listed(ctx context.Context, h ledger.Head, fresh *[]ledger.Glance) (*questJSON, error) {
	s, err := a.rt.Load(ctx, h.Quest)
	if err != nil {
		return unreadable(h, err), nil
	}
	if body, err := glancer.Of(h.Quest, s); err == nil {
		*fresh = append(*fresh, ledger.Glance{Quest: h.Quest, Hash: s.Hash, Body: body})
	}
	return a.describe(ctx, h.Quest, s, false)
}

// stand fills in what can change without an event.
func (a *app) stand(ctx context.Context, q *questJSON, inbox int64) (err error) {
	if q.Held, err = a.rt.Ledger.Claimed(q.Quest); err != nil {
		return err
	}
	q.Running = q.Held && q.Status == string(quest.Running)
	if len(q.Questions) == 0 {
		return nil
	}
	answered, err := a.rt.AnsweredSince(ctx, q.Quest, inbox)
	for i := range q.Questions {
		q.Questions[i].Answered = answered[q.Questions[i].ID]
	}
	return err
}

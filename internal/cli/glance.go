package cli

import (
	"context"
	"encoding/json"

	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// glance is what list says of a quest as of its head: all of it follows from the events, but for who
// has the quest now.
type glance struct {
	Head string     `json:"head"`
	Said *questJSON `json:"said"`
	// What questJSON tells people alone.
	Cost   string `json:"cost"`
	Absent string `json:"absent,omitempty"`
}

// glances is what list said the last time. It is a cache of a home: whoever cannot read it reads the
// ledgers, and one that cannot be written is made again.
type glances struct {
	a     *app
	known map[string]glance
	now   map[string]glance
	// fresh says that there is something new in now.
	fresh bool
}

// glancesOf is the name of the file.
const glancesOf = "list"

func (a *app) glances() *glances {
	g := &glances{a: a, now: map[string]glance{}}
	if json.Unmarshal(a.rt.LoadGlances(glancesOf), &g.known) != nil {
		g.known = nil
	}
	return g
}

// find returns what was said of a quest if its head is still the same, nil if it is not.
func (g *glances) find(h ledger.Head) (*questJSON, error) {
	k, ok := g.known[h.Quest]
	if !ok || k.Said == nil || k.Head != h.Hash.String() {
		return nil, nil
	}
	q := k.Said
	q.cost, q.absent = k.Cost, k.Absent
	var err error
	if q.Held, err = g.a.rt.Ledger.Claimed(h.Quest); err != nil {
		return nil, err
	}
	q.Running = q.Held && q.Status == string(quest.Running)
	g.now[h.Quest] = k
	return q, nil
}

// note keeps what is said of a quest, unless it depends on more than its events: whether a question was
// answered is in the inbox.
func (g *glances) note(h ledger.Head, q *questJSON) {
	if q.Hash != h.Hash.String() || len(q.Questions) > 0 {
		return
	}
	g.now[h.Quest], g.fresh = glance{Head: q.Hash, Said: q, Cost: q.cost, Absent: q.absent}, true
}

// save keeps what was said now.
func (g *glances) save() {
	if !g.fresh && len(g.now) == len(g.known) {
		return
	}
	if data, err := json.Marshal(g.now); err == nil {
		_ = g.a.rt.SaveGlances(glancesOf, data)
	}
}

// listed is what list says of a quest.
func (a *app) listed(ctx context.Context, g *glances, h ledger.Head) (*questJSON, error) {
	if q, err := g.find(h); q != nil || err != nil {
		return q, err
	}
	s, err := a.rt.Load(ctx, h.Quest)
	if err != nil {
		return unreadable(h, err), nil
	}
	q, err := a.describe(ctx, h.Quest, s, false)
	if err == nil {
		g.note(h, q)
	}
	return q, err
}

package view

import (
	"cmp"
	"slices"
	"time"

	"lyceum/internal/event"
)

// Charge is what some answers of models have cost together.
type Charge struct {
	// By is what they have in common: a quest, a model, an agent, a day.
	By       string `json:"by"`
	Answers  int64  `json:"answers"`
	Cost     USD    `json:"cost_usd"`
	Unpriced int64  `json:"unpriced_calls,omitempty"`
	// Estimated is how many count with an upper bound, for their provider did not tell.
	Estimated int64 `json:"estimated_calls,omitempty"`
	Input     int64 `json:"input"`
	Cached    int64 `json:"cached"`
	Output    int64 `json:"output"`
}

// Bill is what quests have cost together. An answer that several of them have, since one was forked
// from another, was paid once and counts once.
type Bill struct {
	// By names what an answer is counted under: BillBy has some.
	By func(model string, e event.Event) string
	// Since and Until leave out answers before and from then on, where they are set.
	Since, Until time.Time

	paid  map[event.Hash]bool
	rows  map[string]*Charge
	asked map[uint64]string // the model of each call of quest
	quest string
}

// BillBy are the ways to put answers together. The quest is the one that asked, also in a fork of it;
// a day is that of the reader's clock.
var BillBy = map[string]func(model string, e event.Event) string{
	"quest": func(_ string, e event.Event) string { return e.Quest },
	"model": func(model string, _ event.Event) string { return model },
	"agent": func(_ string, e event.Event) string { return e.Actor },
	"day":   func(_ string, e event.Event) string { return e.Time.Time().Local().Format(time.DateOnly) },
}

// Take adds the next event of a quest.
func (b *Bill) Take(quest string, e event.Event) {
	if b.asked == nil || b.quest != quest {
		b.quest, b.asked = quest, map[uint64]string{}
	}
	switch body := e.Body.(type) {
	case *event.ModelCall:
		b.asked[e.Seq] = body.Model
	case *event.GatewayCall:
		b.asked[e.Seq] = body.Model
	case *event.ModelResult:
		c := Charge{Cost: USD(body.Cost), Input: body.Usage.Input, Cached: body.Usage.Cached, Output: body.Usage.Output}
		if body.Wasted != nil {
			c.Input += body.Wasted.Input
			c.Cached += body.Wasted.Cached
			c.Output += body.Wasted.Output
		}
		b.charge(body.Call, e, c, body.Unpriced, body.Estimated)
	case *event.GatewayResult:
		c := Charge{Cost: USD(body.Cost), Input: body.Usage.Input, Cached: body.Usage.Cached, Output: body.Usage.Output}
		b.charge(body.Call, e, c, body.Unpriced, body.Estimated)
	}
}

func (b *Bill) charge(call uint64, e event.Event, c Charge, unpriced, estimated bool) {
	model := b.asked[call]
	delete(b.asked, call)
	at := e.Time.Time()
	if b.paid[e.Hash] || !b.Since.IsZero() && at.Before(b.Since) || !b.Until.IsZero() && !at.Before(b.Until) {
		return
	}
	if b.paid == nil {
		b.paid, b.rows = map[event.Hash]bool{}, map[string]*Charge{}
	}
	b.paid[e.Hash] = true
	c.Answers = 1
	if unpriced {
		c.Unpriced = 1
	}
	if estimated {
		c.Estimated = 1
	}
	by := b.By(model, e)
	if b.rows[by] == nil {
		b.rows[by] = &Charge{By: by}
	}
	b.rows[by].add(c)
}

func (c *Charge) add(o Charge) {
	c.Answers += o.Answers
	c.Cost += o.Cost
	c.Unpriced += o.Unpriced
	c.Estimated += o.Estimated
	c.Input += o.Input
	c.Cached += o.Cached
	c.Output += o.Output
}

// Charges are what was put together, the dearest first, and all of it.
func (b *Bill) Charges() (rows []Charge, total Charge) {
	rows = []Charge{}
	for _, c := range b.rows {
		rows = append(rows, *c)
		total.add(*c)
	}
	slices.SortFunc(rows, func(x, y Charge) int { return cmp.Or(cmp.Compare(y.Cost, x.Cost), cmp.Compare(x.By, y.By)) })
	return rows, total
}

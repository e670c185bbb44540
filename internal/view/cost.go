package view

import (
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// CostPoint is what had been used up after a model's answer.
type CostPoint struct {
	Seq   uint64     `json:"seq"`
	Time  event.Time `json:"time"`
	Agent string     `json:"agent"`
	// Cost, Input, Cached and Output are of this answer, or of those that it stands for
	// in a series that was thinned.
	Cost   USD   `json:"cost_usd"`
	Total  USD   `json:"total_usd"`
	Input  int64 `json:"input"`
	Cached int64 `json:"cached"`
	Output int64 `json:"output"`
	// Tokens is the sum of all that were read and written so far.
	Tokens   int64 `json:"total_tokens"`
	Unpriced bool  `json:"unpriced"`
}

// CostSeries is what a quest has cost, answer by answer.
type CostSeries struct {
	all   []CostPoint
	total CostPoint
	sums  map[string]*AgentCost
	order []string
}

// AgentCost is what one agent has cost.
type AgentCost struct {
	Agent  string `json:"agent"`
	Cost   USD    `json:"cost_usd"`
	Tokens int64  `json:"tokens"`
	Turns  int64  `json:"turns"`
}

// Take adds the next event of the ledger.
func (c *CostSeries) Take(e event.Event) {
	b, ok := e.Body.(*event.ModelResult)
	if r, passed := e.Body.(*event.GatewayResult); passed {
		b, ok = &event.ModelResult{Cost: r.Cost, Usage: r.Usage, Unpriced: r.Unpriced}, true
	}
	if !ok {
		return
	}
	p := CostPoint{
		Seq: e.Seq, Time: e.Time, Agent: e.Actor, Cost: USD(b.Cost),
		Input: b.Usage.Input, Cached: b.Usage.Cached, Output: b.Usage.Output, Unpriced: b.Unpriced,
	}
	if b.Wasted != nil {
		p.Input += b.Wasted.Input
		p.Output += b.Wasted.Output
	}
	c.total.add(p)
	p.Total, p.Tokens = c.total.Cost, c.total.Input+c.total.Output
	c.all = append(c.all, p)
	if c.sums == nil {
		c.sums = map[string]*AgentCost{}
	}
	a := c.sums[e.Actor]
	if a == nil {
		a = &AgentCost{Agent: e.Actor}
		c.sums[e.Actor], c.order = a, append(c.order, e.Actor)
	}
	a.Cost += p.Cost
	a.Tokens += p.Input + p.Output
	a.Turns++
}

func (p *CostPoint) add(o CostPoint) {
	p.Cost += o.Cost
	p.Input += o.Input
	p.Cached += o.Cached
	p.Output += o.Output
	p.Unpriced = p.Unpriced || o.Unpriced
}

// Agents are what each agent has cost, in the order of their first answers.
func (c *CostSeries) Agents() []AgentCost {
	out := []AgentCost{}
	for _, name := range c.order {
		out = append(out, *c.sums[name])
	}
	return out
}

// Points are the series of an agent, or of all if it is empty, at most max of them.
// Where there are more, neighbours are put together; the sums stay exact.
func (c *CostSeries) Points(agent string, max int) []CostPoint {
	mine := c.all
	if agent != "" {
		mine = nil
		var sum CostPoint
		for _, p := range c.all {
			if p.Agent == agent {
				sum.add(p)
				p.Total, p.Tokens = sum.Cost, sum.Input+sum.Output
				mine = append(mine, p)
			}
		}
	}
	out := []CostPoint{}
	step := (len(mine) + max - 1) / max
	for i := 0; i < len(mine); i += step {
		group := mine[i:min(i+step, len(mine))]
		p := group[len(group)-1]
		for _, o := range group[:len(group)-1] {
			p.add(o)
		}
		out = append(out, p)
	}
	return out
}

// Total is the cost, the tokens, and how many answers have no known price.
func (c *CostSeries) Total() (cost USD, tokens, unpriced int64) {
	for _, p := range c.all {
		if p.Unpriced {
			unpriced++
		}
	}
	return c.total.Cost, c.total.Input + c.total.Output, unpriced
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (u *USD) UnmarshalJSON(data []byte) error {
	v, err := quest.ParseUSD(strings.Trim(string(data), `"`))
	*u = USD(v)
	return err
}

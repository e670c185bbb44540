package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Past is what a quest took that has its answer.
type Past struct {
	Quest, Society string
	// Models are those of its agents, one for each that a model costs something for.
	Models []string
	// Cost is in nanodollars.
	Cost int64
}

// Costly reports whether somebody is paid for a model: not for the demo, nor for a script.
func Costly(model string) bool {
	return model != "" && model != "demo" && !strings.HasPrefix(model, "demo:") && !strings.HasPrefix(model, "script:")
}

// PastOf is what a quest took, nil if that says nothing of others: it has no answer, cost nothing, began
// elsewhere as a fork does, or is not known in full.
func PastOf(name string, s *quest.State) *Past {
	if s.Status != quest.Finished || s.Origin != nil || s.Spent.Unpriced > 0 || s.Spent.Recalled > 0 || s.Spent.Cost <= 0 {
		return nil
	}
	p := &Past{Quest: name, Society: s.Society(), Cost: s.Spent.Cost}
	for _, g := range s.Agents {
		if Costly(g.Model) {
			p.Models = append(p.Models, g.Model)
		}
	}
	if len(p.Models) == 0 {
		return nil
	}
	return p
}

// Estimate is what a quest will cost, by what quests like it took.
type Estimate struct {
	// Cost is the median, Least and Most are the cheapest and the dearest of what it rests on.
	Cost  USD `json:"cost_usd"`
	Least USD `json:"least_usd"`
	Most  USD `json:"most_usd"`
	// Grounds are what it rests on, one for each model of the quest.
	Grounds []Ground `json:"grounds"`
}

// Ground is what part of an estimate rests on.
type Ground struct {
	Model  string `json:"model"`
	Agents int    `json:"agents"`
	// Quests took that much. Scaled says that they had other numbers of agents, and Other is
	// the model that they had instead, whose prices were compared.
	Quests []string `json:"quests"`
	Scaled bool     `json:"scaled,omitempty"`
	Other  string   `json:"other_model,omitempty"`
}

// Foresee says what a quest of a society with these models, one for each agent, will cost. It knows
// nothing but the past: without a quest that is alike, ok is false and missing is the model of which
// nothing is known. price is nil for a model without a known one.
func Foresee(past []Past, society string, models []string, price func(model string) *event.Price) (e Estimate, missing string, ok bool) {
	count, order := map[string]int{}, []string{}
	for _, m := range models {
		if count[m]++; count[m] == 1 {
			order = append(order, m)
		}
	}
	for _, m := range order {
		g := Ground{Model: m, Agents: count[m]}
		costs := g.alike(past, society, len(order) == 1)
		if len(costs) == 0 {
			costs = g.dearer(past, society, price)
		}
		if len(costs) == 0 {
			return Estimate{}, m, false
		}
		slices.Sort(costs)
		e.Cost += USD((costs[(len(costs)-1)/2] + costs[len(costs)/2]) / 2)
		e.Least += USD(costs[0])
		e.Most += USD(costs[len(costs)-1])
		e.Grounds = append(e.Grounds, g)
	}
	return e, "", len(order) > 0
}

// alike are the costs of quests of the society whose agents all have the model: those with as many
// agents, if there are some, or else the share of an agent of each, times the agents.
func (g *Ground) alike(past []Past, society string, alone bool) (costs []int64) {
	var same []Past
	for _, p := range past {
		if p.Society == society && p.only() == g.Model {
			same = append(same, p)
		}
	}
	if exact := slices.DeleteFunc(slices.Clone(same), func(p Past) bool { return len(p.Models) != g.Agents }); alone && len(exact) > 0 {
		same = exact
	}
	for _, p := range same {
		g.Quests = append(g.Quests, p.Quest)
		g.Scaled = g.Scaled || len(p.Models) != g.Agents
		costs = append(costs, p.shared(g.Agents))
	}
	return costs
}

// dearer are the costs of quests of the society with another model, if the prices of both are known:
// as much as the prices differ, least and most. The model with the most quests is taken.
func (g *Ground) dearer(past []Past, society string, price func(string) *event.Price) (costs []int64) {
	own := price(g.Model)
	by := map[string][]Past{}
	for _, p := range past {
		if m := p.only(); p.Society == society && m != "" && price(m) != nil {
			by[m] = append(by[m], p)
		}
	}
	if own == nil || len(by) == 0 {
		return nil
	}
	best := ""
	for m := range by {
		if n := len(by[m]) - len(by[best]); best == "" || n > 0 || n == 0 && m < best {
			best = m
		}
	}
	least, most, ok := ratio(*own, *price(best))
	if !ok {
		return nil
	}
	g.Other = best
	for _, p := range by[best] {
		g.Quests = append(g.Quests, p.Quest)
		g.Scaled = g.Scaled || len(p.Models) != g.Agents
		cost := float64(p.shared(g.Agents))
		costs = append(costs, int64(cost*least), int64(cost*most))
	}
	return costs
}

// ratio is how much dearer tokens are than others: read ones, those from a cache, written ones.
func ratio(of, than event.Price) (least, most float64, ok bool) {
	for _, p := range [][2]int64{{of.Input, than.Input}, {cmp.Or(of.Cached, of.Input), cmp.Or(than.Cached, than.Input)}, {of.Output, than.Output}} {
		if p[1] <= 0 {
			continue
		}
		r := float64(p[0]) / float64(p[1])
		if !ok {
			least, most, ok = r, r, true
		}
		least, most = min(least, r), max(most, r)
	}
	return least, most, ok
}

// only is the model that all agents have, empty if they have several or none.
func (p *Past) only() string {
	if len(p.Models) == 0 || slices.ContainsFunc(p.Models, func(m string) bool { return m != p.Models[0] }) {
		return ""
	}
	return p.Models[0]
}

// shared is what so many agents would have cost.
func (p *Past) shared(agents int) int64 {
	return int64(float64(p.Cost) / float64(len(p.Models)) * float64(agents))
}

// Words say how much, and what that rests on.
func (e *Estimate) Words(society string) string {
	text := "about " + Dollars(int64(e.Cost))
	if e.Least != e.Most {
		text += fmt.Sprintf(" (%s to %s)", Dollars(int64(e.Least)), Dollars(int64(e.Most)))
	}
	var grounds []string
	for _, g := range e.Grounds {
		grounds = append(grounds, g.words(society))
	}
	return text + ": " + strings.Join(grounds, "; ")
}

// maxNamed is how many quests a ground names.
const maxNamed = 3

func (g *Ground) words(society string) string {
	names := strings.Join(g.Quests[:min(len(g.Quests), maxNamed)], ", ")
	if more := len(g.Quests) - maxNamed; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	text := fmt.Sprintf("%s with %s, by what %s of %s took here (%s)", Several(int64(g.Agents), "agent"), g.Model, Several(int64(len(g.Quests)), "quest"), society, names)
	if g.Other != "" {
		text += " with " + g.Other + " at the prices of both"
	}
	if g.Scaled {
		text += ", for each agent"
	}
	return text
}

// Weighing is what is known of the cost of a run before it begins, in nanodollars.
type Weighing struct {
	Society  string
	Spent    int64
	Limit    *int64 // on the quest's cost, nil for none
	Confirm  int64  // above which a person is asked
	Estimate Estimate
	Known    bool
	Missing  string // a model of which nothing is known
}

// Weigh is Foresee of what has costly models, with what is to be said of it.
func Weigh(past []Past, society string, models []string, price func(model string) *event.Price) *Weighing {
	w := &Weighing{Society: society}
	costly := slices.DeleteFunc(slices.Clone(models), func(m string) bool { return !Costly(m) })
	w.Estimate, w.Missing, w.Known = Foresee(past, society, costly, price)
	return w
}

// rest is what is still to come, if that is known: no more than a limit leaves.
func (w *Weighing) rest() int64 {
	rest := max(int64(w.Estimate.Cost)-w.Spent, 0)
	if w.Limit != nil {
		rest = min(rest, max(*w.Limit-w.Spent, 0))
	}
	return rest
}

// Dear reports whether a person should say yes first. Of what nobody knows, that is asked only of
// who wants to be asked always.
func (w *Weighing) Dear() bool {
	if !w.Known {
		return w.Confirm == 0 && w.Limit == nil
	}
	return w.rest() > w.Confirm
}

// Words say it.
func (w *Weighing) Words() string {
	var text string
	if w.Known {
		text = "Estimate: " + w.Estimate.Words(w.Society)
	} else {
		text = fmt.Sprintf("Estimate: unknown. No quest of %s with %s, or with another model whose price is known, has its answer in this home yet", w.Society, w.Missing)
	}
	if w.Spent > 0 {
		text += fmt.Sprintf(". So far it has cost %s", Dollars(w.Spent))
	}
	if w.Limit != nil && (!w.Known || int64(w.Estimate.Most) > *w.Limit) {
		text += fmt.Sprintf(". The limit on its cost is %s", Dollars(*w.Limit))
	}
	return text
}

package view

import (
	"slices"
	"strings"
	"time"

	"lyceum/internal/event"
)

// RateSpan is how far back a rate looks.
const RateSpan = 5 * time.Minute

// leastSpan is the shortest time that a rate is made of: one answer in the first second of a quest
// says nothing of the minute.
const leastSpan = 20 * time.Second

// Rates is how fast a quest spends: its last answers of models.
type Rates struct {
	first event.Time // the first event that was taken
	all   []spending
}

// spending is what an answer took.
type spending struct {
	time         event.Time
	cost, tokens int64
}

// Rate is how fast a quest spends now.
type Rate struct {
	// Cost is in nanodollars a minute, Tokens in tokens a second.
	Cost, Tokens float64
	// Costs and Spent are the cost and the tokens of each thirtieth of the RateSpan.
	Costs, Spent [Sparks]int64
}

// Take adds the next event of the ledger.
func (r *Rates) Take(e event.Event) {
	if r.first == 0 {
		r.first = e.Time
	}
	var c CostSeries
	if c.Take(e); len(c.all) == 0 {
		return
	}
	p := c.all[0]
	r.all = append(r.all, spending{e.Time, int64(p.Cost), p.Input + p.Output})
	if old := e.Time - event.Time(RateSpan.Microseconds()); len(r.all) > 64 && r.all[len(r.all)/2].time < old {
		r.all = slices.DeleteFunc(r.all, func(s spending) bool { return s.time < old })
	}
}

// At is the rate at a time, zero if nothing was spent lately.
func (r *Rates) At(now event.Time) (out Rate) {
	span := event.Time(RateSpan.Microseconds())
	from := now - span
	var cost, tokens int64
	for _, s := range r.all {
		if s.time <= from || s.time > now {
			continue
		}
		cost += s.cost
		tokens += s.tokens
		i := min(int((s.time-from)*Sparks/span), Sparks-1)
		out.Costs[i] += s.cost
		out.Spent[i] += s.tokens
	}
	took := min(max(now-r.first, event.Time(leastSpan.Microseconds())), span)
	seconds := float64(took) / 1e6
	out.Cost, out.Tokens = float64(cost)/seconds*60, float64(tokens)/seconds
	return out
}

// Bars draw numbers as a line of small bars, one character each. What is more than nothing is seen.
func Bars(counts []int64) string {
	most := slices.Max(append(slices.Clone(counts), 0))
	var b strings.Builder
	steps := []rune("▁▂▃▄▅▆▇█")
	for _, n := range counts {
		if n <= 0 {
			b.WriteRune(' ')
			continue
		}
		b.WriteRune(steps[min(int(float64(n)/float64(most)*float64(len(steps))), len(steps)-1)])
	}
	return b.String()
}

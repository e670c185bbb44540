package cli

import (
	"cmp"
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/view"
)

// foretell says what foretold does, by the prices of now.
func (a *app) foretell(s *quest.State, limits event.Limits) {
	for _, line := range foretold(s, limits, func(model string) *event.Price { return a.rt.Known(model).Price }) {
		fmt.Fprintln(a.err, line)
	}
}

// foretold says before a run by how much limits may be passed: calls that are under way
// when one is reached still come in. Strict limits are not passed.
func foretold(s *quest.State, limits event.Limits, price func(model string) *event.Price) (lines []string) {
	if s.Limits.Strict {
		return nil
	}
	for _, l := range []struct {
		name string
		most *int64
		used int64
		call func(*agent.Agent) int64 // what a call uses at most, 0 if nobody knows
		in   func(int64) string
	}{
		{"cost", cmp.Or(limits.Cost, s.Limits.Cost), s.Spent.Cost, func(a *agent.Agent) int64 { return mostCost(a, price(a.Model)) }, view.Dollars},
		{"tokens", cmp.Or(limits.Tokens, s.Limits.Tokens), s.Spent.Usage.Input + s.Spent.Usage.Output, mostTokens, func(n int64) string { return view.Several(n, "token") }},
	} {
		if l.most == nil || *l.most == 0 {
			continue
		}
		var each []int64
		for _, a := range s.Agents {
			if a.Mind() == agent.ByModel {
				each = append(each, l.call(a))
			}
		}
		others := len(each) - 1
		if others < 1 {
			continue
		}
		text := fmt.Sprintf("The limit on %s can be passed by up to %s: what is under way when it is reached still comes in.", l.name, view.Several(int64(others), "call"))
		over := func(n int64) string {
			percent := float64(n) / float64(*l.most) * 100
			return fmt.Sprintf("%s, %s %% over", l.in(n), view.Number(int64(percent+0.999)))
		}
		slices.Sort(each)
		switch {
		case s.Spent.Turns > 0 && l.used > 0:
			text += " By the calls so far that is about " + over(l.used/s.Spent.Turns*int64(others)) + "."
		case each[0] > 0: // known of all
			var sum int64
			for _, n := range each[1:] {
				sum += n
			}
			text += " That is up to " + over(sum) + "."
		}
		lines = append(lines, text+" limits.strict, or --"+strictFlag+" when a quest is made, has it kept.")
	}
	return lines
}

// mostTokens is how many tokens a call of an agent has whose window is full.
func mostTokens(a *agent.Agent) int64 {
	_, output := a.Bound("")
	if output == 0 {
		return 0
	}
	return a.Limit + output
}

// mostCost is what such a call costs.
func mostCost(a *agent.Agent, p *event.Price) int64 {
	tokens := mostTokens(a)
	if p == nil || tokens == 0 {
		return 0
	}
	return p.Most(a.Limit, tokens-a.Limit)
}

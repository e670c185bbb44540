package quest

import (
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// Strict limits. Before a model is asked, the most that the call can use is reserved, by the
// price and the length of answers that the quest was made with. A call for which there is
// not enough beside what is spent and what is reserved waits until the results of those
// under way are in, for most use less than was reserved. If none is under way, the limit
// is reached. Turns need no reserve: they count when a call is made.

// reserve is what the next call of an agent can use at most; nothing, if the limits are not
// strict.
func (s *State) reserve(a *agent.Agent) (next policy.Spent) {
	if s.Limits.Strict && a != nil && a.Mind() == agent.ByModel {
		next.Cost, next.Tokens = a.Reserve(s.Texts[textCompact])
	}
	return next
}

// lacks says which limit of the quest the next call of an agent could pass, together with
// those under way; nil if none.
func (s *State) lacks(a *agent.Agent) *policy.Over {
	if !s.Limits.Strict {
		return nil
	}
	used := s.used(s.Time)
	for _, c := range s.Calls {
		used.Cost, used.Tokens = sum(used.Cost, c.Cost), sum(used.Tokens, c.Tokens)
	}
	limits := event.Share{Cost: s.Limits.Cost, Tokens: s.Limits.Tokens}
	return reached("quest", limits, used, s.reserve(a))
}

// sum adds what may be the highest number there is.
func sum(a, b int64) int64 {
	if c := a + b; c >= a {
		return c
	}
	return 1<<63 - 1
}

// scarce is what follows when there is not enough for a call: it waits for those under way,
// or a limit is reached.
func (s *State) scarce(e event.Event, o *policy.Over) []event.Draft {
	for _, c := range s.Calls {
		if c.Kind == "model.call" {
			return nil
		}
	}
	return []event.Draft{exceeded(e, o)}
}

// CheckReserve tells whether limits can be strict for an agent: what its calls can use at
// most must be known.
func CheckReserve(a *agent.Agent, l event.Limits) error {
	cost, tokens := l.Cost != nil, l.Tokens != nil
	if l.Agent != nil {
		cost, tokens = cost || l.Agent.Cost != nil, tokens || l.Agent.Tokens != nil
	}
	if !l.Strict || a.Mind() != agent.ByModel || !cost && !tokens {
		return nil
	}
	if _, output := a.Bound(""); output == 0 {
		return Fault("limits.strict", "limits on cost and tokens cannot be strict with the model %s: nobody knows how long its answers can be; give max_output in quest.yaml, or in config.yaml for the model", a.Model)
	}
	if cost && a.Price == nil {
		return Fault("limits.strict", "a limit on the cost cannot be strict with the model %s: nobody knows what its tokens cost; give its price in config.yaml, or limit tokens instead", a.Model)
	}
	return nil
}

// CheckLimits tells whether the quest can have other limits.
func (s *State) CheckLimits(l event.Limits) error {
	if l.Strict {
		return fmt.Errorf("quest %s: limits are strict from the beginning, or never", s.Name)
	}
	for _, a := range s.Agents {
		if err := CheckReserve(a, with(s.Limits, l)); err != nil {
			return fmt.Errorf("quest %s: %w", s.Name, err)
		}
	}
	return nil
}

// checkFork tells whether a fork can have another model.
func (s *State) checkFork(model string) error {
	if model == "" || !s.Limits.Strict {
		return nil
	}
	return fmt.Errorf("the limits of quest %s are strict, by the price and the answers of its own model: fork it without another model, or make it anew with that", s.Name)
}

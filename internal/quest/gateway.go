package quest

import (
	"fmt"
	"math"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// Requests of outside agents to the model gateway. Each is put to the policies before it
// goes out, as a model call is, and counts in the same limits: cost, tokens and time, and
// as a turn, but for those that only count tokens. What the agent itself calls a turn, a
// prompt with all that it leads to, is many of them.

// checkAsked tells whether an outside agent may send a request now.
func (s *State) checkAsked(actor string, b *event.GatewayAsked) error {
	a := s.Agent(actor)
	if err := s.checkSampled(a, actor, b); err != nil {
		return err
	}
	own := b.Server == ""
	switch {
	case own && (a == nil || a.Mind() != agent.ByOutside):
		return fmt.Errorf("quest %s has no outside agent %s", s.Name, actor)
	case s.Status != Running:
		return fmt.Errorf("quest %s is %s: it asks no models", s.Name, s.Status)
	case own && !a.Working():
		return fmt.Errorf("agent %s has no open prompt: it asks no models", a.Name)
	case own && a.Serves(b.Model) == "":
		return fmt.Errorf("the quest lists no model %.80q for agent %s", b.Model, a.Name)
	case b.ID == "" || slices.ContainsFunc(a.Requests, func(r agent.Request) bool { return r.ID == b.ID }):
		return fmt.Errorf("agent %s has sent the request %.80q already", a.Name, b.ID)
	case len(a.Requests) >= agent.MaxRequests:
		return fmt.Errorf("agent %s has %d requests open: it must wait for one of them", a.Name, len(a.Requests))
	case b.Most.Input < 0 || b.Most.Output < 0 || b.Size < 0:
		return fmt.Errorf("the request %.80q is smaller than nothing", b.ID)
	}
	return nil
}

// passOn lets the next request of an outside agent pass, or refuses it.
func (s *State) passOn(a *agent.Agent, e event.Event) []event.Draft {
	for i := range a.Requests {
		r := &a.Requests[i]
		if r.Call != 0 {
			continue
		}
		from := e
		from.Seq = r.Asked
		if over := s.requestOver(a, r); over != nil {
			return []event.Draft{After(from, a.Name, "", &event.PolicyBlocked{Answer: r.Asked, By: over, ID: r.ID, Proposal: "gateway.call"})}
		}
		switch v := s.judgeRequest(e, a, r); {
		case v.passes:
			return []event.Draft{After(from, a.Name, "", &event.GatewayCall{Asked: r.Asked, Count: r.Count, ID: r.ID, Model: r.Model})}
		case v.instead != nil:
			return v.instead
		case !v.waits:
			return []event.Draft{After(from, a.Name, "", &event.PolicyBlocked{Answer: r.Asked, By: v.by, ID: r.ID, Proposal: "gateway.call"})}
		}
	}
	return nil
}

func requestOf(a *agent.Agent, asked uint64) matter {
	return matter{kind: "gateway.call", actor: a.Name, at: agent.Place{Answer: asked}}
}

// gatewayFacts is what policies are told of a request. One that only counts costs nothing
// and reaches no limit.
func (s *State) gatewayFacts(a *agent.Agent, r *agent.Request, now event.Time) *policy.Facts {
	f := s.modelFacts(a, now)
	f.Model, f.Turn = r.Model, a.Turns+a.Requested+1
	if r.Server != "" {
		f.Source, f.Trust, f.Text = r.Server, event.TrustStranger, r.Text
	}
	if r.Count {
		f.Over = nil
	} else if f.Over == nil {
		f.Over = s.lacksFor(a, r)
	}
	return f
}

// lacksFor says which limit a request would pass, where limits are strict.
func (s *State) lacksFor(a *agent.Agent, r *agent.Request) *policy.Over {
	if !s.Limits.Strict {
		return nil
	}
	next, used := reserveFor(a, r), s.used(s.Time)
	for _, c := range s.Calls {
		used.Cost, used.Tokens = sum(used.Cost, c.Cost), sum(used.Tokens, c.Tokens)
	}
	if o := reached("quest", event.Share{Cost: s.Limits.Cost, Tokens: s.Limits.Tokens}, used, next); o != nil || s.Limits.Agent == nil {
		return o
	}
	mine := usedBy(a)
	for _, c := range s.Calls {
		if c.Agent == a.Name {
			mine.Cost, mine.Tokens = sum(mine.Cost, c.Cost), sum(mine.Tokens, c.Tokens)
		}
	}
	return reached("agent", event.Share{Cost: s.Limits.Agent.Cost, Tokens: s.Limits.Agent.Tokens}, mine, next)
}

// reserveFor is what a request can use at most. What a model costs that is not the agent's
// own, nobody pinned.
func reserveFor(a *agent.Agent, r *agent.Request) (next policy.Spent) {
	next.Cost, next.Tokens = math.MaxInt64, r.Most.Input+r.Most.Output
	if a.Price != nil && r.Model == a.Model {
		next.Cost = a.Price.Most(r.Most.Input, r.Most.Output)
	}
	return next
}

// sent takes in that a request has gone out.
func (s *State) sent(e event.Event, b *event.GatewayCall) {
	a := s.Agent(e.Actor)
	r := a.Request(b.Asked)
	c := Call{Kind: e.Type, Agent: e.Actor, Model: r.Model, Count: r.Count}
	if r.Most != (event.Usage{}) {
		c.Most = new(r.Most)
	}
	if !r.Count {
		if s.Limits.Strict {
			next := reserveFor(a, r)
			c.Cost, c.Tokens = next.Cost, next.Tokens
		}
		s.Spent.Turns++
	}
	s.Calls[e.Seq] = c
	a.Sent(e.Seq, b)
}

// received takes in what came of a request.
func (s *State) received(b *event.GatewayResult) {
	c := s.Calls[b.Call]
	delete(s.Calls, b.Call)
	s.Spent.Cost += b.Cost
	if b.Unpriced {
		s.Spent.Unpriced++
	}
	if b.Estimated {
		s.Spent.Estimated++
	}
	s.Spent.Usage.Add(b.Usage)
	if a := s.Agent(c.Agent); a != nil {
		a.Received(b)
	}
}

// afterRefusal ends a quest's run at its limit, once the agent has heard of it.
func (s *State) afterRefusal(a *agent.Agent, e event.Event) []event.Draft {
	if over := s.over(a, e.Time); over != nil && over.Of == "quest" {
		return []event.Draft{exceeded(e, over)}
	}
	return nil
}

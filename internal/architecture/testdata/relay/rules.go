// Package relay is a society that a test adds to the binary: runners pass a token and
// somebody counts. See sixth_test.go of the package architecture.
package relay

import (
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
)

// Society is the rules of the relay. Its runners work by rules alone.
type Society struct{}

var (
	_ quest.Cast   = Society{}
	_ quest.Knower = Society{}
	_ quest.Host   = Society{}
	_ quest.Keyed  = Society{}
)

// Runners are the agents, in the order in which they get the token.
var Runners = []string{"runner-0", "runner-1", "runner-2"}

func (Society) Rules() string               { return "relay/1" }
func (Society) Traits() quest.Traits        { return quest.Traits{Couples: true, ByRules: true} }
func (Society) Texts() []event.NamedText    { return nil }
func (Society) Policies() []behavior.Thread { return nil }
func (Society) Check(*quest.Spec) error     { return nil }
func (Society) Blank() quest.Memory         { return &Race{} }
func (Society) Roles(*quest.Spec, bool, bool) []quest.Role {
	var out []quest.Role
	for _, name := range Runners {
		out = append(out, quest.Role{Name: name})
	}
	return out
}

// Proposals implements quest.Proposer.
func (Society) Proposals() []event.Type { return []event.Type{"token.passed"} }

func (Society) Answered(*quest.State, *agent.Agent, event.Event) []event.Draft { return nil }
func (Society) Failed(*quest.State, *agent.Agent, event.Event) []event.Draft   { return nil }
func (Society) Parked(*quest.State, *agent.Agent, event.Event) []event.Draft   { return nil }

// Keys implements quest.Keyed.
func (Society) Keys() []quest.Key {
	return []quest.Key{quest.NumberKey("laps", "how often the token goes round", 1, 10_000)}
}

// Settle implements quest.Keyed.
func (Society) Settle(s *quest.Spec, b *event.QuestCreated) error {
	r := Race{Laps: 3}
	if laps := quest.ValueOf[int64](s, "laps"); laps != nil {
		r.Laps = *laps
	}
	return quest.Record(b, r)
}

// Begin implements quest.Knower.
func (Society) Begin(_ *quest.State, b *event.QuestCreated) quest.Memory {
	r := &Race{}
	if err := quest.Recorded(b, r); err != nil {
		panic(err)
	}
	return r
}

// Race is what the relay knows: how often the token was passed, and what was counted.
type Race struct {
	Laps    int64 `json:"laps"`
	Passed  int64 `json:"passed,omitzero"`
	Counted int64 `json:"counted,omitzero"`
	// Asked is the call that counts, 0 for none; Dropped says that policies were against
	// the last pass.
	Asked   uint64 `json:"asked,omitzero"`
	Dropped bool   `json:"dropped,omitzero"`
}

// Apply implements quest.Memory.
func (r *Race) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case *event.TokenPassed:
		r.Passed++
	case *event.TokenCount:
		r.Asked = e.Seq
	case *event.TokenCounted:
		r.Asked, r.Counted = 0, b.Count
	case *event.PolicyBlocked:
		r.Dropped = b.Proposal == "token.passed"
	}
}

func (r *Race) Abandon()                          { r.Asked = 0 }
func (r *Race) Happened(string, agent.Place) bool { return false }
func (r *Race) Facts(e event.Event, f *policy.Facts) {
	if b, ok := e.Body.(*event.TokenPassed); ok {
		f.To = b.To
	}
}
func (r *Race) CallFacts(*policy.Facts) {}

// Tend implements quest.Host: whoever has the token passes it on, once all passes have
// been counted.
func (Society) Tend(s *quest.State, e event.Event) []event.Draft {
	r := s.Memory().(*Race)
	holder := Runners[r.Passed%int64(len(Runners))]
	switch {
	case r.Asked != 0:
		return nil
	case r.Dropped:
		return []event.Draft{quest.After(e, "core", "", &event.QuestFailed{Reason: "The token was dropped."})}
	case r.Counted < r.Passed:
		return []event.Draft{quest.After(e, "core", "", &event.TokenCount{So: r.Counted})}
	case r.Passed == r.Laps*int64(len(Runners)):
		return []event.Draft{quest.After(e, holder, "", &event.QuestFinished{Answer: event.Text{Text: fmt.Sprintf("The token was passed %d times.", r.Counted)}})}
	}
	next := Runners[(r.Passed+1)%int64(len(Runners))]
	return s.Propose(e, quest.After(e, holder, "", &event.TokenPassed{To: next}))
}

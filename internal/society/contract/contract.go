// Package contract is a society with roles: a planner splits the task, workers bid for
// its parts, researchers search a corpus, executors compute on data, an auditor
// looks for what is weak, and the planner writes an answer in which every claim names
// what it rests on.
//
// All of it works by rules alone. Where the quest names a model, the planner thinks
// with it: it says what is to be found out and writes the claims, and an executor
// writes programs. Contracts, evidence, audit and the weighing of claims stay with the
// rules; and if the model fails, the rules go on from what there is.
//
// What is to be done next follows from the state, one step at a time. A quest that is
// cut anywhere and goes on does nothing twice.
package contract

import (
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract/tender"
)

// Society is the rules of the contract net.
type Society struct{}

var (
	_ quest.Knower  = Society{}
	_ quest.Toolbox = Society{}
	_ quest.Minder  = Society{}
	_ quest.Host    = Society{}
	_ quest.Cast    = Society{}
	_ quest.Sampler = Society{}
	_ quest.Keyed   = Society{}
)

// Rules implements quest.Society.
func (Society) Rules() string { return "contract/2" }

// Traits implements quest.Society: a net has few agents, and any may wait for any; its
// executors compute in a computer where there can be one, and all of it works by rules
// alone.
func (Society) Traits() quest.Traits {
	return quest.Traits{Couples: true, Wakes: true, Computes: true, ByRules: true}
}

// Policies implements quest.Society.
func (Society) Policies() []behavior.Thread { return policies() }

// Texts implements quest.Society.
func (Society) Texts() []event.NamedText { return texts }

// Own implements quest.Toolbox.
func (Society) Own() []quest.OwnTool { return tools }

// The agents. All but the planner and the coder work by rules alone.
const (
	Planner   = "planner"
	Lexical   = "researcher-lexical"
	Hybrid    = "researcher-hybrid"
	Python    = "executor-python"
	Builtin   = "executor-builtin"
	Coder     = "executor-coder"
	Auditor   = "auditor"
	Recompute = "auditor-recompute"
)

// Roles implements quest.Cast.
func (Society) Roles(_ *quest.Spec, model, computers bool) []quest.Role {
	roles := []quest.Role{
		{Name: Planner, Thinks: model, Text: "system", Own: []string{delegate, sendMessage, submitAnswer}},
		{Name: Lexical}, {Name: Hybrid}, {Name: Python}, {Name: Builtin},
	}
	if model && computers {
		roles = append(roles, quest.Role{Name: Coder, Thinks: true, Text: "system-" + Coder, Own: []string{reportResult, sendMessage}, World: true})
	}
	return append(roles, quest.Role{Name: Auditor}, quest.Role{Name: Recompute})
}

// The kinds of work.
const (
	research = "research"
	read     = "read" // research, of what stands around a source
	compute  = "compute"
	audit    = "audit"
	wait     = "wait"
)

// maxIdle is how many turns in a row without a tool call park an agent.
const maxIdle = 3

// Answered implements quest.Society: what a model says without a tool does nothing.
func (Society) Answered(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	if a.Idle >= maxIdle {
		return one(e, a.Name, &event.AgentParked{Reason: fmt.Sprintf("%s has answered %d times in a row without calling a tool.", a.Name, a.Idle)})
	}
	return one(e, "core", &event.MessageSent{To: a.Name, Text: event.Text{Text: s.Texts["idle-"+a.Name]}})
}

// Failed implements quest.Society: the rules go on without the model.
func (Society) Failed(_ *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	reason := "it answered nothing, three times in a row"
	if a.Failed != nil {
		reason = event.Shorten(a.Failed.Text, 2000)
	}
	return one(e, a.Name, &event.AgentParked{Reason: "The model of " + a.Name + " failed: " + reason})
}

// Parked implements quest.Society: Tend goes on without the agent.
func (Society) Parked(*quest.State, *agent.Agent, event.Event) []event.Draft { return nil }

// Before implements quest.Minder: the coder has nothing to do until it has a contract.
func (Society) Before(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	if a.Name == Coder && a.Parked == "" && contractOf(Net(s), Coder) == nil {
		return one(e, a.Name, &event.AgentParked{Reason: waitsForContract})
	}
	return nil
}

const waitsForContract = "It has no contract."

// contractOf is the part of the plan that a worker has, nil if it has none.
func contractOf(n *tender.Net, worker string) *tender.Task {
	for _, t := range n.Tasks {
		if !t.Done && t.Worker == worker && t.Told {
			return t
		}
	}
	return nil
}

// thinking reports whether the planner's model leads.
func thinking(s *quest.State) bool {
	p := s.Agent(Planner)
	return p != nil && p.Model != "" && p.Parked == "" && !p.GaveUp()
}

// Tend implements quest.Host.
func (Society) Tend(s *quest.State, e event.Event) []event.Draft {
	if step := begin(s, e); step != nil {
		return step
	}
	n := Net(s)
	for _, t := range n.Tasks {
		if t.Kind == audit && !t.Done {
			if !ready(n) {
				continue
			}
			if step := beforeAudit(s, t, e); step != nil {
				return step
			}
		}
		if step := work(s, t, e); step != nil {
			return step
		}
		if !t.Done {
			// A plan is done one part after another: the same quest has the same ledger, and
			// its sources the same numbers, however long each part takes.
			return nil
		}
	}
	if n.Plans == 0 || !n.Idle() {
		return nil
	}
	return conclude(s, e)
}

// ready reports whether all that an audit looks at is there.
func ready(n *tender.Net) bool {
	return !slices.ContainsFunc(n.Tasks, func(t *tender.Task) bool { return t.Kind != audit && !t.Done })
}

// one drafts the one event that follows.
func one(e event.Event, actor string, b event.Body) []event.Draft {
	return []event.Draft{quest.After(e, actor, "", b)}
}

// tell drafts a message between agents that is for the record.
func tell(e event.Event, from, performative string, reply uint64, text string) []event.Draft {
	return one(e, from, &event.MessageSent{
		Performative: performative, Quiet: true, Reply: reply, Text: event.Text{Text: event.Shorten(text, 2000)}, To: Planner,
	})
}

// program is a program that the quest was made with, nil if there is none of that
// name.
func program(s *quest.State, name string) *event.Ref {
	i := slices.IndexFunc(s.Pins, func(p event.Pin) bool { return p.Name == "program:"+name })
	if i < 0 {
		return nil
	}
	return &s.Pins[i].Ref
}

// Samples implements quest.Sampler: all but the planner bid against each other.
func (Society) Samples(_ *quest.State, a *agent.Agent) bool { return a.Name != Planner }

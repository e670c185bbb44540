// Package architect is a society of one that thinks and others that act: an architect plans
// tasks, hands them over to executors, and judges what comes of them. It touches no file and
// runs no command. What an executor says is a claim; what counts is the tree that it leaves,
// and what the acceptance commands say of that.
//
// Each step follows from the state, one at a time: see Tend. Every rule has a way to mend what
// breaks it: the executor is told once what is wrong, precisely; then the task has an error
// that says so. Nothing is made up in an executor's place, and no limit counts as success.
package architect

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
)

// Society is the rules of the architect.
type Society struct{}

var (
	_ quest.Knower    = Society{}
	_ quest.Toolbox   = Society{}
	_ quest.Minder    = Society{}
	_ quest.Host      = Society{}
	_ quest.Cast      = Society{}
	_ quest.Sampler   = Society{}
	_ quest.Keyed     = Society{}
	_ quest.Deliverer = Society{}
	_ quest.Writer    = Society{}
	_ quest.Landlord  = Society{}
	_ quest.Checker   = (*Memory)(nil)
	_ quest.Idler     = (*Memory)(nil)
)

// Rules implements quest.Society.
func (Society) Rules() string { return "architect/1" }

// Traits implements quest.Society: whoever works waits for others, and for times.
func (Society) Traits() quest.Traits {
	return quest.Traits{Couples: true, Wakes: true, Computes: true, Aside: true}
}

// Policies implements quest.Society.
func (Society) Policies() []behavior.Thread { return policies() }

// Texts implements quest.Society.
func (Society) Texts() []event.NamedText { return texts }

// Own implements quest.Toolbox.
func (Society) Own() []quest.OwnTool { return tools }

// Architect is the agent that plans and judges.
const Architect = "architect"

// Roles implements quest.Cast: the architect, and for each place at which a task can be under
// way every executor, by preference.
func (Society) Roles(s *quest.Spec, thinks, _ bool) []quest.Role {
	set := settingsOf(s)
	roles := []quest.Role{{Name: Architect, Thinks: thinks, Text: "system", Own: architectTools}}
	for slot := range set.Parallel {
		for _, x := range set.Executors {
			roles = append(roles, quest.Role{
				Name: worker(x, slot, set.Parallel), Executor: x, Prompted: true, Gateway: &event.GatewaySpec{Any: true}, Text: "system-worker", Own: workerTools,
			})
		}
	}
	return roles
}

// worker is the agent that an executor is at a place.
func worker(executor string, slot, parallel int64) string {
	if parallel <= 1 {
		return executor
	}
	return fmt.Sprintf("%s-%d", executor, slot+1)
}

// Hears says who hears what people say to nobody in particular: executors hear of their tasks,
// and of nothing else.
func (Society) Hears(a *agent.Agent) bool { return a.Name == Architect }

// Houses implements quest.Landlord: the architect touches no file, and has none.
func (Society) Houses(a *agent.Agent) bool { return a.Name != Architect }

// maxIdle is how many turns in a row without a tool call park the architect, and maxWrong how
// many calls in a row that come to nothing.
const (
	maxIdle  = 3
	maxWrong = 24
)

// Answered implements quest.Society: what the architect says without a tool does nothing. Of
// executors, Tend sees to it.
func (Society) Answered(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	if a.Name != Architect {
		return nil
	}
	if a.Idle >= maxIdle {
		return one(e, a.Name, &event.AgentParked{Reason: fmt.Sprintf("The architect has answered %d times in a row without calling a tool.", a.Idle)})
	}
	text := "idle"
	if a.Stop == model.StopLength {
		text = "cut"
	}
	return one(e, "core", &event.MessageSent{To: a.Name, Text: event.Text{Text: quest.Fill(s.Texts[text], "TASKS", strings.Join(board(Of(s)), "\n"))}})
}

// Failed implements quest.Society: without the architect nobody plans. Of executors, Tend sees
// to it.
func (Society) Failed(_ *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	if a.Name != Architect {
		return nil
	}
	reason := "it answered nothing, three times in a row"
	if a.Failed != nil {
		reason = event.Shorten(a.Failed.Text, 2000)
	}
	return one(e, "core", &event.QuestFailed{Reason: "The architect's model failed: " + reason})
}

// Parked implements quest.Society: Tend goes on from it.
func (Society) Parked(*quest.State, *agent.Agent, event.Event) []event.Draft { return nil }

// Why agents wait.
const (
	waitsForExecutors = "It waits until its executors are ready."
	hasNoTask         = "It has no task."
)

// Before implements quest.Minder: an executor has its turn while it has a task, and the
// architect once there is somebody to hand tasks over to.
func (Society) Before(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	m := Of(s)
	switch {
	case a.Parked != "":
	case a.Name != Architect:
		if t := m.at(a.Name); (t == nil || !t.Handover.prompts()) && a.Transcript.End() > 0 && a.Phase() == agent.Ready {
			return one(e, a.Name, &event.AgentParked{Reason: hasNoTask})
		}
	case !m.Greeted:
		return one(e, a.Name, &event.AgentParked{Reason: waitsForExecutors})
	case m.Wrong >= maxWrong && a.Phase() == agent.Ready:
		return one(e, a.Name, &event.AgentParked{Reason: fmt.Sprintf("%d calls of the architect in a row came to nothing.", m.Wrong)})
	case a.Phase() == agent.Ready:
		return summarize(s, a, e)
	}
	return nil
}

// one drafts the one event that follows.
func one(e event.Event, actor string, b event.Body) []event.Draft {
	return []event.Draft{quest.After(e, actor, "", b)}
}

// Samples implements quest.Sampler: a verdict about a run that was checked is one, and so is
// what executors say.
func (Society) Samples(s *quest.State, a *agent.Agent) bool {
	return a.Name != Architect || slices.ContainsFunc(Of(s).Tasks, (*Task).checked)
}

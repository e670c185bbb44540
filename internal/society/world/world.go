// Package world is a society of one that makes something, says what it will do, and finds out:
// a maker, judges that read what it made, and the world itself, by rules. What was made runs only
// when the tiers in front of it have passed the same tree: rules that look at it, then judges,
// then stories in a browser or by a command, then the author's stories that the maker never sees.
//
// Each step follows from the state, one at a time: see Tend. Nothing that fails opens anything,
// what could not be looked at has not passed, and every prediction stands in the ledger before
// what is seen. A ledger in which a tier was skipped does not fold.
package world

import (
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
)

// Society is the rules of a world.
type Society struct{}

var (
	_ quest.Knower    = Society{}
	_ quest.Toolbox   = Society{}
	_ quest.Minder    = Society{}
	_ quest.Host      = Society{}
	_ quest.Cast      = Society{}
	_ quest.Sampler   = Society{}
	_ quest.Keyed     = Society{}
	_ quest.Proposer  = Society{}
	_ quest.Profiled  = Society{}
	_ quest.Listener  = Society{}
	_ quest.Landlord  = Society{}
	_ quest.Producer  = Society{}
	_ quest.Concluder = Society{}
	_ quest.Reminder  = Society{}
	_ quest.Checker   = (*Memory)(nil)
)

// Rules implements quest.Society.
func (Society) Rules() string { return "world/1" }

// Traits implements quest.Society: the maker waits for judges.
func (Society) Traits() quest.Traits { return quest.Traits{Couples: true, Computes: true} }

// Policies implements quest.Society.
func (Society) Policies() []behavior.Thread { return policies() }

// Proposals implements quest.Proposer: what is looked at, and what is tried.
func (Society) Proposals() []event.Type { return []event.Type{"analysis.call", "world.call"} }

// Texts implements quest.Society.
func (Society) Texts() []event.NamedText { return texts }

// Own implements quest.Toolbox.
func (Society) Own() []quest.OwnTool { return tools }

// Maker is the agent that makes.
const Maker = "maker"

// judgeName is the agent that a judge is, counted from 0.
func judgeName(i int64) string { return fmt.Sprintf("judge-%d", i+1) }

// Roles implements quest.Cast: the maker, who touches files and runs nothing, and the judges,
// who read.
func (Society) Roles(s *quest.Spec, thinks, _ bool) []quest.Role {
	roles := []quest.Role{{Name: Maker, Thinks: thinks, Text: "system", Own: makerTools, Uses: fileTools}}
	for i := range settingsOf(s).Judges {
		roles = append(roles, quest.Role{Name: judgeName(i), Thinks: thinks, Text: "system-judge", Own: judgeTools, Alone: true})
	}
	return roles
}

// Hears implements quest.Listener: judges hear of what they judge, and of nothing else.
func (Society) Hears(a *agent.Agent) bool { return a.Name == Maker }

// Houses implements quest.Landlord: judges touch no file, and have none.
func (Society) Houses(a *agent.Agent) bool { return a.Name == Maker }

// Samples implements quest.Sampler: each judge's answer counts as a new one.
func (Society) Samples(_ *quest.State, a *agent.Agent) bool { return a.Name != Maker }

// maxIdle is how many turns in a row without a tool call park an agent, and maxWrong how many
// calls of the maker in a row that come to nothing.
const (
	maxIdle  = 3
	maxWrong = 24
)

// Answered implements quest.Society: what agents say without a tool does nothing.
func (Society) Answered(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	if a.Idle >= maxIdle {
		return one(e, a.Name, &event.AgentParked{Reason: fmt.Sprintf("%s has answered %d times in a row without calling a tool.", a.Name, a.Idle)})
	}
	text := "idle"
	switch {
	case a.Name != Maker:
		text = "idle-judge"
	case a.Stop == model.StopLength:
		text = "cut"
	}
	return one(e, "core", &event.MessageSent{To: a.Name, Text: event.Text{Text: quest.Fill(s.Texts[text], "ATTEMPTS", strings.Join(board(Of(s)), "\n"))}})
}

// Failed implements quest.Society: without the maker nothing is made; a judge is left out.
func (Society) Failed(_ *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	reason := "it answered nothing, three times in a row"
	if a.Failed != nil {
		reason = event.Shorten(a.Failed.Text, 2000)
	}
	if a.Name != Maker {
		return one(e, a.Name, &event.AgentParked{Reason: "Its model failed: " + reason})
	}
	return one(e, "core", &event.QuestFailed{Reason: "The maker's model failed: " + reason})
}

// Parked implements quest.Society: Tend goes on from it.
func (Society) Parked(*quest.State, *agent.Agent, event.Event) []event.Draft { return nil }

const nothingToJudge = "It has nothing to judge."

// Before implements quest.Minder: a judge has its turn while it has something to judge.
func (Society) Before(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	m := Of(s)
	switch {
	case a.Parked != "" || a.Phase() != agent.Ready:
	case a.Name != Maker:
		if j := m.judging(a.Name); j == nil || !j.Told {
			return one(e, a.Name, &event.AgentParked{Reason: nothingToJudge})
		}
	case m.Wrong >= maxWrong:
		return one(e, a.Name, &event.AgentParked{Reason: fmt.Sprintf("%d calls of the maker in a row came to nothing.", m.Wrong)})
	}
	return nil
}

// one drafts the one event that follows.
func one(e event.Event, actor string, b event.Body) []event.Draft {
	return []event.Draft{quest.After(e, actor, "", b)}
}

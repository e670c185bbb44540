// Package stages is a society of one researcher whom people talk to for long, from scouting to
// a paper that somebody else has read. It works in sittings: what people say waits and begins the next one, or is handed to
// it between two turns. Between sittings nothing happens, unless it works on its own.
//
// What is known is a fold of the ledger (package study); what follows next is one thing at a
// time: see Tend. No message is lost, said twice or out of order, whatever ends when: the core
// holds them until an event delivers them.
package stages

import (
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
)

// Society is the rules of stages.
type Society struct{}

var (
	_ quest.Knower    = Society{}
	_ quest.Toolbox   = Society{}
	_ quest.Minder    = Society{}
	_ quest.Host      = Society{}
	_ quest.Cast      = Society{}
	_ quest.Sampler   = Society{}
	_ quest.Keyed     = Society{}
	_ quest.Prompter  = Society{}
	_ quest.Deliverer = Society{}
	_ quest.Skilled   = Society{}
	_ quest.Served    = Society{}
	_ quest.Landlord  = Society{}
	_ quest.Beside    = Society{}
	_ quest.Located   = Society{}
	_ quest.Rester    = (*Memory)(nil)
	_ quest.Steered   = (*Memory)(nil)
	_ quest.Replied   = (*Memory)(nil)
	_ quest.Bindable  = (*Memory)(nil)
	_ quest.Idler     = (*Memory)(nil)
	_ quest.Checker   = (*Memory)(nil)
)

// Rules implements quest.Society.
func (Society) Rules() string { return "stages/1" }

// Traits implements quest.Society: what people say is mail, and a model that failed is tried
// again after a time.
func (Society) Traits() quest.Traits {
	return quest.Traits{Mail: true, Wakes: true, Couples: true, Silence: silence}
}

// silence is how long a runner may say nothing and wait for nothing before its sitting ends.
const silence = 30 * 60 * 1_000_000

// About implements quest.Described.
func (Society) About() string {
	return "one researcher to talk to, from scouting to a result, see docs/stages.md"
}

// Policies implements quest.Society.
func (Society) Policies() []behavior.Thread { return policies() }

// Texts implements quest.Society.
func (Society) Texts() []event.NamedText { return texts }

// Own implements quest.Toolbox.
func (Society) Own() []quest.OwnTool { return tools }

// Researcher is the agent that people talk to, Reviewer the one that reads its papers.
const (
	Researcher = "researcher"
	Reviewer   = "reviewer"
)

// Roles implements quest.Cast: one researcher, which thinks with the quest's model or is an
// executor, and a reviewer, where there are papers and a model to read them.
func (Society) Roles(s *quest.Spec, thinks, _ bool) []quest.Role {
	r := quest.Role{Name: Researcher, Thinks: thinks, Text: "system", World: true, Uses: commandTools()}
	for _, t := range tools {
		r.Own = append(r.Own, t.Name)
	}
	set := settingsOf(s)
	if set.Runner != Native {
		r.Executor, r.Prompted, r.Thinks, r.World = set.Runner, true, false, false
		r.Gateway = &event.GatewaySpec{Any: true}
	}
	roles := []quest.Role{r}
	if thinks && set.Paper != noPaper {
		roles = append(roles, quest.Role{Name: Reviewer, Thinks: true, Text: "system-reviewer", Own: []string{submitReview}, Alone: true})
	}
	return roles
}

// Houses implements quest.Landlord: a reviewer has no home, and nothing to read but the paper.
func (Society) Houses(a *agent.Agent) bool { return a.Name != Reviewer }

// Works implements quest.Beside: the reviewer does, while there is a paper before it.
func (Society) Works(s *quest.State, a *agent.Agent) bool {
	return a.Name == Reviewer && (Of(s).Study.Reviewed != nil || len(a.Open) > 0)
}

// Answered implements quest.Society: who has spoken and calls for nothing rests.
func (Society) Answered(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	if a.Name == Reviewer {
		return remind(s, e)
	}
	if s.Sitting == nil {
		return nil
	}
	reason := ""
	switch a.Stop {
	case model.StopLength:
		return one(e, "core", &event.MessageSent{Text: event.Text{Text: s.Texts["cut"]}, To: a.Name})
	case model.StopRefusal:
		reason = "the model refused to go on"
	}
	return end(s, e, event.SittingRested, reason)
}

// Failed implements quest.Society: the sitting is over, and Tend says when the next is tried.
func (Society) Failed(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	reason := "the model answered nothing, three times in a row"
	if a.Failed != nil {
		reason = event.Shorten(a.Failed.Text, 2000)
	}
	if a.Name == Reviewer {
		return noReview(s, e, reason)
	}
	if s.Sitting == nil {
		return nil
	}
	if lost(a) {
		return end(s, e, event.SittingInterrupted, reason)
	}
	return end(s, e, event.SittingFailed, reason)
}

// lost reports whether the researcher is an executor whose process is gone, and that no way led to
// again.
func lost(a *agent.Agent) bool {
	return a.Session != nil && a.Failed != nil && (a.Session.Cut > 0 || strings.HasPrefix(a.Failed.Text, "interrupted"))
}

// Parked implements quest.Society: a policy has taken the turn away, and a person has to speak.
func (Society) Parked(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	if s.Sitting == nil || a.Name == Reviewer { // of whom Tend says that there is no review
		return nil
	}
	return end(s, e, event.SittingCut, event.Shorten(a.Parked, 2000))
}

// Before implements quest.Minder: what people have said comes before the next turn, and who has
// concluded has none.
func (Society) Before(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	switch {
	case a.Parked != "" || a.Phase() != agent.Ready || s.Sitting == nil || a.Name == Reviewer:
		return nil
	case Of(s).Study.Concluded != 0:
		return end(s, e, event.SittingRested, "")
	case a.Session != nil && a.Empty > 0 && a.Session.Used > 0:
		return end(s, e, event.SittingRested, "") // it has acted, and had nothing to say
	case len(s.Ready()) == 0 || !s.Sitting.Came:
		return nil // nobody said anything, or there was no room for it in the prompt
	}
	return deliver(s, e, event.WithResults)
}

// one drafts the one event that follows.
func one(e event.Event, actor string, b event.Body) []event.Draft {
	return []event.Draft{quest.After(e, actor, "", b)}
}

// Samples implements quest.Sampler: a review is a judgement of its own.
func (Society) Samples(_ *quest.State, a *agent.Agent) bool { return a.Name == Reviewer }

package quest

import (
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// Decide returns the events that follow from e, which has been applied to s. It
// reads s and nothing else.
//
// It takes one step at a time: at most one proposal comes of an event, and the
// next comes of that one. So each is judged by policies that know of the one
// before.
func Decide(s *State, e event.Event) []event.Draft {
	switch b := e.Body.(type) {
	case *event.QuestStarted, *event.QuestResumed:
		return slices.Concat(s.setTimer(e), s.questionTimers(e), s.goOn(e))
	case *event.InteractionOpened:
		return append(s.questionTimers(e), s.goOn(e)...)
	case *event.BudgetRaised:
		if s.Status != Running {
			return nil
		}
		return append(s.setTimer(e), s.goOn(e)...)
	case *event.ProviderLost:
		return append(s.outageTimers(e), s.goOn(e)...)
	case *event.ProviderBack, *event.SittingBegun:
		if s.hasTimer(durationTimer) {
			return s.goOn(e)
		}
		return append(s.setTimer(e), s.goOn(e)...) // there was none while all stood still
	case *event.PolicyBlocked:
		return s.afterBlock(e, b)
	case *event.QuestPaused, *event.QuestStopped, *event.BudgetExceeded:
		return append(s.skipRest(e), s.windUp(e)...)
	case *event.QuestFinished, *event.QuestFailed, *event.QuestRested,
		*event.PromptResult, *event.PermissionAsked, *event.PermissionDecided, *event.ToolAnswered, *event.InteractionWithdrawn:
		if s.Status != Running {
			return s.windUp(e)
		}
	case *event.ToolSkipped:
		return s.afterSkip(e)
	case *event.McpUpdated:
		return s.updated(e, b)
	case *event.TimerFired:
		if s.Status != Running {
			return nil
		}
		if over := s.over(nil, e.Time); over != nil {
			return []event.Draft{exceeded(e, over)}
		}
		return s.woke(e)
	}
	if e.Type.LeadsNowhere() {
		return nil
	}
	// Most say something to an agent, or are due to the society. And for any other a
	// policy may have waited.
	return s.goOn(e)
}

// goOn says the next step of the agents that an event may have moved: the one the
// last input was about, or all of them. What policies have to say comes first.
func (s *State) goOn(e event.Event) []event.Draft {
	if s.Status != Running {
		return nil
	}
	if s.Unprepared() {
		return s.prepare(e)
	}
	if news := s.news(e); news != nil {
		return news
	}
	if late := s.overdue(e); late != nil {
		return late
	}
	if gone := s.outdated(e); gone != nil {
		return gone
	}
	if news := s.changes(e); news != nil {
		return news
	}
	if news := s.forms(e); news != nil {
		return news
	}
	if duty := s.tend(e); duty != nil {
		if s.rules.traits.Aside && !slices.ContainsFunc(duty, func(d event.Draft) bool { return !aside(d.Body) }) {
			return append(duty, s.advanceSome(e)...)
		}
		return duty
	}
	if step := s.advanceSome(e); step != nil {
		return step
	}
	return s.outlasted(e)
}

// aside reports whether nothing follows from an event, and no agent's step depends on it.
func aside(b event.Body) bool {
	_, timer := b.(*event.TimerSet)
	return timer
}

// advanceSome says the next step of the agent that the last input was about, or of
// those that have been woken since; of any of them, if it concerns them all.
func (s *State) advanceSome(e event.Event) []event.Draft {
	if s.all {
		for _, a := range s.Agents {
			if step := s.advance(a, e); step != nil {
				return step
			}
		}
		return nil
	}
	if step := s.advance(s.Agent(s.moving), e); step != nil {
		return step
	}
	for ; len(s.woken) > 0; s.woken = s.woken[1:] {
		if step := s.advance(s.woken[0], e); step != nil {
			return step
		}
	}
	return nil
}

// advance says the next step of an agent, if it is its turn. It follows from the
// state: asked twice in the same state, it says the same again.
func (s *State) advance(a *agent.Agent, e event.Event) []event.Draft {
	if a == nil || a.Mind() == agent.ByRules {
		return nil
	}
	beside := s.beside(a)
	if step := s.settle(a, e); step != nil || !s.sits(a) && !beside {
		return step
	}
	if a.Mind() != agent.ByOutside { // what servers ask while its tools are at work
		if step := s.passOn(a, e); step != nil {
			return step
		}
	}
	phase := a.Phase()
	if s.rules.minder != nil && (phase == agent.Ready || phase == agent.Answered) {
		if duty := s.rules.minder.Before(s, a, e); duty != nil {
			return duty
		}
	}
	if a.Parked != "" {
		return nil
	}
	if phase == agent.Ready && len(s.Servers) > 0 && !beside {
		if step, waits := s.connect(a, e); waits {
			return step
		}
	}
	if phase == agent.Ready && !beside {
		if step, waits := s.discover(a, e); waits {
			return step
		}
	}
	switch {
	case a.Session != nil:
		return s.lead(a, phase, e)
	case a.Mind() == agent.ByOutside: // it proposes by itself what it does next
		if phase == agent.Acting {
			if step := s.callTools(a, e); step != nil {
				return step
			}
		}
		return s.passOn(a, e)
	case phase == agent.Acting:
		return s.callTools(a, e)
	case phase == agent.Ready:
		return s.ask(a, e)
	case phase == agent.Answered:
		return s.submit(a, e, s.rules.Answered(s, a, e))
	}
	return nil
}

// ask has the model called, unless it failed for good or a policy is against it.
func (s *State) ask(a *agent.Agent, e event.Event) []event.Draft {
	if a.GaveUp() {
		return s.rules.Failed(s, a, e)
	}
	f := s.modelFacts(a, e.Time)
	v := s.judge(e, turnOf(a), f)
	switch {
	case v.passes:
		if o := s.lacks(a); o != nil {
			return s.scarce(e, o)
		}
		return []event.Draft{After(s.cause(a, e), a.Name, "", s.next(a, e))}
	case v.instead != nil:
		return v.instead
	case v.waits:
		return nil
	case f.Over != nil && f.Over.Of == "quest":
		return []event.Draft{exceeded(e, f.Over)}
	}
	return []event.Draft{After(s.cause(a, e), a.Name, "", &event.PolicyBlocked{By: v.by, Proposal: "model.call"})}
}

// callTools takes the next step with the tools of the last answer: it calls for
// one, refuses one, or answers one that the world need not be asked about. Calls are made
// in the order in which the model wrote them: see turn.
func (s *State) callTools(a *agent.Agent, e event.Event) []event.Draft {
	var t turn
	for i := range a.Open {
		u := &a.Open[i]
		if u.Done {
			continue
		}
		if u.Call == 0 && !t.comes(u) {
			return nil // nor those behind it
		}
		t.pass(u)
		name := known(a, u.Name) // a stranger's word does not stand in an envelope
		if u.Call != 0 {
			if text := s.answer(a, u, name); text != "" {
				return []event.Draft{After(e, a.Name, name, &event.ToolAnswered{Call: u.Call, Error: true, Output: event.Text{Text: text}})}
			}
			if own := s.Own(name); own != nil && own.Step != DeliveredTool {
				if next := s.useOwn(a, u, e); next != nil {
					return next
				}
			}
			continue
		}
		from := e
		from.Seq = u.Answer
		if by := s.narrowed(a, name); by != nil {
			return []event.Draft{After(from, a.Name, name, &event.PolicyBlocked{Answer: u.Answer, By: by, ID: u.ID, Part: u.Part, Proposal: "tool.call"})}
		}
		switch v := s.judge(e, useOf(a, u), s.toolFacts(a, u)); {
		case v.passes:
			return []event.Draft{After(from, a.Name, name, &event.ToolCall{Answer: u.Answer, ID: u.ID, Part: u.Part})}
		case v.instead != nil:
			return v.instead
		case !v.waits:
			return []event.Draft{After(from, a.Name, name, &event.PolicyBlocked{Answer: u.Answer, By: v.by, ID: u.ID, Part: u.Part, Proposal: "tool.call"})}
		}
	}
	return nil
}

// answer is what the rules themselves answer to a call; nothing, if it is for the
// world to answer.
func (s *State) answer(a *agent.Agent, u *agent.Use, name string) string {
	switch {
	case u.Refused != "":
		return u.Refused
	case name == "" && s.Finders[a.Name] != nil:
		return s.notShown(a, u.Name)
	case name == "":
		return fmt.Sprintf("There is no tool %q. You have: %s.", short(u.Name), list(a.ToolNames))
	}
	return ""
}

// submit lets what a society makes of an answer pass the gate.
func (s *State) submit(a *agent.Agent, e event.Event, drafts []event.Draft) []event.Draft {
	return s.pass(e, drafts, func(_ event.Draft, b *event.PolicyBlocked) []event.Draft {
		return []event.Draft{After(e, a.Name, "", b)}
	})
}

// pass puts an answer of the quest among drafts to the policies. If they are against it,
// refused says what comes instead of them all.
func (s *State) pass(e event.Event, drafts []event.Draft, refused func(event.Draft, *event.PolicyBlocked) []event.Draft) []event.Draft {
	for _, d := range drafts {
		b, ok := d.Body.(*event.QuestFinished)
		if !ok {
			continue
		}
		switch v := s.judge(e, s.endOf(d.Actor, b), s.answerFacts(d.Actor, b)); {
		case v.passes:
		case v.instead != nil:
			return v.instead
		case v.waits:
			return nil
		default:
			return refused(d, &event.PolicyBlocked{By: v.by, Proposal: "quest.finished"})
		}
	}
	return drafts
}

// cause is the event that a step of an agent follows from: e, if it is about that
// agent, or else the last input.
func (s *State) cause(a *agent.Agent, e event.Event) event.Event {
	about := e.Actor
	if m, ok := e.Body.(*event.MessageSent); ok {
		about = m.To
	}
	if about != a.Name && s.Agent(about) != nil {
		e.Seq = s.Cause
	}
	return e
}

func exceeded(e event.Event, o *policy.Over) event.Draft {
	most := func(n int64) int64 { return min(n, 1<<53) } // what an event can hold
	return After(e, "core", "", &event.BudgetExceeded{Limit: o.Limit, Max: o.Max, Next: most(o.Next), Used: most(o.Used)})
}

// woke goes on when a timer has fired and no limit is reached: a question's time is up, the
// clock was set back or stood still and there is time left, or somebody waited. What still
// needs a timer gets one.
func (s *State) woke(e event.Event) []event.Draft {
	timers, ours := append(s.questionTimers(e), s.outageTimers(e)...), !s.hasTimer(durationTimer)
	if ours && !s.Stalled() {
		timers = append(timers, s.setTimer(e)...)
	}
	if rest := s.outlasted(e); rest != nil {
		return append(timers, rest...)
	}
	if late := s.overdue(e); late != nil {
		return append(timers, late...)
	}
	if ours && !s.rules.traits.Wakes {
		return timers
	}
	return append(timers, s.goOn(e)...)
}

const durationTimer = "duration"

// setTimer asks to be woken when the quest's time is up.
func (s *State) setTimer(e event.Event) []event.Draft {
	if s.Limits.Duration == nil || s.patient() {
		return nil
	}
	at := e.Time + event.Time(max(*s.Limits.Duration-s.Elapsed(e.Time), 0))
	return []event.Draft{After(e, "core", "", &event.TimerSet{At: at, Purpose: durationTimer})}
}

// After drafts an event that follows from e.
func After(e event.Event, actor, tool string, b event.Body) event.Draft {
	return event.Draft{Parent: e.Seq, Time: e.Time, Actor: actor, Tool: tool, Body: b}
}

func short(s string) string { return event.Shorten(s, 120) }

func list(names []string) string {
	if len(names) == 0 {
		return "no tools"
	}
	out := names[0]
	for _, n := range names[1:] {
		out += ", " + n
	}
	return out
}

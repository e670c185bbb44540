package quest

import (
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/policy"
)

// The gate: every proposal of an agent is put to the policies before it becomes an
// event, and every event is told to them, so that where they stand is a fold of
// the ledger like everything else.

// verdict is what the policies say of a proposal.
type verdict struct {
	passes bool
	// waits says that the proposal need only be made again later.
	waits bool
	// instead is what must be said first: a policy broke down over it.
	instead []event.Draft
	by      []event.Blocker
}

// judge asks the policies.
func (s *State) judge(e event.Event, t event.Type, f *policy.Facts) verdict {
	by := s.gate.Blocked(t, f)
	v := verdict{passes: len(by) == 0, waits: len(by) > 0 && s.Busy()}
	room := maxReasons / max(1, min(len(by), maxBlockers))
	for _, b := range by {
		if b.Fault != "" {
			v.instead = []event.Draft{After(e, "core", "", &event.PolicyFailed{Policy: b.Thread, Reason: b.Fault})}
			return v
		}
		v.waits = v.waits && b.Later
		if len(v.by) < maxBlockers {
			v.by = append(v.by, event.Blocker{Policy: b.Thread, Reason: event.Shorten(b.Reason, room)})
		}
	}
	return v
}

// maxBlockers and maxReasons are what a policy.blocked has room for: so many
// policies, and so many bytes of JSON for what they say. What an agent is told of
// it must fit an event too.
const (
	maxBlockers = 8
	maxReasons  = 6 << 10
)

// Busy reports whether something is under way that will come back: only then is
// there something to wait for.
func (s *State) Busy() bool {
	for _, c := range s.Calls {
		if c.Timer == "" {
			return true
		}
	}
	return false
}

// news is what policies have to say by themselves: that one has broken down, or
// what one wants an agent to be told.
func (s *State) news(e event.Event) []event.Draft {
	for _, b := range s.gate.Broken() {
		if !slices.Contains(s.Broken, b.Thread) {
			return []event.Draft{After(e, "core", "", &event.PolicyFailed{Policy: b.Thread, Reason: b.Reason})}
		}
	}
	name, to, text, ok := s.gate.Message()
	switch {
	case !ok:
		return nil
	case s.nags[name] >= maxNags:
		return []event.Draft{After(e, "core", "", &event.PolicyFailed{Policy: name, Reason: "it asks for one message after another and never waits"})}
	}
	if s.Agent(to) == nil {
		to = s.Agents[0].Name
		if s.Agent(s.moving) != nil {
			to = s.moving
		}
	}
	return []event.Draft{After(e, "core", "", &event.MessageSent{Policy: name, Text: event.Text{Text: text}, To: to})}
}

// maxNags is how many messages a policy may want between two inputs.
const maxNags = 16

// afterBlock says what follows from a refusal.
func (s *State) afterBlock(e event.Event, b *event.PolicyBlocked) []event.Draft {
	a := s.Agent(e.Actor)
	if s.Status != Running || a == nil {
		return nil
	}
	switch b.Proposal {
	case "quest.finished":
		return []event.Draft{After(e, "core", "", &event.MessageSent{Text: event.Text{Text: refusal(b)}, To: a.Name})}
	case "model.call":
		if drafts := s.rules.Parked(s, a, e); drafts != nil {
			return drafts
		}
	}
	return s.goOn(e)
}

// refusal is what an agent is told.
func refusal(b *event.PolicyBlocked) string {
	var lines []string
	for _, by := range b.By {
		lines = append(lines, "Refused by the policy "+by.Policy+": "+by.Reason)
	}
	return strings.Join(lines, "\n")
}

// attend tells the policies of an event before it is applied: what they knew when
// it was decided is what they know now. It panics if a proposal is there that
// they would not have let pass.
func (s *State) attend(e event.Event) {
	if e.Input() {
		// Whoever was told to wait is asked again whenever something has come in.
		s.Cause, s.moving, s.all, s.woken = e.Seq, e.Actor, s.gate.Couples() || s.rules.traits.Couples, s.woken[:0]
		clear(s.nags)
	}
	var err error
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		return
	case *event.ModelCall:
		err = s.gate.Took(e.Type, s.modelFacts(s.Agent(e.Actor), e.Time))
	case *event.ToolCall:
		f := s.useFacts(e.Actor, func(u *agent.Use) bool { return u.Answer == b.Answer && u.Part == b.Part })
		f.Call = e.Seq
		err = s.gate.Took(e.Type, f)
	case *event.QuestFinished:
		err = s.gate.Took(e.Type, s.answerFacts(e.Actor, b))
	case *event.MessageSent:
		s.all = s.all || b.To != s.moving
		if b.Policy != "" {
			s.nags[b.Policy]++
			err = s.gate.Sent(b.Policy, b.Text.Text)
			break
		}
		s.gate.Tell(e.Type, saidFacts(b.To, b.Text))
	case *event.PolicyFailed:
		s.gate.Break(b.Policy, b.Reason)
	case *event.QuestStarted, *event.QuestResumed, *event.UserMessage:
		s.all = true
		s.gate.Tell(e.Type, s.happened(e))
	default:
		s.gate.Tell(e.Type, s.happened(e))
	}
	if err != nil {
		panic(err)
	}
}

// happened is what is known of an event that nobody can refuse.
func (s *State) happened(e event.Event) *policy.Facts {
	switch b := e.Body.(type) {
	case *event.UserMessage:
		return saidFacts(b.To, b.Text)
	case *event.ModelResult:
		return &policy.Facts{Agent: e.Actor, Ended: true, Error: b.Error != nil}
	case *event.ToolResult:
		return s.resultFacts(e, b.Call, &b.Output, b.Error)
	case *event.ToolAnswered:
		return s.resultFacts(e, b.Call, &b.Output, b.Error)
	case *event.FileDiff:
		return s.commandFacts(e.Actor, b.Call)
	case *event.CliRun:
		return s.commandFacts(e.Actor, b.Call)
	case *event.CliExit:
		f := s.commandFacts(e.Actor, b.Call)
		f.Ended, f.Error = true, b.Exit != 0
		return f
	case *event.PolicyBlocked:
		f := &policy.Facts{Agent: e.Actor, Tool: e.Tool, Refused: b.Proposal}
		if a := s.Agent(e.Actor); a != nil {
			f.Turn = a.Turns
			if b.Proposal == "quest.finished" {
				// What matters is that it was refused again, not how it was worded.
				f.Output = &event.Text{Text: refusal(b)}
			}
		}
		return f
	}
	f := &policy.Facts{}
	if b, ok := e.Body.(*event.AdvisorySent); ok {
		f.Ref, f.Text, f.Hidden = b.Ref, b.Text.Text, b.Text.Ref != nil
		if len(b.To) == 1 {
			f.To = b.To[0]
		}
	}
	if s.memory != nil {
		s.memory.Facts(e, f)
	}
	if s.Agent(e.Actor) != nil {
		f.Agent = e.Actor
	}
	return f
}

func (s *State) resultFacts(e event.Event, call uint64, output *event.Text, failed bool) *policy.Facts {
	f := s.useFacts(e.Actor, func(u *agent.Use) bool { return u.Call == call })
	f.Call, f.Output, f.Ended, f.Error = call, output, true, failed
	if a := s.Agent(e.Actor); a != nil {
		if u, err := a.Use(call); err == nil {
			f.Changed = u.Changed
		}
	}
	return f
}

// commandFacts is what is known of something that happened in an agent's computer:
// for which call, as long as that is open.
func (s *State) commandFacts(name string, call uint64) *policy.Facts {
	f := s.useFacts(name, func(u *agent.Use) bool { return call != 0 && u.Call == call })
	f.Call = call
	return f
}

// useFacts is what is known of a use of a tool.
func (s *State) useFacts(name string, which func(*agent.Use) bool) *policy.Facts {
	if a := s.Agent(name); a != nil {
		for i := range a.Open { // in place: a use is large, and there may be dozens
			if u := &a.Open[i]; which(u) {
				return s.toolFacts(a, u)
			}
		}
	}
	return &policy.Facts{Agent: name}
}

// toolFacts are the same when a call is judged and when it is made: nothing has
// been applied in between.
func (s *State) toolFacts(a *agent.Agent, u *agent.Use) *policy.Facts {
	f := s.callFacts(a, known(a, u.Name), s.args(u))
	f.Again = s.memory != nil && s.memory.Happened(a.Name, u.Place())
	if u.Refused != "" {
		f.Refused = "tool.call"
	}
	return f
}

// callFacts is what is known of a call with some arguments.
func (s *State) callFacts(a *agent.Agent, tool string, args *policy.Args) *policy.Facts {
	f := &policy.Facts{Agent: a.Name, Tool: tool, Turn: a.Turns, Args: args, Spent: s.used(s.Time), AgentSpent: usedBy(a)}
	if s.memory != nil && s.Own(tool) != nil {
		s.memory.CallFacts(f)
	}
	return f
}

// saidFacts is what is known of a message to an agent, or to all of them.
func saidFacts(to string, t event.Text) *policy.Facts {
	return &policy.Facts{Agent: to, To: to, Text: t.Text, Hidden: t.Ref != nil}
}

// args are those of a use. The last ones are kept, read or not: a call is judged,
// and then made, and policies need read them only once for both.
func (s *State) args(u *agent.Use) *policy.Args {
	if s.lastArgs == nil || s.lastUse != (useKey{u.Answer, u.Part}) {
		s.lastUse, s.lastArgs = useKey{u.Answer, u.Part}, &policy.Args{Text: u.Args, Outline: u.Outline}
	}
	return s.lastArgs
}

// useKey names a use of a tool within a quest.
type useKey struct {
	answer uint64
	part   int64
}

func (s *State) answerFacts(name string, b *event.QuestFinished) *policy.Facts {
	f := &policy.Facts{Agent: name, Text: b.Answer.Text, Hidden: b.Answer.Ref != nil, Spent: s.used(s.Time)}
	if a := s.Agent(name); a != nil {
		f.Turn, f.AgentSpent = a.Turns, usedBy(a)
	}
	return f
}

func (s *State) modelFacts(a *agent.Agent, now event.Time) *policy.Facts {
	f := &policy.Facts{Spent: s.used(now), Over: s.over(a, now)}
	if a != nil {
		f.Agent, f.Turn, f.AgentSpent = a.Name, a.Turns+1, usedBy(a)
	}
	return f
}

func (s *State) used(now event.Time) policy.Spent {
	return policy.Spent{
		Cost: s.Spent.Cost, Turns: s.Spent.Turns, Tokens: s.Spent.Usage.Input + s.Spent.Usage.Output,
		Duration: s.Elapsed(now),
	}
}

func usedBy(a *agent.Agent) policy.Spent {
	return policy.Spent{Cost: a.Cost, Turns: a.Turns, Tokens: a.Tokens, Duration: a.Duration}
}

// Over says which limit keeps an agent from its next turn, nil for none.
func (s *State) Over(a *agent.Agent) *policy.Over { return s.over(a, s.Time) }

// over says which limit is reached, the quest's before those of the agent, which
// may be nil.
func (s *State) over(a *agent.Agent, now event.Time) *policy.Over {
	l := &s.Limits
	if o := reached("quest", event.Share{Cost: l.Cost, Duration: l.Duration, Tokens: l.Tokens, Turns: l.Turns}, s.used(now)); o != nil {
		return o
	}
	if l.Cost != nil && s.Spent.Unpriced > 0 {
		// Nobody can tell any more how much of it is left.
		return &policy.Over{Of: "quest", Limit: "cost", Max: *l.Cost, Used: s.Spent.Cost}
	}
	if a == nil || l.Agent == nil {
		return nil
	}
	return reached("agent", *l.Agent, usedBy(a))
}

func reached(of string, max event.Share, used policy.Spent) *policy.Over {
	for _, l := range [...]struct {
		name string
		max  *int64
		used int64
	}{{"cost", max.Cost, used.Cost}, {"turns", max.Turns, used.Turns}, {"tokens", max.Tokens, used.Tokens}, {"duration", max.Duration, used.Duration}} {
		if l.max != nil && l.used >= *l.max {
			return &policy.Over{Of: of, Limit: l.name, Max: *l.max, Used: l.used}
		}
	}
	return nil
}

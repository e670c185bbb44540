package quest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/behavior"
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

// judge asks the policies about a proposal. A block counts more than a question to a
// person: what is refused anyway nobody is asked about.
func (s *State) judge(e event.Event, m matter, f *policy.Facts) verdict {
	f.Allowed = s.allowed(m)
	by := s.gate.Blocked(m.kind, f)
	if asks := func(b behavior.Blocker) bool { return b.Ask != nil && b.Fault == "" }; slices.ContainsFunc(by, asks) {
		hard := slices.DeleteFunc(slices.Clone(by), asks)
		if len(hard) == 0 {
			return s.asking(e, m, f, by)
		}
		by = hard
	}
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
	case "gateway.call":
		if drafts := s.afterRefusal(a, e); drafts != nil {
			return drafts
		}
	case "model.call", "prompt.call":
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
		s.Cause, s.moving, s.all, s.woken = e.Seq, e.Actor, s.gate.Couples() || s.rules.traits.Couples || s.Limits.Strict, s.woken[:0]
		clear(s.nags)
	}
	var err error
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		return
	case *event.ModelCall:
		a := s.Agent(e.Actor)
		if a != nil && !s.sits(a) && !s.beside(a) {
			panic(fmt.Errorf("%s is asked, and has no sitting and nothing to read", a.Name))
		}
		if o := s.lacks(a); o != nil {
			panic(fmt.Errorf("a model is asked, and what is left of the %s does not suffice for it", o.Limit))
		}
		err = s.let(turnOf(a), s.modelFacts(a, e.Time))
	case *event.ToolCall:
		at := agent.Place{Answer: b.Answer, Part: b.Part}
		f := s.useFacts(e.Actor, func(u *agent.Use) bool { return u.Place() == at })
		f.Call = e.Seq
		err = s.let(matter{kind: e.Type, actor: e.Actor, at: at}, f)
	case *event.GatewayCall:
		a := s.Agent(e.Actor)
		r := a.Request(b.Asked)
		if r == nil || r.Call != 0 || r.Model != b.Model || r.ID != b.ID || r.Count != b.Count {
			panic(fmt.Errorf("agent %s has sent no such request %d", a.Name, b.Asked))
		}
		if err = s.sampled(a, r); err == nil {
			err = s.let(requestOf(a, b.Asked), s.gatewayFacts(a, r, e.Time))
		}
	case *event.ExecutorCall:
		s.prompted(e)
	case *event.PromptStopped:
		if a := s.Agent(e.Actor); a == nil || a.Session == nil || a.Asked == 0 || a.Asked != b.Call || a.Session.Stopped != "" || b.Reason == "" {
			panic(fmt.Errorf("%s has no open prompt.call %d that could be stopped", e.Actor, b.Call))
		}
	case *event.TaskSummary:
		if a := s.Agent(e.Actor); a == nil || !a.Summable(b.First, b.Last) {
			panic(fmt.Errorf("messages %d to %d of %s cannot be summed up now", b.First, b.Last, e.Actor))
		}
	case *event.HomeCall:
		if a := s.Agent(e.Actor); a == nil || !a.Renewable() {
			panic(fmt.Errorf("%s is no executor whose home can be made anew now", e.Actor))
		}
	case *event.PromptCall:
		a := s.prompted(e)
		err = s.let(turnOf(a), s.modelFacts(a, e.Time))
	case *event.PermissionDecided:
		err = s.decidable(e, b)
	case *event.QuestFinished:
		err = s.let(s.endOf(e.Actor, b), s.answerFacts(e.Actor, b))
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
	case *event.QuestStarted, *event.QuestResumed, *event.BudgetRaised, *event.UserMessage, *event.InteractionAnswered, *event.InteractionExpired, *event.PrepareResult,
		*event.McpAdded, *event.McpRemoved:
		s.all = true
		s.gate.Tell(e.Type, s.happened(e))
	default:
		if e.Type.Proposal() {
			err = s.let(matterOf(e.Actor, e.Body), s.ownFacts(e.Actor, e.Body))
			break
		}
		s.gate.Tell(e.Type, s.happened(e))
	}
	if err != nil {
		panic(err)
	}
}

// let notes a proposal that was let pass. It fails if it could not have been.
func (s *State) let(m matter, f *policy.Facts) error {
	f.Allowed = s.allowed(m)
	return s.gate.Took(m.kind, f)
}

// turnOf, useOf and endOf are what tells an agent's next turn, its use of a tool and an
// answer of the quest from any other.
func turnOf(a *agent.Agent) matter {
	if a.Session != nil {
		return matter{kind: "prompt.call", actor: a.Name, turn: a.Turns + 1}
	}
	return matter{kind: "model.call", actor: a.Name, turn: a.Turns + 1}
}

func useOf(a *agent.Agent, u *agent.Use) matter {
	return matter{kind: "tool.call", actor: a.Name, at: u.Place()}
}

func (s *State) endOf(actor string, b *event.QuestFinished) matter {
	if a := s.Agent(actor); a != nil {
		return matter{kind: b.Type(), actor: actor, turn: a.Turns}
	}
	return matterOf(actor, b)
}

// matterOf tells a proposal from any other by what it says.
func matterOf(actor string, b event.Body) matter {
	m := matter{kind: b.Type(), actor: actor}
	if data, err := event.EncodeBody(b); err == nil { // what cannot be written is never proposed
		m.sum = event.RefOf(data).Hash
	}
	return m
}

// Propose puts an event of the society's own to the policies, one that the catalogue marks
// as a proposal. It returns what becomes of it: the event itself, a question to a person,
// a policy.blocked, or nothing as long as it waits. The society hears of a refusal as it
// does of any event.
func (s *State) Propose(e event.Event, d event.Draft) []event.Draft {
	if p, ok := s.rules.Society.(Proposer); !ok || !slices.Contains(p.Proposals(), d.Body.Type()) {
		panic(fmt.Errorf("the rules %s propose %s, which is none of their Proposals", s.Rules, d.Body.Type()))
	}
	switch v := s.judge(e, matterOf(d.Actor, d.Body), s.ownFacts(d.Actor, d.Body)); {
	case v.passes:
		return []event.Draft{d}
	case v.instead != nil:
		return v.instead
	case v.waits:
		return nil
	default:
		d.Body = &event.PolicyBlocked{By: v.by, Proposal: d.Body.Type()}
		return []event.Draft{d}
	}
}

// ownFacts is what policies are told of a proposal of the society's.
func (s *State) ownFacts(actor string, b event.Body) *policy.Facts {
	f := &policy.Facts{Spent: s.used(s.Time)}
	if a := s.Agent(actor); a != nil {
		f.Agent, f.Turn, f.AgentSpent = a.Name, a.Turns, usedBy(a)
	}
	if s.memory != nil {
		s.memory.Facts(event.Event{Type: b.Type(), Actor: actor, Body: b}, f)
	}
	return f
}

// happened is what is known of an event that nobody can refuse.
func (s *State) happened(e event.Event) *policy.Facts {
	switch b := e.Body.(type) {
	case *event.UserMessage:
		return saidFacts(b.To, b.Text)
	case *event.InteractionAnswered:
		return s.answeredFacts(b)
	case *event.ModelResult:
		return s.heardFacts(e.Actor, b)
	case *event.ToolResult:
		f := s.resultFacts(e, b.Call, &b.Output, b.Error, b.Attachments)
		f.Outcome = b.Outcome
		return f
	case *event.ToolAnswered:
		return s.resultFacts(e, b.Call, &b.Output, b.Error, b.Attachments)
	case *event.ToolReported:
		f := &policy.Facts{Agent: e.Actor, Tool: callKind(b.Kind), Source: s.Agent(e.Actor).Executor, Trust: event.TrustStranger, Args: &policy.Args{Text: b.Input}, Named: b.Paths}
		f.Ended, f.Error = b.Status == "completed" || b.Status == "failed", b.Status == "failed"
		return f
	case *event.PromptResult:
		f := &policy.Facts{Agent: e.Actor, Turn: s.Agent(e.Actor).Turns, Ended: true, Error: b.Failed(), Stop: b.Stop}
		f.Output, f.Text, f.Hidden = &b.Text, b.Text.Text, b.Text.Ref != nil
		return f
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

// heardFacts is what is known of a model's answer: how it ended, what it calls for, and
// its last words.
func (s *State) heardFacts(name string, b *event.ModelResult) *policy.Facts {
	f := &policy.Facts{Agent: name, Ended: true, Error: b.Error != nil, Stop: b.Stop}
	if a := s.Agent(name); a != nil {
		f.Turn = a.Turns
	}
	for _, p := range b.Parts {
		switch {
		case p.Kind == event.PartToolCall:
			f.Calls++
		case p.Kind == event.PartText && p.Text != nil:
			f.Output, f.Text, f.Hidden = p.Text, p.Text.Text, p.Text.Ref != nil
		}
	}
	return f
}

func (s *State) resultFacts(e event.Event, call uint64, output *event.Text, failed bool, attached []event.Attachment) *policy.Facts {
	f := s.useFacts(e.Actor, func(u *agent.Use) bool { return u.Call == call })
	f.Call, f.Output, f.Attached, f.Ended, f.Error = call, output, attached, true, failed
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
	if s.Machines[name] != nil {
		return &policy.Facts{} // nobody's doing that a policy could know of
	}
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
	if tool != "" {
		f.Source, f.Trust = a.Sources[tool].Source, cmp.Or(a.Sources[tool].Trust, event.TrustOwn)
		f.Paths = s.traits(a, tool).Paths
	}
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
		f.Agent, f.Model, f.Turn, f.AgentSpent = a.Name, a.Model, a.Turns+1, usedBy(a)
	}
	return f
}

func (s *State) used(now event.Time) policy.Spent {
	return policy.Spent{
		Cost: s.Spent.Cost, Turns: s.Spent.Turns, Tokens: s.Spent.Usage.Input + s.Spent.Usage.Output,
		Duration: s.Elapsed(now), Storage: s.Spent.Stored,
	}
}

func usedBy(a *agent.Agent) policy.Spent {
	return policy.Spent{Cost: a.Cost, Turns: a.Turns + a.Requested, Tokens: a.Tokens, Duration: a.Duration, Storage: a.Stored}
}

// Over says which limit keeps an agent from its next turn, nil for none.
func (s *State) Over(a *agent.Agent) *policy.Over { return s.over(a, s.Time) }

// over says which limit is reached, the quest's before those of the agent, which
// may be nil.
func (s *State) over(a *agent.Agent, now event.Time) *policy.Over {
	return s.overBy(&s.Limits, a, now)
}

// OverWith says which limit of the quest is reached even if others replace its own where
// they are set: then there is nothing to go on with.
func (s *State) OverWith(l event.Limits) *policy.Over {
	l = with(s.Limits, l)
	if o := s.overBy(&l, nil, s.Time); o != nil || s.Lack == nil {
		return o
	}
	// What the next call needed, it needs again.
	var next policy.Spent
	switch s.Lack.Limit {
	case "cost":
		next.Cost = s.Lack.Next
	case "tokens":
		next.Tokens = s.Lack.Next
	}
	return reached("quest", shareOf(&l), s.used(s.Time), next)
}

func (s *State) overBy(l *event.Limits, a *agent.Agent, now event.Time) *policy.Over {
	if o := reached("quest", shareOf(l), s.used(now), policy.Spent{}); o != nil {
		return o
	}
	if l.Cost != nil && s.Spent.Unpriced > 0 {
		// Nobody can tell any more how much of it is left.
		return &policy.Over{Of: "quest", Limit: "cost", Max: *l.Cost, Used: s.Spent.Cost}
	}
	if o := s.overStored(l, a); o != nil {
		return o
	}
	if a == nil || l.Agent == nil {
		return nil
	}
	share := *l.Agent
	share.Storage = nil // an agent that has reached it can still delete something
	return reached("agent", share, usedBy(a), s.reserve(a))
}

func shareOf(l *event.Limits) event.Share {
	return event.Share{Cost: l.Cost, Duration: l.Duration, Storage: l.Storage, Tokens: l.Tokens, Turns: l.Turns}
}

// reached says which limit is, or would be passed by something that uses so much more.
func reached(of string, most event.Share, used, next policy.Spent) *policy.Over {
	for _, l := range [...]struct {
		name       string
		max        *int64
		used, next int64
	}{{"cost", most.Cost, used.Cost, next.Cost}, {"turns", most.Turns, used.Turns, 0}, {"tokens", most.Tokens, used.Tokens, next.Tokens}, {"duration", most.Duration, used.Duration, 0}, {"storage", most.Storage, used.Storage, 0}} {
		switch {
		case l.max == nil:
		case l.used >= *l.max:
			return &policy.Over{Of: of, Limit: l.name, Max: *l.max, Used: l.used}
		case l.next > *l.max-l.used:
			return &policy.Over{Of: of, Limit: l.name, Max: *l.max, Used: l.used, Next: l.next}
		}
	}
	return nil
}

package quest

import (
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Apply takes the next event of the ledger in. It trusts it: an input that does
// not fit is kept out by Check, before it becomes an event, and a derived event
// comes from Decide. It panics on a ledger that was forged to say otherwise;
// Fold does not.
func (s *State) Apply(e event.Event) {
	s.attend(e)
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		s.create(b, e.Time)
	case *event.QuestStarted:
		s.run(b.Limits, b.NoThinking, e.Time)
	case *event.QuestResumed:
		s.run(b.Limits, b.NoThinking, e.Time)
		s.took(b.Inbox)
	case *event.QuestPaused:
		if s.Status == Running {
			s.rest(Paused, b.Reason, e.Time)
		}
		s.took(b.Inbox)
	case *event.QuestStopped:
		// One that has its answer, or cannot have one, has nothing to stop.
		if s.Status != Finished && s.Status != Failed {
			s.rest(Stopped, b.Reason, e.Time)
		}
		s.took(b.Inbox)
	case *event.QuestFinished:
		s.rest(Finished, "", e.Time)
		s.Answer, s.Warnings, s.Ended = &b.Answer, b.Warnings, e.Seq
	case *event.QuestFailed:
		s.rest(Failed, b.Reason, e.Time)
	case *event.BudgetExceeded:
		s.rest(Exceeded, b.Limit, e.Time)
	case *event.QuestForked:
		s.fork(b)
	case *event.UserMessage:
		s.told(b)
		s.Spoken = e.Seq
		s.took(b.Inbox)
	case *event.MessageSent:
		if a := s.Agent(b.To); a != nil && !b.Quiet {
			if a.Parked != "" {
				a.Wake()
			}
			a.Told(b.Text)
		}
	case *event.PolicyBlocked:
		s.blocked(e, b)
	case *event.PolicyFailed:
		s.Broken = append(s.Broken, b.Policy)
	default:
		s.applyCall(e)
	}
	if s.memory != nil {
		s.memory.Apply(e)
	}
	s.Seq, s.Hash, s.Time = e.Seq, e.Hash, e.Time
}

func (s *State) applyCall(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ModelCall:
		s.Calls[e.Seq] = Call{Kind: e.Type, Agent: e.Actor}
		s.Spent.Turns++
		s.Agent(e.Actor).Called(e.Seq, b)
	case *event.ModelResult:
		s.heard(e, b)
	case *event.ToolCall:
		s.Calls[e.Seq] = Call{Kind: e.Type, Agent: e.Actor, Tool: e.Tool}
		s.Spent.Tools++
		s.Agent(e.Actor).Used(e.Seq, b)
	case *event.ToolResult:
		if a := s.Agent(s.Calls[b.Call].Agent); a != nil {
			a.Duration += b.Duration
		}
		s.got(e, b.Call, b.Output, b.Error)
	case *event.ToolAnswered:
		s.got(e, b.Call, b.Output, b.Error)
	case *event.TimerSet:
		for seq, c := range s.Calls {
			if c.Timer == b.Purpose { // the new one takes its place
				delete(s.Calls, seq)
			}
		}
		s.Calls[e.Seq] = Call{Kind: e.Type, Timer: b.Purpose, At: b.At}
	case *event.ToolPrepared:
		if a := s.Agent(e.Actor); a != nil {
			a.Prepared(b)
		}
	case *event.AgentParked:
		s.Agent(e.Actor).Parked = b.Reason
	case *event.AdvisorySent:
		s.advise(b)
	case event.Result:
		delete(s.Calls, b.Answers())
	default:
		if e.Type.Call() {
			s.Calls[e.Seq] = Call{Kind: e.Type}
		}
		s.applyComputer(e)
	}
}

func (s *State) create(b *event.QuestCreated, now event.Time) {
	s.Name, s.Status, s.Rules, s.Seed = b.Name, Created, b.Rules, b.Seed
	s.Problem, s.Spec, s.Data, s.Pins, s.Limits = b.Problem, b.Spec, b.Data, b.Pins, b.Limits
	s.Computer = b.Computer
	s.Policies = b.Policies
	s.Created = now
	for _, t := range b.Texts {
		s.Texts[t.Name] = t.Text
	}
	for _, spec := range each(b.Agents) {
		a := agent.New(spec, b.Thinking)
		a.Tree = b.Data
		a.Told(b.Problem)
		s.Agents = append(s.Agents, a)
	}
	s.index()
	if k, ok := s.rules.Society.(Knower); ok {
		s.memory = k.Begin(s, b)
	}
}

// run begins or goes on. If the quest was running, its process died without a
// word, and the time since its last event does not count.
func (s *State) run(l event.Limits, noThinking bool, now event.Time) {
	if s.Status == Running {
		s.Ran = s.Elapsed(s.Time)
	}
	s.Status, s.Reason, s.Since = Running, "", now
	override(&s.Limits.Cost, l.Cost)
	override(&s.Limits.Duration, l.Duration)
	override(&s.Limits.Tokens, l.Tokens)
	override(&s.Limits.Turns, l.Turns)
	if l.Agent != nil {
		share := event.Share{}
		if s.Limits.Agent != nil {
			share = *s.Limits.Agent
		}
		override(&share.Cost, l.Agent.Cost)
		override(&share.Duration, l.Agent.Duration)
		override(&share.Tokens, l.Agent.Tokens)
		override(&share.Turns, l.Agent.Turns)
		s.Limits.Agent = &share
	}
	s.Answer, s.Warnings = nil, nil
	for _, a := range s.Agents {
		a.Retry()
		a.Thinking = a.Thinking && !noThinking
	}
}

func override(limit **int64, by *int64) {
	if by != nil {
		*limit = by
	}
}

func (s *State) rest(to Status, why string, now event.Time) {
	s.Ran = s.Elapsed(now)
	s.Status, s.Reason = to, why
}

// fork makes the rest of the ledger another quest's. The origin's open calls
// stay the origin's.
func (s *State) fork(b *event.QuestForked) {
	s.rest(Paused, "forked", s.Time) // the origin's clock stood still since then
	s.Name, s.Origin = b.Name, b
	if b.Reseed {
		s.Seed = b.Seed
	}
	for _, p := range b.Pins {
		s.pin(p)
	}
	for _, c := range s.Calls {
		switch c.Kind {
		case "model.call":
			s.Spent.Turns--
		case "tool.call":
			s.Spent.Tools--
		}
	}
	clear(s.Calls)
	if s.memory != nil {
		s.memory.Abandon()
	}
	s.Inbox = 0
	s.Answer, s.Warnings = nil, nil
	for _, a := range s.Agents {
		a.Abandon()
		if b.Model != "" && a.Model != "" {
			a.Model = b.Model
		}
	}
}

func (s *State) pin(p event.Pin) {
	for i := range s.Pins {
		if s.Pins[i].Name == p.Name {
			s.Pins[i] = p
			return
		}
	}
	s.Pins = append(s.Pins, p)
}

func (s *State) told(b *event.UserMessage) {
	for _, a := range s.Agents {
		if b.To == "" || b.To == a.Name {
			a.Retry()
			a.Told(b.Text)
		}
	}
}

func (s *State) took(inbox int64) { s.Inbox = max(s.Inbox, inbox) }

func (s *State) heard(e event.Event, b *event.ModelResult) {
	c := s.Calls[b.Call]
	delete(s.Calls, b.Call)
	s.Spent.Cost += b.Cost
	if b.Unpriced {
		s.Spent.Unpriced++
	}
	s.Spent.Usage.Add(b.Usage)
	if b.Wasted != nil {
		s.Spent.Usage.Add(*b.Wasted)
	}
	if a := s.Agent(c.Agent); a != nil {
		a.Heard(e.Seq, b)
	}
}

// got takes the result of a tool in. Results carry the actor of their call.
func (s *State) got(e event.Event, call uint64, output event.Text, failed bool) {
	delete(s.Calls, call)
	if a := s.Agent(e.Actor); a != nil {
		a.Got(call, output, failed)
	}
}

func (s *State) blocked(e event.Event, b *event.PolicyBlocked) {
	a := s.Agent(e.Actor)
	if a == nil {
		return
	}
	switch b.Proposal {
	case "tool.call":
		a.Blocked(e.Seq, b.Answer, b.Part, refusal(b))
	case "model.call":
		a.Parked, a.Held = refusal(b), true
	case "quest.finished":
		s.Ended = e.Seq
	}
}

// Fold applies an event of a ledger that may be forged: one that cannot follow
// from the state is an error.
func (s *State) Fold(e event.Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("event %d (%s) does not fit what came before it: %v", e.Seq, e.Type, p)
		}
	}()
	if e.Input() {
		if err := s.Check(e.Actor, e.Body); err != nil {
			return fmt.Errorf("event %d (%s): %w", e.Seq, e.Type, err)
		}
	}
	s.Apply(e)
	return nil
}

// Check tells whether an input of an actor may come now. It is what keeps a call
// from having two results, a command of a computer from having two ends, and one of
// a person from being taken twice.
func (s *State) Check(actor string, b event.Body) error {
	switch b := b.(type) {
	case *event.QuestCreated:
		if s.Seq != 0 {
			return fmt.Errorf("quest %s exists", s.Name)
		}
	case *event.QuestStarted:
		if s.Status != Created {
			return fmt.Errorf("quest %s has been started before", s.Name)
		}
	case *event.UserMessage:
		if b.To != "" && s.Agent(b.To) == nil {
			return fmt.Errorf("quest %s has no agent %s", s.Name, b.To)
		}
		if !s.Thinks() {
			return fmt.Errorf("quest %s works by rules alone, and nobody in it would understand a message: make it anew with a model", s.Name)
		}
		return s.fresh(b.Inbox)
	case event.Order:
		return s.fresh(b.Number())
	case *event.ToolPrepared:
		return s.checkPrepared(actor, b)
	case event.Result:
		if err := s.answers(b); err != nil {
			return err
		}
		if c, ok := s.memory.(Checker); ok {
			return c.Check(b)
		}
	default:
		return s.checkComputer(actor, b)
	}
	return nil
}

// Thinks reports whether an agent of the quest has a model.
func (s *State) Thinks() bool {
	return slices.ContainsFunc(s.Agents, func(a *agent.Agent) bool { return a.Model != "" })
}

// answers tells whether a result is one of a call that is open.
func (s *State) answers(b event.Result) error {
	want := b.Type().Answered()
	if c, ok := s.Calls[b.Answers()]; !ok || c.Kind != want {
		return fmt.Errorf("quest %s has no open %s %d", s.Name, want, b.Answers())
	}
	return nil
}

func (s *State) fresh(inbox int64) error {
	if inbox != 0 && inbox <= s.Inbox {
		return fmt.Errorf("quest %s has taken command %d already", s.Name, inbox)
	}
	return nil
}

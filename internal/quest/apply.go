package quest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Apply takes the next event of the ledger in. It trusts it: an input that does
// not fit is kept out by Check, before it becomes an event, and a derived event
// comes from Decide. It panics on a ledger that was forged to say otherwise;
// Fold does not. It is long because each type of event has its line.
func (s *State) Apply(e event.Event) {
	s.attend(e)
	if s.still() { // nobody worked since the last event
		s.Ran, s.Since = s.Elapsed(s.Time), e.Time
	}
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
		s.Answer, s.Warnings, s.NotFound, s.Ended = &b.Answer, b.Warnings, b.NotFound, e.Seq
		if s.Answerer = ""; s.Agent(e.Actor) != nil {
			s.Answerer = e.Actor
		}
	case *event.QuestFailed:
		s.rest(Failed, b.Reason, e.Time)
	case *event.BudgetExceeded:
		s.rest(Exceeded, b.Limit, e.Time)
		if b.Next > 0 {
			s.Lack = b
		}
	case *event.QuestForked:
		s.fork(b)
	case *event.BudgetRaised:
		s.raise(b.Limits)
		s.took(b.Inbox)
	case *event.QuestRested:
		s.rest(Paused, b.Reason, e.Time)
		s.Rested = b.Kind
	case *event.ProviderLost:
		s.lost(b, e.Time)
	case *event.ProviderBack:
		s.back(b.Provider)
	case *event.UserMessage:
		s.told(e, b)
		s.Spoken = e.Seq
		s.took(b.Inbox)
	case *event.MessageSent:
		if a := s.Agent(b.To); a != nil && !b.Quiet {
			if a.Parked != "" {
				a.Wake()
			}
			a.Heed()
			a.Told(b.Text)
		}
	case *event.PolicyBlocked:
		s.blocked(e, b)
	case *event.ToolSkipped:
		s.Agent(e.Actor).Blocked(e.Seq, b.Answer, b.Part, notRun(b))
	case *event.TaskOrder, *event.ModeSet, *event.ConversationBound:
		s.took(e.Body.(event.Order).Number())
	case *event.ArtifactsDropped:
		s.dropped(b)
	case *event.BlobRedacted:
		s.Dropped = append(s.Dropped, b.Blobs...) // homes do without them
	case *event.PolicyFailed:
		s.Broken = append(s.Broken, b.Policy)
	default:
		s.applyCall(e)
	}
	s.remember(e)
	s.Count(e.Time)
	s.Seq, s.Hash, s.Time = e.Seq, e.Hash, e.Time
}

// remember has the society take an event in, and then what depends on that.
func (s *State) remember(e event.Event) {
	if s.memory != nil {
		s.memory.Apply(e)
	}
	s.settled(e)
	s.hush()
}

// dropped takes in that artifacts are no longer kept.
func (s *State) dropped(b *event.ArtifactsDropped) {
	s.took(b.Inbox)
	s.Dropped = append(s.Dropped, b.Files...)
}

// applyCall takes in what is called for and what comes of it. It is long because each type of
// event has its line.
func (s *State) applyCall(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ModelCall:
		a := s.Agent(e.Actor)
		next := s.reserve(a)
		s.Calls[e.Seq] = Call{Kind: e.Type, Agent: e.Actor, Cost: next.Cost, Tokens: next.Tokens, Cache: b.Cache}
		s.Spent.Turns++
		first := a.Transcript.First
		a.Called(e.Seq, b)
		s.moved(a, first)
	case *event.ModelResult:
		s.stored(e.Actor, b.Stored)
		s.heard(e, b)
	case *event.ToolCall:
		s.Calls[e.Seq] = Call{Kind: e.Type, Agent: e.Actor, Tool: e.Tool}
		s.Spent.Tools++
		s.Agent(e.Actor).Used(e.Seq, b)
		s.touches(s.Agent(e.Actor), b)
	case *event.ToolResult:
		if a := s.Agent(s.Calls[b.Call].Agent); a != nil {
			a.Duration += b.Duration
		}
		s.kept(e.Actor, b.Stored, b.Full)
		s.worksBy(e, b)
		s.got(e, b.Call, b.Output, b.Error, b.Attachments)
	case *event.ToolAnswered:
		s.learnt(e.Actor, b.Call)
		s.heardOf(e.Actor, b.Call)
		s.got(e, b.Call, b.Output, b.Error, b.Attachments)
	case *event.TimerSet:
		s.timed(e, b)
	case *event.ToolProposed:
		s.came(e.Actor)
		s.Agent(e.Actor).Propose(e.Seq, b)
	case *event.CatalogueCall:
		s.looks(e, b)
	case *event.ToolsShown:
		s.shown(e.Actor, b)
	case *event.McpCall, *event.McpListed, *event.McpChanged:
		s.applyServer(e)
	case *event.McpSlow, *event.McpAdded, *event.McpRemoved:
		s.applyRegistry(e)
	case *event.McpUpdated, *event.McpLogged: // the first becomes an advisory, the other is for people
	case *event.McpAsked, *event.McpReplied:
		s.applyForm(e)
	case *event.GatewayAsked:
		s.Agent(e.Actor).Requesting(e.Seq, b)
	case *event.GatewayCall:
		s.sent(e, b)
	case *event.GatewayResult:
		s.received(b)
	case *event.InteractionOpened:
		s.opened(e, b)
	case *event.InteractionAnswered:
		s.replied(e, b.Interaction, Reply{Choice: b.Choice, Text: b.Text})
		s.took(b.Inbox)
	case *event.InteractionExpired:
		s.expired(e, b.Interaction)
	case *event.ToolPrepared:
		s.keptFor(e.Actor, b)
		if a := s.Agent(e.Actor); a != nil {
			a.Prepared(b)
		}
	case *event.RelationSet, *event.RelationRemoved:
		s.relates(e)
	case *event.StandingShown:
		s.Agent(e.Actor).Stand(b.Text)
	case *event.GuidanceShown:
		s.guided(s.Agent(e.Actor), b)
	case *event.AgentParked:
		s.Agent(e.Actor).Parked = b.Reason
	case *event.AdvisorySent:
		s.advise(b)
	case *event.PrepareResult:
		s.prepared(b)
	case *event.TaskSummary:
		s.Agent(e.Actor).Summarized(b)
	case *event.SittingBegun, *event.SittingEnded, *event.MailDelivered, *event.MailWithdrawn, *event.StudyOrder, *event.FilesCall, *event.FilesResult:
		s.applySitting(e)
	case *event.ReviewBegun:
		s.reads(e, b)
	case *event.HomeCall, *event.HomeRenewed, *event.ExecutorCall, *event.ExecutorReady, *event.SessionOpened, *event.PromptCall, *event.PromptBegun, *event.PromptResult,
		*event.PromptStopped, *event.PermissionAsked, *event.PermissionDecided, *event.ToolReported, *event.PlanReported, *event.SaidReported:
		s.applyExecutor(e)
	case event.Keeper:
		s.keeps(b)
	case event.Result:
		delete(s.Calls, b.Answers())
	default:
		if e.Type.Call() {
			s.Calls[e.Seq] = Call{Kind: e.Type}
		}
		s.applyComputer(e)
	}
}

// timed takes in that a timer is set: a new one takes the place of the one before it.
func (s *State) timed(e event.Event, b *event.TimerSet) {
	for seq, c := range s.Calls {
		if c.Timer == b.Purpose {
			delete(s.Calls, seq)
		}
	}
	s.Calls[e.Seq] = Call{Kind: e.Type, Timer: b.Purpose, At: b.At}
}

func (s *State) create(b *event.QuestCreated, now event.Time) {
	s.Name, s.Status, s.Rules, s.Seed = b.Name, Created, b.Rules, b.Seed
	s.Problem, s.Spec, s.Data, s.Pins, s.Limits, s.Skills = b.Problem, b.Spec, b.Data, b.Pins, b.Limits, b.Skills
	s.Computer, s.Repo, s.Cache, s.Knowledge = b.Computer, b.Repo, b.Cache, b.Knowledge
	if b.Prepare != "" {
		s.Preparing = &Preparing{Command: b.Prepare}
	}
	s.Policies, s.Tools, s.Servers, s.Executors = b.Policies, b.Tools, b.Servers, b.Executors
	s.PermissionTimeout, s.Created = event.Time(b.PermissionTimeout), now
	for _, t := range b.Texts {
		s.Texts[t.Name] = t.Text
	}
	for _, spec := range each(b.Agents) {
		a := agent.New(spec, b.Thinking)
		a.Tree, a.Compacts, a.Strict = s.Begun(), b.Context == event.ContextCompact, b.Limits.Strict
		if slices.ContainsFunc(b.Executors, func(p event.ExecutorPin) bool { return p.Name == a.Executor }) {
			a.Session = &agent.Session{}
		}
		if s.hears(a) && !s.HasMail() {
			a.Told(s.firstWords(b.Problem))
		}
		s.Agents = append(s.Agents, a)
		s.finds(a, b.Discover)
	}
	if s.HasMail() {
		s.Mail = []Letter{{Seq: 1, Time: now, Text: b.Problem}}
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
	s.Status, s.Reason, s.Rested, s.Lack, s.Since = Running, "", "", nil, now
	s.forgetOutages()
	s.retryServers()
	if s.Preparing != nil {
		s.Preparing.Failed = ""
	}
	s.Limits = with(s.Limits, l)
	s.Answer, s.Warnings, s.NotFound = nil, nil, false
	for _, a := range s.Agents {
		a.Retry()
		a.Thinking = a.Thinking && !noThinking
	}
}

// with are limits, but for those that others replace. Whether they are strict no other says.
func with(l, by event.Limits) event.Limits {
	override(&l.Cost, by.Cost)
	override(&l.Duration, by.Duration)
	override(&l.Storage, by.Storage)
	override(&l.Tokens, by.Tokens)
	override(&l.Turns, by.Turns)
	if by.Agent != nil {
		share := event.Share{}
		if l.Agent != nil {
			share = *l.Agent
		}
		override(&share.Cost, by.Agent.Cost)
		override(&share.Duration, by.Agent.Duration)
		override(&share.Storage, by.Agent.Storage)
		override(&share.Tokens, by.Agent.Tokens)
		override(&share.Turns, by.Agent.Turns)
		l.Agent = &share
	}
	return l
}

// raise takes other limits in. An agent that its share kept from its turn gets it back.
func (s *State) raise(l event.Limits) {
	s.Limits = with(s.Limits, l)
	for _, a := range s.Agents {
		if l.Agent != nil && a.Held && s.over(a, s.Time) == nil {
			a.Retry()
		}
	}
}

func override(limit **int64, by *int64) {
	if by != nil {
		*limit = by
	}
}

func (s *State) rest(to Status, why string, now event.Time) {
	s.Ran = s.Elapsed(now)
	s.Status, s.Reason, s.Rested, s.Lack = to, why, "", nil
	s.forgetOutages()
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
		case "model.call", "prompt.call":
			s.Spent.Turns--
		case "tool.call":
			s.Spent.Tools--
		case "gateway.call":
			if !c.Count {
				s.Spent.Turns--
			}
		}
	}
	clear(s.Calls)
	s.Questions = nil // whoever asked asks again
	s.abandonServers()
	s.abandonSearches()
	s.abandonCopies()
	if s.memory != nil {
		s.memory.Abandon()
	}
	s.Inbox = 0
	s.Answer, s.Warnings, s.NotFound = nil, nil, false
	s.Machines, s.Driver = nil, "" // the origin's, as its agents' are
	for _, a := range s.Agents {
		a.Abandon()
		if b.Model != "" && a.Model != "" {
			a.Become(b.Model)
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

func (s *State) told(e event.Event, b *event.UserMessage) {
	if s.HasMail() {
		l := Letter{Seq: e.Seq, Time: e.Time, Text: b.Text, Attachments: b.Attachments, Conversation: b.Conversation, Reply: b.Reply, Sender: b.Sender, Source: b.Source}
		if b.Document != nil {
			l.Document, l.Late = b.Document.Name, !s.revise(e, b)
		}
		s.post(l, b.To)
		return
	}
	for _, a := range s.Agents {
		if b.To == "" && s.hears(a) || b.To == a.Name {
			a.Retry()
			a.Heed()
			a.Told(b.Text, b.Attachments...)
		}
	}
}

func (s *State) took(inbox int64) { s.Inbox = max(s.Inbox, inbox) }

func (s *State) heard(e event.Event, b *event.ModelResult) {
	c := s.Calls[b.Call]
	delete(s.Calls, b.Call)
	s.Spent.Cost += b.Cost
	if b.Untaken() {
		s.Spent.Turns-- // it was not taken
	}
	if b.Unpriced {
		s.Spent.Unpriced++
	}
	if b.Estimated {
		s.Spent.Estimated++
	}
	if b.Recalled != nil {
		s.Spent.Recalled++
	}
	s.Spent.Usage.Add(b.Usage)
	if b.Wasted != nil {
		s.Spent.Usage.Add(*b.Wasted)
	}
	if a := s.Agent(c.Agent); a != nil {
		summing := a.Compacting != nil
		a.Heard(e.Seq, b)
		if b.Error == nil && !b.Untaken() && !summing && a.Empty == 0 && a.Failed == nil {
			s.came(a.Name)
		}
		s.order(a)
	}
}

// got takes the result of a tool in. Results carry the actor of their call.
func (s *State) got(e event.Event, call uint64, output event.Text, failed bool, attached []event.Attachment) {
	delete(s.Calls, call)
	if a := s.Agent(e.Actor); a != nil {
		a.Got(e.Seq, call, output, failed, attached...)
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
	case "model.call", "prompt.call":
		a.Parked, a.Held = refusal(b), true
	case "gateway.call":
		a.Refuse(b.Answer)
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

// Accepts tells whether an input that comes now is taken. It is Check, and refuses what
// would come to nothing besides: a pause or a stop of a quest that has ended. Ledgers of
// before may have such events, and fold.
func (s *State) Accepts(actor string, b event.Body) error {
	switch b.(type) {
	case *event.QuestPaused, *event.QuestStopped:
		if s.Status == Finished || s.Status == Failed {
			return fmt.Errorf("quest %s is %s: there is nothing to pause or to stop", s.Name, s.Status)
		}
	}
	return s.Check(actor, b)
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
	case *event.SurveyDesigned, *event.SurveyObserved:
		return fmt.Errorf("quest %s is no study, whose ledger is another", s.Name)
	case *event.QuestStarted:
		if s.Status != Created {
			return fmt.Errorf("quest %s has been started before", s.Name)
		}
		return s.CheckLimits(b.Limits)
	case *event.QuestResumed:
		return errors.Join(s.CheckLimits(b.Limits), s.fresh(b.Inbox))
	case *event.BudgetRaised:
		return errors.Join(s.CheckLimits(b.Limits), s.fresh(b.Inbox))
	case *event.QuestForked:
		return s.checkFork(b.Model)
	case *event.UserMessage:
		if b.To != "" && s.Agent(b.To) == nil {
			return fmt.Errorf("quest %s has no agent %s", s.Name, b.To)
		}
		if !s.Thinks() {
			return fmt.Errorf("quest %s works by rules alone, and nobody in it would understand a message: make it anew with a model", s.Name)
		}
		return cmp.Or(s.fresh(b.Inbox), s.checkDocument(b))
	case *event.InteractionAnswered:
		return s.checkAnswer(b)
	case *event.ProviderLost:
		return s.checkLost(b)
	case *event.ProviderBack:
		return s.checkBack(b)
	case *event.TaskOrder:
		return cmp.Or(s.fresh(b.Inbox), s.checkOrder(b))
	case *event.ModeSet:
		return cmp.Or(s.fresh(b.Inbox), s.checkMode(b))
	case *event.StudyOrder:
		return cmp.Or(s.fresh(b.Inbox), s.checkSteer(b))
	case *event.ConversationBound:
		return cmp.Or(s.fresh(b.Inbox), s.checkBound(b))
	case *event.McpAdded, *event.McpRemoved, *event.McpSlow, *event.McpUpdated:
		return s.checkRegistry(actor, b)
	case event.Order:
		return s.fresh(b.Number())
	case *event.ToolPrepared:
		return s.checkPrepared(actor, b)
	case *event.ToolProposed:
		return s.checkProposed(actor, b)
	case *event.ToolsShown:
		return s.checkShown(actor, b)
	case *event.McpListed:
		return s.checkListed(actor, b)
	case *event.McpChanged:
		return s.checkChanged(actor, b)
	case *event.McpAsked:
		return s.checkForm(actor, b)
	case *event.GatewayAsked:
		return s.checkAsked(actor, b)
	case *event.PrepareResult:
		return s.checkResult(b)
	case *event.HomeRenewed:
		return s.checkRenewed(actor, b)
	case *event.ExecutorReady, *event.SessionOpened, *event.PromptBegun, *event.PromptResult,
		*event.PermissionAsked, *event.ToolReported, *event.PlanReported, *event.SaidReported:
		return s.checkExecutor(actor, b)
	case event.Result:
		if err := cmp.Or(s.answers(b), s.checkRecalled(b)); err != nil {
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

// Thinks reports whether an agent of the quest would understand a word: it has a model, or
// is an outside agent.
func (s *State) Thinks() bool {
	return slices.ContainsFunc(s.Agents, func(a *agent.Agent) bool { return a.Mind() != agent.ByRules })
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

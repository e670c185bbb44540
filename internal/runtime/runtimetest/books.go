package runtimetest

import (
	"errors"
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// books keep account of a quest from its events alone, in their own plain way. The first
// event that no quest of any society must have is an error.
type books struct {
	seq  uint64
	hash event.Hash
	// running says whether the quest runs: only then something is asked of the world.
	running bool
	thinks  bool
	// open are the calls without a result, and those that were refused and not answered;
	// timers are the purposes of those that are timers, asked the agents of model calls.
	open   map[uint64]event.Type
	timers map[uint64]string
	asked  map[uint64]string
	// limits are those that hold now.
	limits              event.Limits
	turns, cost, tokens int64
	share               map[string]int64
	taken               int64
	// touched are the agents of whom something was told since the last look.
	touched map[string]bool

	computers computerBooks
	cache     cacheBooks
	beside    besideBooks
	// unprepared says that nobody may do anything yet.
	stopped    map[uint64]bool // prompts that the rules stopped
	unprepared bool
	// shadow is the fold of the ledger, beside the owner's state. It is the replayer's: what the
	// rules derive from it must be what the ledger has next, to the byte.
	shadow *quest.State
	replay *runtime.Replayer
}

func newBooks() *books {
	return &books{
		open: map[uint64]event.Type{}, timers: map[uint64]string{}, asked: map[uint64]string{}, share: map[string]int64{}, touched: map[string]bool{},
		computers: computerBooks{
			begun: map[string]bool{}, running: map[string]*event.CliRun{}, trees: map[string]*event.TreeRef{}, fingerprints: map[string]event.Hash{},
		},
	}
}

// count checks that the ledger is one chain, that it folds, and what must hold of the
// event.
func (b *books) count(w *World, e event.Event) error {
	if e.Seq <= uint64(w.begins) { // it was looked at where it was written
	} else if err := e.Follows(b.seq, b.hash); err != nil {
		return fmt.Errorf("the chain is broken: %w", err)
	}
	b.seq, b.hash = e.Seq, e.Hash
	if err := b.fold(w, e); err != nil {
		return err
	}
	b.touched[e.Actor] = true
	if err := b.command(w, e); err != nil {
		return err
	}
	if err := b.call(w, e); err != nil {
		return err
	}
	b.life(w, e)
	b.outages(w, e)
	if err := b.cache.count(w, e); err != nil {
		return err
	}
	if err := b.beside.count(w, e); err != nil {
		return err
	}
	return b.computers.count(w, e)
}

// fold derives the ledger again, event by event. What a quest that was taken up began with is only
// folded: it was derived again where it was written.
func (b *books) fold(w *World, e event.Event) error {
	if b.replay == nil {
		b.replay = runtime.NewReplayer(w.societies())
	}
	d, err := b.replay.Begin(e)
	b.shadow = b.replay.State
	switch {
	case err != nil:
		return err
	case e.Seq <= uint64(w.begins):
		return b.shadow.Fold(e)
	case d == nil:
		d = b.replay.Replay(e)
	}
	if d != nil {
		return fmt.Errorf("replay: %w\nrecorded %s\ncomputed %s", d, d.Recorded, d.Computed)
	}
	return nil
}

// whole finds what the last input led to and the ledger does not show.
func (b *books) whole() error {
	if d := b.replay.End(); d != nil {
		return fmt.Errorf("replay: %w", d)
	}
	return nil
}

// command checks that what people post is taken once and in order. Only a message to a
// quest that nobody in would understand is left out, and a pause or a stop of one that has
// ended.
func (b *books) command(w *World, e event.Event) error {
	order, ok := e.Body.(event.Order)
	if !ok || order.Number() == 0 {
		return nil
	}
	if order.Number() <= b.taken {
		return fmt.Errorf("command %d was taken after command %d", order.Number(), b.taken)
	}
	for n := b.taken + 1; n < order.Number(); n++ {
		switch w.inbox[n-1].Body.(type) {
		case *event.QuestPaused, *event.QuestStopped: // it had ended
			continue
		case *event.StudyOrder, *event.ConversationBound: // there was nothing that it could be about
			continue
		case *event.McpAdded, *event.McpRemoved: // it was there already, or was not
			continue
		}
		if _, message := w.inbox[n-1].Body.(*event.UserMessage); !message || b.thinks {
			return fmt.Errorf("command %d was taken, and command %d was not", order.Number(), n)
		}
	}
	b.taken = order.Number()
	return nil
}

// life notes whether the quest runs, and by which limits.
func (b *books) life(w *World, e event.Event) {
	switch x := e.Body.(type) {
	case *event.QuestCreated:
		b.limits = x.Limits
		for _, a := range x.Agents {
			b.thinks = b.thinks || a.Model != ""
		}
		for _, a := range b.shadow.Agents {
			b.computers.trees[a.Name] = a.Tree
		}
		b.unprepared = x.Prepare != ""
	case *event.PromptStopped:
		if b.stopped == nil {
			b.stopped = map[uint64]bool{}
		}
		b.stopped[x.Call] = true
	case *event.HomeRenewed:
		if x.Error.Len() == 0 {
			b.computers.trees[e.Actor] = x.Tree
		}
	case *event.PrepareResult:
		if x.Tree != nil {
			b.unprepared = false
			for _, a := range b.shadow.Agents {
				b.computers.trees[a.Name] = x.Tree
			}
		}
	case *event.ModelCall, *event.ToolCall, *event.ExecutorCall, *event.PromptCall:
		if b.unprepared {
			panic("an agent does something before what it begins with is prepared")
		}
	case *event.QuestStarted:
		b.runs(x.Limits)
	case *event.QuestResumed:
		b.runs(x.Limits)
	case *event.BudgetRaised:
		b.raised(x.Limits)
	case *event.QuestForked:
		b.fork()
		w.Saw("forks")
	case *event.QuestPaused, *event.QuestStopped, *event.QuestFinished, *event.QuestFailed, *event.QuestRested, *event.BudgetExceeded:
		b.running = false
		w.Saw(string(e.Type))
		if e.Type == "quest.finished" || e.Type == "quest.failed" || b.shadow.Rested == event.RestNoAgreement {
			w.ended++
		}
	}
}

func (b *books) runs(l event.Limits) {
	b.running = true
	b.raised(l)
}

func (b *books) raised(l event.Limits) {
	for _, x := range [][2]**int64{{&b.limits.Turns, &l.Turns}, {&b.limits.Cost, &l.Cost}, {&b.limits.Tokens, &l.Tokens}} {
		if *x[1] != nil {
			*x[0] = *x[1]
		}
	}
}

// fork leaves the origin's calls to the origin.
func (b *books) fork() {
	b.running, b.taken = false, 0
	for _, name := range b.asked {
		b.turns--
		b.share[name]--
	}
	clear(b.open)
	clear(b.timers)
	clear(b.asked)
	clear(b.computers.running)
	clear(b.computers.fingerprints)
}

// call checks that every call has one result, and that nothing is asked of the world
// while the quest rests, or beyond a limit.
func (b *books) call(w *World, e event.Event) error {
	if r, ok := e.Body.(event.Result); ok && (r.Answers() != 0 || e.Type != "tools.shown") {
		if r.Type().Answered() == "interaction.opened" {
			w.Saw(string(e.Type))
		}
		return b.answered(e, r)
	}
	switch x := e.Body.(type) {
	case *event.ToolSkipped:
		b.open[e.Seq] = e.Type
		w.Saw("skipped")
	case *event.PolicyBlocked:
		if x.Proposal == "tool.call" {
			b.open[e.Seq] = e.Type
		}
		for _, by := range x.By {
			w.Saw("blocked by " + by.Policy)
		}
	case *event.MessageSent:
		if x.Policy != "" {
			w.Saw("warned")
		}
	case *event.StandingShown:
		w.Saw("told where they stand")
	case *event.GuidanceShown:
		w.Saw("told how to work")
	case *event.TimerSet:
		for seq, purpose := range b.timers {
			if purpose == x.Purpose { // the new one takes its place
				delete(b.timers, seq)
				delete(b.open, seq)
			}
		}
		b.timers[e.Seq] = x.Purpose
	case *event.GatewayCall:
		w.Saw("requests")
		if !x.Count {
			if err := b.asks(e); err != nil {
				return err
			}
		}
	case *event.PromptCall:
		if err := b.asks(e); err != nil {
			return err
		}
	case *event.ModelCall:
		if x.First > 0 && x.Head != x.First {
			w.Saw("cuts")
		}
		if x.Compact != nil {
			w.Saw("compactions")
		}
		if err := b.asks(e); err != nil {
			return err
		}
	}
	if !e.Type.Call() {
		return nil
	}
	if err := b.inOrder(w, e); err != nil {
		return err
	}
	if b.open[e.Seq] = e.Type; !b.running {
		return errors.New("the world is asked for something, and the quest does not run")
	}
	return nil
}

// inOrder checks that the calls of one answer are made in its order, each when those before
// it have their results, but for those that only read: a policy may have one of these wait,
// and the next go first.
func (b *books) inOrder(w *World, e event.Event) error {
	x, ok := e.Body.(*event.ToolCall)
	if !ok {
		return nil
	}
	reads := func(tool string) bool {
		own := b.shadow.Own(tool)
		return tool == Safe || own != nil && own.Reads
	}
	together := 1
	for seq, kind := range b.open {
		if kind != e.Type {
			continue
		}
		other := w.Event(seq)
		y := other.Body.(*event.ToolCall)
		switch {
		case y.Answer != x.Answer:
		case !reads(e.Tool) || !reads(other.Tool):
			return fmt.Errorf("%s, part %d of answer %d, is called for beside %s, part %d", e.Tool, x.Part, x.Answer, other.Tool, y.Part)
		default:
			together++
			w.Saw("together")
		}
	}
	if together > quest.MaxTogether {
		return fmt.Errorf("%d calls of answer %d run together, want at most %d", together, x.Answer, quest.MaxTogether)
	}
	return nil
}

// asks checks that there is a turn left for an agent.
func (b *books) asks(e event.Event) error {
	for _, l := range []struct {
		name string
		used int64
		max  *int64
	}{{"turns", b.turns, b.limits.Turns}, {"cost", b.cost, b.limits.Cost}, {"tokens", b.tokens, b.limits.Tokens}} {
		if l.max != nil && l.used >= *l.max {
			return fmt.Errorf("a model is asked, and the %s are %d of %d", l.name, l.used, *l.max)
		}
	}
	if err := b.reserved(); err != nil {
		return err
	}
	if s := b.limits.Agent; s != nil && s.Turns != nil && b.share[e.Actor] >= *s.Turns {
		return fmt.Errorf("%s has had %d turns of %d, and is asked", e.Actor, b.share[e.Actor], *s.Turns)
	}
	b.turns++
	b.share[e.Actor]++
	b.asked[e.Seq] = e.Actor
	return nil
}

// reserved checks of strict limits that they suffice for all that is under way, the call
// that was just made included.
func (b *books) reserved() error {
	if !b.limits.Strict {
		return nil
	}
	cost, tokens := b.cost, b.tokens
	for _, c := range b.shadow.Calls {
		cost, tokens = cost+c.Cost, tokens+c.Tokens
	}
	if l := b.limits; l.Cost != nil && cost > *l.Cost || l.Tokens != nil && tokens > *l.Tokens {
		return fmt.Errorf("a model is asked, and what is under way can pass a strict limit: a cost of %d, %d tokens", cost, tokens)
	}
	return nil
}

func (b *books) answered(e event.Event, r event.Result) error {
	kind, open := b.open[r.Answers()]
	refusal := (kind == "policy.blocked" || kind == "tool.skipped") && e.Type == "tool.answered"
	if !open || kind != e.Type.Answered() && !refusal {
		return fmt.Errorf("call %d has a second result, or one that is not its own, or is not there", r.Answers())
	}
	delete(b.open, r.Answers())
	delete(b.timers, r.Answers())
	delete(b.asked, r.Answers())
	if x, ok := r.(*event.PromptResult); ok && x.Stop == event.StopInterrupted && !b.stopped[x.Call] {
		b.turns-- // it is still to be taken
		b.share[e.Actor]--
	}
	if x, ok := r.(*event.GatewayResult); ok {
		b.cost += x.Cost
		b.tokens += x.Usage.Input + x.Usage.Output
	}
	if x, ok := r.(*event.ModelResult); ok {
		b.cost += x.Cost
		b.tokens += x.Usage.Input + x.Usage.Output
		if x.Wasted != nil {
			b.tokens += x.Wasted.Input + x.Wasted.Output
		}
	}
	return nil
}

// check holds the state that the owner has against the books, and the world's own side:
// nothing is begun twice that may do harm, and somebody makes every call.
func (w *World) check() error {
	s, b := w.State(), w.books
	if w.Chance(w.rates.Compare) {
		if err := same(s, b.shadow); err != nil {
			return err
		}
	}
	if s.Spent.Cost != b.cost || s.Spent.Turns != b.turns {
		return fmt.Errorf("the state has a cost of %d and %d turns, but answers worth %d came in %d turns", s.Spent.Cost, s.Spent.Turns, b.cost, b.turns)
	}
	for seq, c := range s.Calls {
		if w.rows[c.Kind] == nil {
			return fmt.Errorf("nobody simulates a %s: give the part of %s a row for it", c.Kind, s.Rules)
		}
		if b.open[seq] != c.Kind {
			return fmt.Errorf("the state has call %d (%s) open, which is none, or has a result", seq, c.Kind)
		}
		if _, flies := w.flying[seq]; !flies && asks(s, seq) && !isPrepared(w.State(), seq) {
			return fmt.Errorf("call %d (%s) is open, and nobody makes it", seq, c.Kind)
		}
	}
	for seq, kind := range b.open {
		if _, open := s.Calls[seq]; !open && kind != "policy.blocked" && kind != "tool.skipped" {
			return fmt.Errorf("call %d (%s) is closed without a result", seq, kind)
		}
	}
	for seq, n := range w.begun {
		if n > 1 {
			return fmt.Errorf("the command of call %d, which is not safe to repeat, was begun %d times", seq, n)
		}
		if _, open := b.open[seq]; !open {
			delete(w.begun, seq)
		}
	}
	if _, visited := w.part.(Visitor); !visited && s.Status == quest.Running && !s.Waiting() && !w.attends() && !w.underWay() {
		return errors.New("the quest runs, and nothing is under way, or only the timer of its limit")
	}
	if err := w.checkAgents(s); err != nil {
		return err
	}
	if err := b.beside.check(s); err != nil {
		return err
	}
	if p, ok := w.part.(Watcher); ok {
		return p.Watch(w, s)
	}
	return nil
}

// attends reports whether a society that works in sittings waits for the end of a command.
func (w *World) attends() bool { return w.State().HasMail() && len(w.machine.kept) > 0 }

// underWay reports whether something will come that lets the quest go on.
func (w *World) underWay() bool {
	for seq := range w.flying {
		if c, open := w.State().Calls[seq]; open && c.Timer != "duration" && !isPrepared(w.State(), seq) {
			return true
		}
	}
	return false
}

// isPrepared reports whether the world has done its part of a call, and the rest is for the
// rules.
func isPrepared(s *quest.State, seq uint64) bool {
	c := s.Calls[seq]
	if c.Tool == "" {
		return false
	}
	u, err := s.Agent(c.Agent).Use(seq)
	return err == nil && u.Prepared != nil
}

// checkAgents looks at the agents of whom something was told.
func (w *World) checkAgents(s *quest.State) error {
	for name := range w.books.touched {
		a := s.Agent(name)
		if a == nil {
			continue
		}
		for _, u := range a.Open {
			if u.Call == 0 && s.Status == quest.Running && len(s.Calls) > 0 {
				w.Saw("waited")
			}
		}
		if err := checkTranscript(&a.Transcript); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := w.books.computers.check(s, a, w.machine); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	clear(w.books.touched)
	return nil
}

// checkTranscript holds a window against what every provider asks of one: a user begins,
// and each result of a tool follows the call it answers.
func checkTranscript(t *agent.Transcript) error {
	if len(t.Messages) == 0 {
		return nil
	}
	first := &t.Messages[0]
	if t.Lead != nil {
		first = t.Lead
	}
	if first.Role != model.User {
		return fmt.Errorf("the window begins with the %s", first.Role)
	}
	var before *agent.Message
	for i := range t.Messages {
		m := &t.Messages[i]
		for _, p := range m.Parts {
			if p.Kind == model.PartToolResult && !calls(before, p.ID) {
				return fmt.Errorf("message %d answers tool call %s, which is not before it", t.First+int64(i), p.ID)
			}
		}
		before = m
	}
	return nil
}

func calls(m *agent.Message, id string) bool {
	if m == nil {
		return false
	}
	for _, p := range m.Parts {
		if p.Kind == event.PartToolCall && p.ID == id {
			return true
		}
	}
	return false
}

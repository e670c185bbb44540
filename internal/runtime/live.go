package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/computer"
	"lyceum/internal/computer/proxy"
	"lyceum/internal/event"
	"lyceum/internal/knowledge/answers"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/tool"
)

// Delta is a piece of what a model says to a call, while it speaks. First says that it is
// how the answer begins: who has not had that can do nothing with the rest.
type Delta struct {
	Agent string `json:"agent"`
	Call  uint64 `json:"call"` // the seq of the model.call
	First bool   `json:"first"`
	Kind  string `json:"kind"`
	Text  string `json:"text"`
}

// RunOptions are what can be said about one run.
type RunOptions struct {
	// Limits replace those of the quest where they are set.
	Limits event.Limits
	// NoThinking has models answer without thinking first, from this run on.
	NoThinking bool
	// OnEvent is told of each event once it is durable, OnDelta of what a model
	// says while it speaks. Both are called one at a time and must return soon.
	OnEvent func(event.Event, *quest.State)
	OnDelta func(Delta)
	// OnProgress is told what takes long before the quest can run, line by line.
	OnProgress func(line string)
	// Grace is how long Run waits for calls under way when the quest has come to
	// rest, 30 seconds if zero. What comes later is asked for again by the next
	// Run.
	Grace time.Duration
	// Leave has Run return when the quest waits for a person and nothing else is under
	// way. It goes on with the next Run, once somebody has answered.
	Leave bool
	// Opened is the quest as the caller has just opened it, nil if it did not; Run has it from then on.
	Opened *Opened
	// Claim is the caller's, of this quest, which Run releases; nil has Run take one.
	Claim ledger.Claim
	// Only, if it is not nil, has Run do nothing unless that holds of the quest: what it is
	// run for may be over.
	Only func(*quest.State) bool
	// Interrupt, once closed, pauses the quest: what is under way comes in, and
	// nothing new begins.
	Interrupt <-chan struct{}
	// HandOver, once closed, ends the run without a word of it in the ledger: what is under way comes
	// in, nothing new begins, and whoever owns the quest next goes on.
	HandOver <-chan struct{}
	// Served is set by a server that runs the quest in the background: such a run is
	// noted in the store, and at its end, with the run's error, Served tells whether it stays. Any
	// other run takes away what a server noted.
	Served func(*quest.State, error) (keep bool)
}

// ErrInterrupted says that a run was ended by its options' Interrupt.
var ErrInterrupted = errors.New("interrupted")

// ErrHandedOver says that a run was ended by its options' HandOver.
var ErrHandedOver = errors.New("handed over")

// Run owns a quest until it rests: finished, failed, stopped, out of budget, or
// interrupted; or, if the options say so, until it waits for a person. A paused quest is waited for, until it is resumed or stopped.
// When ctx ends, Run leaves at once; the next Run goes on from the ledger.
// Someone else's quest is refused with ledger.ErrClaimed.
func (r *Runtime) Run(ctx context.Context, name string, opts RunOptions) (*quest.State, error) {
	// What is in the inbox by now was said to a quest at rest; what comes later is
	// meant for this run.
	before, err := r.Ledger.Commands(ctx, name, 0)
	claim := opts.Claim
	if claim == nil && err == nil {
		claim, err = r.Ledger.Claim(ctx, name)
	}
	if claim != nil {
		defer claim.Release()
	}
	if err != nil {
		return nil, err
	}
	if err = r.stays(ctx, name); err == nil {
		err = r.mark(ctx, name, opts.Served != nil)
	}
	if err != nil {
		return nil, fmt.Errorf("run quest %s: %w", name, err)
	}
	ready := r.begun(ctx)
	held, let := whileHeld(ctx, claim)
	defer let()
	if err := r.moveHere(held, name, claim); err != nil {
		return nil, fmt.Errorf("run quest %s: %w", name, err)
	}
	opts.Claim = claim
	state, err := r.run(held, name, opts, before)
	ready()
	if errors.Is(context.Cause(held), ledger.ErrLost) || overtaken(ctx, claim, err) {
		// Another may own the quest by now: its marks and its checkpoints are that one's.
		return state, errors.Join(fmt.Errorf("run quest %s: %w", name, ledger.ErrLost), r.gone(ctx, name, claim))
	}
	r.rested(ctx, name)
	if opts.Served != nil {
		r.served(ctx, name, state, err, opts.Served(state, err))
	}
	return state, err
}

// whileHeld returns a context that ends, with ledger.ErrLost for its cause, when a claim is lost.
func whileHeld(ctx context.Context, claim ledger.Claim) (held context.Context, let func()) {
	held, cancel := context.WithCancelCause(ctx)
	if claim.Lost() == nil {
		return held, func() { cancel(nil) }
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-claim.Lost():
			cancel(ledger.ErrLost)
		case <-held.Done():
		}
	})
	return held, func() {
		cancel(nil)
		watching.Wait()
	}
}

// run is Run of a quest that is claimed.
func (r *Runtime) run(ctx context.Context, name string, opts RunOptions, before []ledger.Command) (*quest.State, error) {
	state, snapshot, err := r.take(ctx, name, opts.Opened)
	if err != nil {
		return nil, err
	}
	if opts.Only != nil && !opts.Only(state) {
		return state, nil
	}
	if err := r.prepare(ctx, name, state); err != nil {
		return nil, err
	}
	l := &live{
		owner: owner{key: name, log: r.Ledger, state: state},
		rt:    r, opts: opts, mail: newMailbox(), rendered: map[string]*agent.Rendering{},
		running: map[uint64]bool{}, turns: map[uint64]context.CancelFunc{}, tools: tool.Extend(r.Tools),
		desks: map[string]*desk{}, models: map[string]model.Model{},
	}
	l.owner.brief = l.brief
	l.fenced, _ = opts.Claim.(ledger.Fenced)
	l.began, l.vouched, l.discovery, l.snapshot = state.Seq, state.Seq, r.NewDiscovery(), snapshot
	l.work, l.stop = context.WithCancel(ctx)
	if n := len(before); n > 0 {
		l.before = before[n-1].ID
	}
	if l.opts.Grace == 0 {
		l.opts.Grace = 30 * time.Second
	}
	defer l.close()
	if r.Room != nil {
		if err := r.Room(); err != nil {
			return l.state, fmt.Errorf("run quest %s: %w", name, err)
		}
	}
	if err := l.openModels(ctx); err != nil {
		return l.state, fmt.Errorf("run quest %s: %w", name, err)
	}
	if err := l.openAnswers(); err != nil {
		return l.state, fmt.Errorf("run quest %s: %w", name, err)
	}
	if err := l.openComputers(ctx); err != nil {
		return l.state, fmt.Errorf("run quest %s: %w", name, err)
	}
	if err := l.openExecutors(ctx); err != nil {
		return l.state, fmt.Errorf("run quest %s: %w", name, err)
	}
	if err := l.openDesks(); err != nil {
		return l.state, fmt.Errorf("run quest %s: %w", name, err)
	}
	l.storage, l.stations = newStorage(l.state), l.newStations()
	if err := l.openSkills(ctx); err != nil {
		return l.state, fmt.Errorf("run quest %s: %w", name, err)
	}
	if err := l.openServers(ctx); err != nil {
		return l.state, fmt.Errorf("run quest %s: %w", name, err)
	}
	if err := l.openWorkshop(ctx); err != nil {
		return l.state, fmt.Errorf("run quest %s: %w", name, err)
	}
	err = errors.Join(l.run(), l.closeWorkshop())
	if l.handing {
		err = errors.Join(err, l.noteUnbegun(ctx))
	}
	if err != nil {
		return l.state, fmt.Errorf("run quest %s: %w", name, err)
	}
	err = r.writeSummary(ctx, name, l.state)
	l.deliverAsked(ctx)
	if l.snapshot.atRest() {
		l.save()
	}
	r.glance(ctx, name, l.state)
	if err == nil && l.handing && !l.over() && !l.idle() {
		err = fmt.Errorf("run quest %s: %w", name, ErrHandedOver)
	}
	if err == nil && l.interrupted {
		err = fmt.Errorf("run quest %s: %w", name, ErrInterrupted)
	}
	return l.state, err
}

// maxTools is how many tools of an agent run at the same time. One agent's do not hold
// up another's.
const maxTools = quest.MaxTogether

// live is an owner in the world.
type live struct {
	owner
	rt       *Runtime
	opts     RunOptions
	mail     *mailbox
	rendered map[string]*agent.Rendering
	running  map[uint64]bool
	turns    map[uint64]context.CancelFunc // those that can be cut short
	stop     context.CancelFunc
	snapshot due
	models   map[string]model.Model
	speaking sync.Mutex // held while OnDelta is told

	// tools are Lyceum's own, and those that were added in this run; waiting are outside
	// agents that wait for an answer.
	tools   *tool.Extended
	shelf   *Shelf
	waiting waiters
	asking  askers

	// desks are the agents' places; they do not change while agents act.
	desks map[string]*desk
	// stations are the computers of others than agents.
	stations *stations
	// servers are the connections to MCP servers. began is where the ledger stood when the
	// run did.
	servers *servers
	began   uint64
	// vouched is where the ledger stood when the last checkpoint was asked for, hashes are those of the
	// events since, the first at least.
	vouched uint64
	hashes  []event.Hash
	// discovery finds tools for agents.
	discovery *Discovery
	// answers are those that were given before, nil if the quest may not use them; recalls are
	// the calls under way that do, by seq. unembedded tells once that vectors are not to be had.
	answers    *answers.Store
	recalls    map[uint64]*recalling
	unembedded sync.Once
	// executors are the agents that are somebody else's programs.
	executors *executors
	seeds     seeds
	trees     treeTexts
	driver    computer.Driver
	spec      computer.Spec
	rules     *proxy.Rules
	imported  *Imported // nil of a quest that was made here
	// bench is what the society has besides, nil if it has nothing; services answer calls.
	bench    Bench
	services map[event.Type]service
	work     context.Context // ends when the run is given up

	// wanted ends when the quest comes to rest: no call is tried again then.
	wanted context.Context
	enough context.CancelFunc

	fenced      ledger.Fenced // nil on a store of one machine
	before      int64         // the last command that came before this run
	interrupted bool
	leaving     bool // the grace period has begun
	// handing says that the run is to end without a word, unbegun are the calls that it has recorded since and
	// leaves to the next owner.
	handing bool
	unbegun []uint64

	// storage is how much of the disk the quest takes. stranded says that this run has
	// paused the quest, because the world lacks something.
	storage  *storage
	stranded bool
}

func (l *live) run() error {
	work := l.work
	defer l.stop()
	posted, stop := l.rt.Ledger.Posted(l.key)
	defer stop()
	if err := l.begin(work); err != nil {
		return err
	}
	interrupt := l.opts.Interrupt
	grace := time.NewTimer(1 << 62)
	defer grace.Stop()
	handOver := l.opts.HandOver
	for !l.over() && !l.idle() && !l.handed() {
		l.settleDown()
		if l.resting() {
			if !l.leaving {
				l.leaving = true
				grace.Reset(l.opts.Grace)
				l.endComputers()
			}
		} else {
			l.leaving = false
		}
		var inputs []event.Draft
		var err error
		durable := func() {}
		select {
		case <-grace.C:
			if l.leaving {
				return nil
			}
		case <-l.mail.ready:
			inputs, durable, err = l.mail.take()
		case <-posted:
			inputs, err = l.commands(work)
		case <-interrupt:
			interrupt, l.interrupted = nil, true
			if l.state.Status == quest.Running {
				inputs = []event.Draft{l.input("person", &event.QuestPaused{Reason: "interrupted"})}
			}
		case <-handOver:
		case <-work.Done():
			return context.Cause(work)
		}
		if !l.handing && isClosed(handOver) { // before what came in leads to anything
			handOver, l.handing = nil, true
		}
		if err == nil && work.Err() != nil { // what came in is the next owner's
			err = context.Cause(work)
		}
		if err != nil {
			return err
		}
		if err := l.take(work, inputs); err != nil {
			return err
		}
		durable()
	}
	return nil
}

// settleDown tells the calls under way whether another attempt is still wanted.
func (l *live) settleDown() {
	running := l.state.Status == quest.Running
	switch {
	case running && l.enough == nil:
		l.wanted, l.enough = context.WithCancel(context.Background())
	case !running && l.enough != nil:
		l.enough()
		l.enough = nil
		l.executors.rest()
	}
}

// over reports whether there is nothing left to wait for. When the quest has ended,
// so have the commands in its computers, and the ledger is to hear how.
func (l *live) over() bool {
	return l.resting() && l.busy() == 0 && !(ended(l.state) && len(l.state.Processes()) > 0)
}

// idle reports whether the quest waits for a person, and the run is not to wait with it.
func (l *live) idle() bool {
	if !l.opts.Leave || !l.state.Waiting() || l.busy() > 0 || len(l.state.Processes()) > 0 {
		return false
	}
	due := l.state.Due()
	return due == 0 || due > l.rt.Clock() // its timer fires now
}

// resting reports whether the run is to end once nothing is under way. A quest that a
// person paused is held, unless that was by the interrupt.
func (l *live) resting() bool {
	return l.state.Status != quest.Running && (l.state.Status != quest.Paused || l.interrupted || l.stranded || l.state.Rested != "")
}

// busy counts the calls under way that will come back by themselves.
func (l *live) busy() (n int) {
	for seq := range l.running {
		if c, ok := l.state.Calls[seq]; ok && c.Timer == "" {
			n++
		}
	}
	return n
}

// begin makes the quest run, and takes up what the last owner left.
func (l *live) begin(ctx context.Context) error {
	again, lost := settle(l.state, func(seq uint64, c quest.Call) (event.Draft, bool) { return l.lostCall(ctx, seq, c) })
	lost = append(l.takeUpCommands(ctx, again), lost...)
	for i := range lost {
		lost[i].Time = l.rt.Clock()
	}
	for _, seq := range again {
		if err := l.restart(ctx, seq); err != nil {
			return err
		}
	}
	waiting, err := l.commands(ctx)
	if err != nil {
		return err
	}
	if l.state.Waiting() && l.opts.Limits == (event.Limits{}) && !l.opts.NoThinking {
		// It has not stopped, and what follows from an answer is the same whether somebody
		// waited for it or not.
		return l.take(ctx, slices.Concat(lost, waiting))
	}
	wake := func() event.Draft {
		body := wakeBody(l.state, l.opts.Limits, l.rt.Version)
		switch b := body.(type) {
		case *event.QuestStarted:
			b.NoThinking = l.opts.NoThinking
		case *event.QuestResumed:
			b.NoThinking = l.opts.NoThinking
		}
		return l.input("person", body)
	}
	for _, inputs := range takeUp(l.state, wake, lost, waiting, l.before) {
		if err := l.take(ctx, inputs()); err != nil {
			return err
		}
	}
	return nil
}

func (l *live) input(actor string, b event.Body) event.Draft {
	return event.Draft{Time: l.rt.Clock(), Actor: actor, Body: b}
}

// commands takes what has been put into the quest's inbox. Whatever has become
// of it, its number is above the last one in the ledger exactly until it is
// there.
func (l *live) commands(ctx context.Context) ([]event.Draft, error) {
	list, err := l.rt.Ledger.Commands(ctx, l.key, l.state.Inbox)
	if err != nil {
		return nil, err
	}
	var out []event.Draft
	for _, c := range list {
		out = append(out, l.input("person", numbered(c)))
	}
	return out, nil
}

// dismiss marks the commands among inputs as taken of which nothing came. Otherwise they
// would be for a quest that goes on one day: a stop that came as it ended, say.
func (l *live) dismiss(ctx context.Context, inputs []event.Draft) error {
	for _, in := range inputs {
		if n := numberOf(in.Body); n > l.state.Inbox {
			if err := l.rt.Ledger.Dismiss(ctx, l.key, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// numbered gives a command's body its number in the inbox.
func numbered(c ledger.Command) event.Body {
	if order, ok := c.Body.(event.Order); ok {
		order.SetNumber(c.ID)
	}
	return c.Body
}

// lostCall is the result of a call that was under way when the last owner went, if
// nobody can know its outcome and it may do harm to make it again.
func (l *live) lostCall(ctx context.Context, seq uint64, c quest.Call) (d event.Draft, gone bool) {
	s, ok := l.services[c.Kind].(careful)
	if !ok || s.mayRepeat(ctx, l, seq, c) || c.Kind == toolCall && l.neverBegan(ctx, seq) {
		return d, false
	}
	return s.lost(seq, c, l.rt.known), true
}

// take takes inputs in, in one turn of the loop or in several.
func (l *live) take(ctx context.Context, inputs []event.Draft) error {
	if done, err := l.takeListed(ctx, inputs); done {
		return err
	}
	return l.takeAll(ctx, inputs)
}

// takeAll is one turn of the loop: decide, make durable, tell, act.
func (l *live) takeAll(ctx context.Context, inputs []event.Draft) error {
	inputs = l.lacking(inputs)
	done, _, err := l.step(ctx, inputs)
	if err == nil {
		err = l.dismiss(ctx, inputs)
	}
	if err != nil {
		return err
	}
	for _, e := range done {
		l.snapshot.since += len(e.Line())
		if l.opts.OnEvent != nil {
			l.opts.OnEvent(e, l.state)
		}
		if l.rt.Notice != nil {
			l.rt.Notice(e, l.state)
		}
		switch b := e.Body.(type) {
		case *event.BudgetRaised, *event.QuestStarted, *event.QuestResumed:
			l.storage.limit(l.state)
		case *event.PrepareResult:
			delete(l.running, b.Call)
			if err := l.moveIn(ctx); err != nil {
				return err
			}
		case event.Result:
			delete(l.running, b.Answers())
			delete(l.turns, b.Answers())
			l.offer(ctx, e)
		case *event.MailDelivered:
			l.cutTurn(b)
		case *event.McpAdded:
			if err := l.openAdded(ctx, b.Name); err != nil {
				return err
			}
		case *event.McpRemoved:
			l.removeServer(b.Server)
		case *event.ToolPrepared:
			delete(l.running, b.Call) // the rest is for the rules
		}
		if _, ok := e.Body.(*event.ToolResult); ok {
			l.forget(e)
		}
	}
	l.hear(inputs, done)
	for _, e := range done {
		if l.bench != nil {
			l.bench.Printed(e)
		}
		if err := l.start(ctx, e); err != nil {
			return err
		}
	}
	if l.snapshot.now() {
		l.save()
	}
	l.vouch(done)
	return nil
}

// save saves the state, so that opening the quest is fast.
func (l *live) save() { _ = l.snapshot.save(l.rt, l.key, l.state) }

// unneeded reports whether an agent is an executor in whose computer nothing is under way. When
// it is prompted again may be never; its session goes on in another process.
func (l *live) unneeded(name string) bool {
	a := l.state.Agent(name)
	return l.executors.of(name) != nil && a.Asked == 0 &&
		!slices.ContainsFunc(l.state.Processes(), func(p quest.Process) bool { return p.Agent == name })
}

// close gives up what is still under way. Nobody waits for it any more; what it
// would have answered is asked for again by the next owner.
func (l *live) close() {
	if l.enough != nil {
		l.enough()
	}
	if l.stop != nil {
		l.stop()
	}
	if l.servers != nil {
		l.servers.close()
	}
	l.executors.close()
	l.mail.close()
	_ = l.discovery.Close() // what it keeps can be made again
	l.closeAnswers()
	for name, d := range l.desks {
		_ = d.leave(ended(l.state) || l.unneeded(name))
		d.removing.Wait()
		if d.home != nil {
			_ = d.home.Close()
		}
	}
	l.seeds.close()
	if l.stations != nil {
		l.stations.close(ended(l.state))
	}
}

// Package runtimetest plays the world around a quest, for tests: models that say anything,
// tools that answer late, twice or never, commands that outlive their calls, timers,
// people who pause, stop and talk, a disk that is full at times, and a process that dies
// and is begun again, from the ledger or from a snapshot.
//
// All of it follows from a seed. The code that decides and appends is the one that runs
// live. After each step the ledger is held against books that are kept from the events
// alone; the first thing that must not be is an error. At the end the ledger is replayed.
//
// The world knows what quests of all societies do. What is particular to one is its Part,
// and what a call of its own is in a simulation is a Row of that: a call that no row
// answers is an error. A society that no other package knows is simulated by a part in its
// own test:
//
//	runtimetest.Exercise(t, func() runtimetest.Part { return newTokens() }, 1, 200, runtimetest.Once(0))
package runtimetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// Options say what happens to one simulated quest.
type Options struct {
	// Steps bounds how often something happens; 0 runs the quest until it is over.
	Steps int
	// CrashAlways kills the process after every batch of results.
	CrashAlways bool
	// Fork is the event after which the quest is forked, anywhere within a batch, once it
	// is over. The fork is run like any other quest.
	Fork uint64
}

// World is everything around a quest's owner. It survives crashes.
type World struct {
	*rand.Rand
	// Now is the time. Only the world lets it pass.
	Now event.Time

	seed   uint64
	opts   Options
	rates  Rates
	make   func() Part
	part   Part
	rows   map[event.Type]Row
	log    *memoryLog
	report *Report

	// owner is nil when nobody runs the quest.
	owner *runtime.Driven
	// flying are the calls under way and when they come back; never, if they are lost. late
	// are results that come once more with the next step.
	flying map[uint64]event.Time
	late   []event.Draft
	inbox  []ledger.Command
	// dismissed are the numbers of commands of which nothing came.
	dismissed map[int64]bool
	// begun counts how often the world was asked for each call that is not safe to repeat.
	begun   map[uint64]int
	machine *machine
	books   *books
	// saved is the last snapshot.
	saved []byte
	words int
	// gone says that the provider of models is away, patience how long a quest waits for it.
	gone     bool
	patience int64
	// ended counts how often the quest ended, rested says that it was run again after that.
	ended  int
	rested bool
	// marks are what the world was before and after each batch, if they are wanted; begins is how many
	// events a quest had that was taken up.
	marked bool
	marks  []mark
	begins int
}

const never = event.Time(1) << 60

// mostEvents is how long a simulated ledger can be, however many steps that took: a quest that
// goes on for ever is named by its seed instead of taking all memory there is. The longest, of 256
// agents with 20 turns each, have some 80,000.
const mostEvents = 400_000

// The tools of simulated agents: the first may be called again after a crash.
const (
	Safe   = "safe"
	Unsafe = "unsafe"
)

// key is under which name the ledger has the quest.
const key = "sim"

// Simulate runs the quest of a seed.
func Simulate(ctx context.Context, seed uint64, part func() Part, opts Options) (*Report, error) {
	w := newWorld(seed, 0, part, opts)
	if err := w.create(); err != nil {
		return nil, w.at(err)
	}
	if err := w.run(ctx); err != nil {
		return nil, w.at(err)
	}
	if opts.Fork != 0 {
		if err := w.fork(ctx, opts.Fork, 1); err != nil {
			return nil, err
		}
	}
	return w.report, nil
}

func newWorld(seed, way uint64, part func() Part, opts Options) *World {
	p := part()
	w := &World{
		Rand: rand.New(rand.NewPCG(seed, 0x6c796365756d+way)), seed: seed, opts: opts, rates: Usual, make: part, part: p, rows: rows(p),
		log: &memoryLog{}, report: &Report{}, flying: map[uint64]event.Time{}, begun: map[uint64]int{}, dismissed: map[int64]bool{},
		machine: newMachine(), books: newBooks(),
	}
	if r, ok := p.(Rough); ok {
		w.rates = r.Rates()
	}
	return w
}

// at says where a simulation failed.
func (w *World) at(err error) error {
	return fmt.Errorf("simulation of %s with seed %d and %+v, event %d: %w", w.part.Society().Rules(), w.seed, w.opts, len(w.log.events), err)
}

// Saw counts something that came up.
func (w *World) Saw(name string) { w.report.saw(name, 1) }

// Chance is by the thousand.
func (w *World) Chance(mille int) bool { return mille > 0 && w.IntN(1000) < mille }

// Word is a text that nobody has said before.
func (w *World) Word() string {
	w.words++
	return fmt.Sprintf("word %d", w.words)
}

// State is the quest's, nil while nobody runs it.
func (w *World) State() *quest.State {
	if w.owner == nil {
		return nil
	}
	return w.owner.State()
}

// Seq is the last event's.
func (w *World) Seq() uint64 { return uint64(len(w.log.events)) }

// Event is the event of that seq.
func (w *World) Event(seq uint64) event.Event { return w.log.events[seq-1] }

func (w *World) societies() []quest.Society { return []quest.Society{w.part.Society()} }

// run plays until the quest is over, or the steps are.
func (w *World) run(ctx context.Context) error {
	for n := 0; !w.over() || w.again(); n++ {
		if w.opts.Steps > 0 && n >= w.opts.Steps {
			break
		}
		if n > w.rates.Most || len(w.log.events) > mostEvents {
			return fmt.Errorf("the quest does not come to an end: it has %d events after %d steps", len(w.log.events), n)
		}
		if err := w.turn(ctx); err != nil {
			return err
		}
		if w.owner == nil {
			continue
		}
		if err := w.check(); err != nil {
			return err
		}
	}
	if end, ok := w.part.(Ender); ok && w.over() {
		if err := end.End(w, w.books.shadow); err != nil {
			return fmt.Errorf("at the end: %w", err)
		}
	}
	w.report.Runs++
	w.report.Events += int64(len(w.log.events))
	w.report.Head = w.log.events[len(w.log.events)-1].Hash
	return w.books.whole()
}

// over reports whether the quest has ended, and every call has its result but timers, which
// nobody waits for any more. One that ended while a call was open is run again: that has to
// answer it, unless it is for the rules to answer, who may be done before they come to it.
func (w *World) over() bool {
	s := w.books.shadow // the ledger's word: who wrote it may be dead
	if w.opts.Steps > 0 || s.Status != quest.Finished && s.Status != quest.Failed && s.Rested != event.RestNoAgreement {
		return false
	}
	for seq, c := range s.Calls {
		if c.Timer == "" && (w.ended < 3 || asks(s, seq) && !isPrepared(s, seq)) {
			return false
		}
	}
	return true
}

// again reports whether somebody wants a quest to go on that is over.
func (w *World) again() bool {
	if w.rested || !w.Chance(w.rates.Again) {
		return false
	}
	w.rested = true
	w.Saw("again")
	w.crash()
	return true
}

// turn lets some time pass, and something happen in it.
func (w *World) turn(ctx context.Context) error {
	w.pass()
	w.log.full, w.log.unheard = w.Chance(w.rates.Full), w.Chance(w.rates.Unheard)
	w.person()
	if w.owner == nil {
		return w.open(ctx)
	}
	if w.Chance(w.rates.Save) || w.opts.CrashAlways && w.Chance(50) {
		saved, err := w.State().Encode()
		if err != nil {
			return err
		}
		w.saved = saved
	}
	resting := w.State().Status != quest.Running
	switch {
	case w.Chance(w.rates.Crash), w.stuck(), resting && w.Chance(200):
		w.crash() // or it is run again, which is the same to it
		return w.open(ctx)
	}
	inputs := slices.Concat(w.outage(), w.news(), w.samples(), w.due(), w.waiting(w.State().Inbox))
	if p, ok := w.part.(Visitor); ok {
		inputs = append(inputs, p.Visit(w)...)
	}
	w.log.unheard = w.log.unheard || w.opts.CrashAlways && len(inputs) > 0
	return w.step(ctx, inputs)
}

// pass lets time pass: a moment, or, where nothing comes for long, all of it.
func (w *World) pass() {
	w.Now += event.Time(w.Int64N(300_000))
	next := never
	for _, at := range w.flying {
		next = min(next, at)
	}
	if next < never && next > w.Now+5_000_000 && w.Chance(300) {
		w.Now = next
	}
}

// stuck reports whether whoever runs the quest would have to kill it: nothing that is
// under way will come back but timers, for which some wait.
func (w *World) stuck() bool {
	if _, visited := w.part.(Visitor); len(w.flying) == 0 && (visited || w.State().Waiting() || w.attends()) {
		return false
	}
	timers := false
	for seq, at := range w.flying {
		if at < never {
			if c := w.State().Calls[seq]; c.Timer == "" {
				return false
			}
			timers = true
		}
	}
	return !timers || len(w.flying) > 1 && w.Chance(100)
}

// crash forgets everything that is not in the ledger or out in the world.
func (w *World) crash() {
	w.owner, w.late = nil, nil
	clear(w.flying)
	w.machine.crash()
	w.Saw("crashes")
}

// open is what a process does when it starts to run the quest.
func (w *World) open(ctx context.Context) error {
	var saved *quest.State
	var err error
	if w.saved != nil {
		if saved, err = quest.Decode(w.saved, w.societies()); err != nil {
			return err
		}
		w.Saw("restored")
	}
	if w.owner, err = runtime.Drive(ctx, w.log, key, saved, w.societies()); err != nil {
		return err
	}
	s := w.State()
	if err := same(s, w.books.shadow); err != nil { // the one is folded, from the other all was derived again
		return fmt.Errorf("taken up: %w", err)
	}
	again, lost := w.owner.Settle(func(_ uint64, c quest.Call) bool { return c.Tool == Safe || s.Own(c.Tool) != nil })
	lost = append(w.takeUpCommands(), lost...)
	for i := range lost {
		lost[i].Time = w.Now
	}
	for _, seq := range again {
		if asks(s, seq) {
			w.fly(seq)
		}
	}
	batches := w.owner.TakeUp(w.Now, w.limits(s), "sim", lost, w.waiting(s.Inbox), int64(w.IntN(len(w.inbox)+1)))
	for _, inputs := range batches {
		if err := w.step(ctx, inputs()); err != nil || w.owner == nil {
			return err
		}
	}
	return nil
}

// limits are those that a quest is taken up with: who was told that they are reached gives
// more, and others may.
func (w *World) limits(s *quest.State) (l event.Limits) {
	if p, ok := w.part.(Limiter); ok {
		return p.Limits(w, s)
	}
	more := func(limit *int64, spent, by int64) *int64 {
		if limit == nil || s.Status != quest.Exceeded && !w.Chance(200) {
			return nil
		}
		return new(spent + 1 + w.Int64N(max(by, 2*spent)))
	}
	l.Turns = more(s.Limits.Turns, s.Spent.Turns, 20)
	l.Cost = more(s.Limits.Cost, s.Spent.Cost, 5000)
	l.Duration = more(s.Limits.Duration, s.Ran, 50_000_000)
	return l
}

// step has the owner take inputs. If the disk is full, or the answer is lost, the owner is
// dead, as a live one would be.
func (w *World) step(ctx context.Context, inputs []event.Draft) error {
	from := len(w.log.events)
	var before mark
	if w.marked {
		before = w.mark()
	}
	_, _, err := w.owner.Step(ctx, inputs)
	switch {
	case errors.Is(err, ledger.ErrFull):
		w.Saw("full")
	case errors.Is(err, errUnheard):
		w.Saw("unheard")
	case err != nil:
		return err
	}
	if err := w.count(from); err != nil {
		return err
	}
	if w.marked && len(w.log.events) > from {
		w.marks = append(w.marks, before, w.mark())
	}
	if err != nil {
		w.crash()
		return nil
	}
	for _, in := range inputs {
		if order, ok := in.Body.(event.Order); ok && order.Number() > w.State().Inbox {
			w.dismissed[order.Number()] = true
			w.Saw("dismissed")
		}
	}
	for _, e := range w.log.events[from:] {
		if _, open := w.State().Calls[e.Seq]; open && asks(w.State(), e.Seq) {
			w.fly(e.Seq)
		}
	}
	return nil
}

// count takes what is new in the ledger into the books.
func (w *World) count(from int) error {
	for _, e := range w.log.events[from:] {
		if err := w.books.count(w, e); err != nil {
			return fmt.Errorf("event %d (%s): %w", e.Seq, e.Type, err)
		}
		if err := w.part.Count(w, e); err != nil {
			return fmt.Errorf("event %d (%s): %w", e.Seq, e.Type, err)
		}
	}
	if p, ok := w.part.(Settled); ok {
		if err := p.Settled(w); err != nil {
			return fmt.Errorf("after event %d: %w", len(w.log.events), err)
		}
	}
	return nil
}

// asks reports whether the world has to do something about an open call: the rules answer
// some themselves.
func asks(s *quest.State, seq uint64) bool {
	c := s.Calls[seq]
	if c.Kind != "tool.call" {
		return true
	}
	own := s.Own(c.Tool)
	return c.Tool != "" && (own == nil || own.Step != quest.AnsweredTool)
}

// fly has the world begin a call.
func (w *World) fly(seq uint64) {
	c := w.State().Calls[seq]
	if c.Tool == Unsafe || c.Kind == "gateway.call" {
		w.begun[seq]++
	}
	if c.Tool == Safe || c.Tool == Unsafe {
		w.plan(seq, c)
	}
	switch {
	case c.Timer != "":
		w.flying[seq] = c.At
		if c.At > w.Now && w.Chance(w.rates.Early) {
			w.flying[seq] = w.Now + event.Time(w.Int64N(int64(min(c.At-w.Now, 1<<50))))
			w.Saw("early timers")
		}
	case w.Chance(w.rates.Lost):
		w.flying[seq] = never
		w.Saw("lost")
	default:
		w.flying[seq] = w.Now + event.Time(w.Int64N(900_000))
	}
}

// due are the results that have come by now, in their order, some of them twice.
func (w *World) due() []event.Draft {
	out := w.late
	w.late = nil
	for _, seq := range slices.SortedFunc(maps.Keys(w.flying), func(a, b uint64) int {
		return cmp.Or(cmp.Compare(w.flying[a], w.flying[b]), cmp.Compare(a, b))
	}) {
		c, open := w.State().Calls[seq]
		switch {
		case !open:
			delete(w.flying, seq) // the rules have answered it meanwhile: it was prepared before
			continue
		case w.flying[seq] > w.Now:
			if w.Chance(300) {
				out = append(out, w.begin(seq)...)
			}
			continue
		}
		waits, group := w.absent(seq, c)
		if waits {
			continue
		}
		delete(w.flying, seq)
		if group == nil {
			group = append(w.commands(seq, c), w.result(seq, c))
			if c.Kind == "model.call" {
				group = append([]event.Draft{{Time: w.Now, Actor: "core", Body: &event.ProviderBack{Provider: provider}}}, group...)
			}
		}
		out = append(out, group...)
		switch {
		case !w.Chance(w.rates.Doubled):
		case w.Chance(500):
			out = append(out, group...)
			w.Saw("doubled")
		default:
			w.late = append(w.late, group...)
			w.Saw("late doubles")
		}
	}
	return append(out, w.background()...)
}

// result is what the table says that a call is.
func (w *World) result(seq uint64, c quest.Call) event.Draft {
	call := w.Event(seq)
	d := event.Draft{Parent: seq, Time: w.Now, Actor: call.Actor, Tool: c.Tool, Body: w.rows[c.Kind](w, call)}
	if r, ok := d.Body.(event.Result); ok && r.Answers() != seq {
		panic(fmt.Sprintf("the row of %s answers call %d instead of %d", c.Kind, r.Answers(), seq))
	}
	return d
}

// person posts a command now and then.
func (w *World) person() {
	if !w.Chance(w.rates.Person) {
		return
	}
	b := w.comesOrGoes()
	if b == nil {
		b = w.order()
	}
	w.inbox = append(w.inbox, ledger.Command{ID: int64(len(w.inbox) + 1), Body: b})
	w.Saw("commands")
}

// order is what people say to quests of all kinds.
func (w *World) order() event.Body {
	switch w.IntN(7) {
	case 6:
		return &event.BudgetRaised{Limits: event.Limits{Tokens: new(w.Int64N(1 << 40))}}
	case 0:
		return &event.QuestPaused{}
	case 1:
		return &event.QuestStopped{Reason: "enough"}
	case 2, 3:
		return &event.QuestResumed{}
	}
	if p, ok := w.part.(Speaker); ok {
		return p.Says(w)
	}
	if b := w.mode(); b != nil {
		return b
	}
	return &event.UserMessage{Text: w.Text(), To: w.addressee()}
}

// mode sets another mode now and then, where the society has some; otherwise it is nothing.
func (w *World) mode() event.Body {
	if w.owner == nil {
		return nil
	}
	modes, _ := w.State().Modes()
	if len(modes) == 0 || w.Chance(300) {
		return nil
	}
	w.Saw("modes")
	return &event.ModeSet{Mode: modes[w.IntN(len(modes))].ID}
}

// addressee is an agent, or nobody in particular.
func (w *World) addressee() string {
	if w.owner == nil || w.Chance(300) {
		return ""
	}
	return w.State().Agents[w.IntN(len(w.State().Agents))].Name
}

// waiting is the inbox beyond a number. Each reading gets bodies of its own, as from a
// database.
func (w *World) waiting(after int64) (out []event.Draft) {
	for _, c := range w.inbox[after:] {
		if w.dismissed[c.ID] {
			continue
		}
		data, err := event.EncodeBody(c.Body)
		if err != nil {
			panic(err)
		}
		body, err := event.DecodeBody(c.Body.Type(), data)
		if err != nil {
			panic(err)
		}
		body.(event.Order).SetNumber(c.ID)
		out = append(out, event.Draft{Time: w.Now, Actor: "person", Body: body})
	}
	return out
}

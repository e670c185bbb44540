package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
)

// SimOptions say how rough a simulated world is.
type SimOptions struct {
	// Steps bounds the length of a run; 80 if zero.
	Steps int
	// CrashAlways kills the owner after every step, instead of now and then.
	CrashAlways bool
	// Policies are those of the quest.
	Policies  []event.PolicySpec
	Societies []quest.Society
}

// Simulate runs a quest in a made-up world that follows from the seed: a model
// that says anything, tools that answer late, twice or never, commands that outlive
// their calls, people who pause, stop and talk, a disk that is full at times, and a
// process that dies. The
// code that decides and appends is the one that runs live. After each step it
// checks what must always hold, and returns the first thing that does not.
func Simulate(seed uint64, opts SimOptions) (*SimReport, error) {
	if opts.Steps == 0 {
		opts.Steps = 80
	}
	w := &world{
		rng: rand.New(rand.NewPCG(seed, 0x6c796365756d)), opts: opts, log: &simLog{},
		flying: map[uint64]event.Time{}, begun: map[uint64]int{}, results: map[uint64]int{}, calls: map[uint64]bool{},
		guard: newGuard(opts.Policies), machine: newMachine(), books: newBooks(),
	}
	if err := w.run(); err != nil {
		return nil, fmt.Errorf("simulation with seed %d, event %d: %w", seed, len(w.log.events), err)
	}
	w.report.Events = len(w.log.events)
	w.report.Ledger = w.log.lines()
	return &w.report, nil
}

// SimReport counts what a simulation went through.
type SimReport struct {
	Events, Crashes, Full, Lost, Doubled, Cuts, Commands int
	// Blocked counts what policies refused, by policy.
	Blocked map[string]int
	// Waited counts proposals that were told to wait, Warned what policies had
	// agents told.
	Waited, Warned int
	// Ran counts commands of computers, Kept those that were found again after a
	// crash, Abandoned those that were not, Diffs changes of files.
	Ran, Kept, Abandoned, Diffs int
	// Ledger is the quest's lines: the same for the same seed.
	Ledger []byte
}

// simLog is a ledger in memory whose disk can be full, and whose answer can be
// lost on the way.
type simLog struct {
	events    []event.Event
	full      bool
	forgetful bool
}

var errLost = errors.New("the answer was lost")

func (l *simLog) Append(_ context.Context, b ledger.Batch) error {
	if err := b.Check(); err != nil {
		return err
	}
	if l.full {
		return ledger.ErrFull
	}
	var head ledger.Head
	if n := len(l.events); n > 0 {
		head.Seq, head.Hash = l.events[n-1].Seq, l.events[n-1].Hash
	}
	if first := b.Events[0]; first.Seq != head.Seq+1 || first.Prev() != head.Hash {
		return ledger.ErrConflict
	}
	l.events = append(l.events, b.Events...)
	if l.forgetful {
		return errLost
	}
	return nil
}

func (l *simLog) Read(_ context.Context, _ string, seq uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range l.events[seq-1:] {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (l *simLog) lines() []byte {
	var out bytes.Buffer
	for _, e := range l.events {
		out.Write(e.Line())
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// world is everything around the owner. It survives crashes.
type world struct {
	rng    *rand.Rand
	opts   SimOptions
	log    *simLog
	owner  *owner
	now    event.Time
	report SimReport

	// flying are the calls under way and when they come back; never, if lost.
	flying map[uint64]event.Time
	inbox  []ledger.Command
	// begun counts how often the world was asked for each unsafe command.
	begun   map[uint64]int
	machine *simMachine

	checked int // events looked at so far
	results map[uint64]int
	calls   map[uint64]bool
	cost    int64
	taken   int64
	guard   *simGuard
	books   *simBooks
}

const never = event.Time(1) << 60

func (w *world) chance(percent int) bool { return w.rng.IntN(100) < percent }

func (w *world) run() error {
	if err := w.create(); err != nil {
		return err
	}
	for range w.opts.Steps {
		if err := w.turn(); err != nil {
			return err
		}
		if err := w.check(); err != nil {
			return err
		}
	}
	return w.replay()
}

// create appends a quest.created with random settings.
func (w *world) create() error {
	ref := event.RefOf([]byte("pinned"))
	b := &event.QuestCreated{
		Agents: []event.AgentSpec{{Name: "agent-0", Model: "sim", System: ref, Tools: ref, ToolNames: []string{"safe", "unsafe"}, Window: 400 + w.rng.Int64N(3000)}},
		Name:   "sim", Problem: event.Text{Text: "?"}, Rules: w.opts.Societies[len(w.opts.Societies)-1].Rules(), Policies: w.opts.Policies, Seed: w.rng.Uint64(), Spec: ref,
	}
	if w.chance(40) {
		b.Limits.Turns = new(1 + w.rng.Int64N(20))
	}
	if w.chance(30) {
		b.Limits.Cost = new(w.rng.Int64N(5000))
	}
	if w.chance(30) {
		b.Limits.Duration = new(w.rng.Int64N(5_000_000))
	}
	if w.chance(20) {
		w.guard.most = 1 + w.rng.Int64N(20)
		b.Limits.Agent = &event.Share{Turns: new(w.guard.most)}
	}
	e, err := event.Seal("sim", 1, event.Hash{}, event.Draft{Actor: "person", Body: b})
	if err != nil {
		return err
	}
	return w.log.Append(context.Background(), ledger.Batch{Quest: "sim", Events: []event.Event{e}})
}

// turn lets some time pass, and something happen in it.
func (w *world) turn() error {
	w.now += event.Time(w.rng.Int64N(300_000))
	w.log.full, w.log.forgetful = w.chance(4), w.chance(4)
	if w.log.full {
		w.report.Full++
	}
	w.person()
	if w.owner == nil {
		return w.open()
	}
	if w.opts.CrashAlways || w.chance(8) {
		w.crash()
		return w.open()
	}
	return w.step(append(w.due(), w.waiting(w.owner.state.Inbox)...))
}

// crash forgets everything that is not in the ledger or out in the world.
func (w *world) crash() {
	w.owner = nil
	clear(w.flying)
	w.machine.crash()
	w.report.Crashes++
}

// open is what a process does when it starts to run the quest.
func (w *world) open() error {
	s, err := fold(context.Background(), w.log, "sim", nil, w.opts.Societies)
	if err != nil {
		return err
	}
	w.owner = &owner{key: "sim", log: w.log, state: s}
	again, lost := settle(s, lostUnless(func(c quest.Call) bool { return c.Tool == "safe" }))
	for i := range lost {
		lost[i].Time = w.now
	}
	lost = append(w.takeUpCommands(), lost...)
	for _, seq := range again {
		w.fly(seq)
	}
	limits := event.Limits{}
	if w.chance(20) {
		limits.Turns = new(s.Spent.Turns + w.rng.Int64N(10))
	}
	wake := func() event.Draft {
		return event.Draft{Time: w.now, Actor: "person", Body: wakeBody(w.owner.state, limits, "sim")}
	}
	for _, inputs := range takeUp(s, wake, lost, w.waiting(s.Inbox), int64(w.rng.IntN(len(w.inbox)+1))) {
		if err := w.step(inputs()); err != nil || w.owner == nil {
			return err
		}
	}
	return nil
}

// step has the owner take inputs. If the disk is full, or the answer is lost,
// the owner is dead, as a live one would be.
func (w *world) step(inputs []event.Draft) error {
	done, _, err := w.owner.step(context.Background(), inputs)
	if errors.Is(err, ledger.ErrFull) || errors.Is(err, errLost) {
		w.crash()
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range done {
		if c, open := w.owner.state.Calls[e.Seq]; open && (c.Tool != "" || c.Kind != "tool.call") {
			w.fly(e.Seq)
		}
	}
	return nil
}

func (w *world) fly(seq uint64) {
	c := w.owner.state.Calls[seq]
	if c.Tool == "unsafe" {
		w.begun[seq]++
	}
	if c.Tool != "" {
		w.plan(seq, c)
	}
	switch {
	case c.Timer != "":
		w.flying[seq] = c.At
	case w.chance(3):
		w.flying[seq] = never
		w.report.Lost++
	default:
		w.flying[seq] = w.now + event.Time(w.rng.Int64N(900_000))
	}
}

// due are the results that have come by now, some of them twice.
func (w *world) due() (out []event.Draft) {
	for _, seq := range sortedCalls(w.owner.state) {
		at, ok := w.flying[seq]
		if !ok || at > w.now {
			if ok && w.chance(30) {
				out = append(out, w.begin(seq)...)
			}
			continue
		}
		c := w.owner.state.Calls[seq]
		group := append(w.commands(seq, c), w.result(seq, c))
		out = append(out, group...)
		if w.chance(5) {
			out = append(out, group...)
			w.report.Doubled++
			continue
		}
		delete(w.flying, seq)
	}
	return append(out, w.background()...)
}

func (w *world) result(seq uint64, c quest.Call) event.Draft {
	d := event.Draft{Parent: seq, Time: w.now, Actor: c.Agent, Tool: c.Tool}
	switch c.Kind {
	case "timer.set":
		d.Actor, d.Body = "core", &event.TimerFired{Call: seq}
	case "tool.call":
		r := &event.ToolResult{Call: seq, Error: w.chance(20), Output: w.text()}
		if w.chance(40) {
			r.Output = event.Text{Text: "the same"}
		}
		d.Body = r
	default:
		d.Body = w.answer(seq)
	}
	return d
}

func (w *world) text() event.Text {
	if w.chance(10) {
		ref := event.RefOf([]byte(fmt.Sprint(w.rng.Uint64())))
		ref.Size = w.rng.Int64N(4000)
		return event.Text{Ref: &ref}
	}
	return event.Text{Text: strings.Repeat("word ", w.rng.IntN(200))}
}

// args are arguments that are good, good in disguise, or no arguments at all.
func (w *world) args() event.Text {
	switch {
	case w.chance(5):
		return w.text()
	case w.chance(5):
		return event.Text{Text: `{"path":`}
	}
	path := []string{"a/x", "./a/../a/x", "b", "secret/y", "/a/../secret", "elsewhere"}[w.rng.IntN(6)]
	return event.Text{Text: fmt.Sprintf(`{"path":%q}`, path)}
}

func (w *world) answer(seq uint64) *event.ModelResult {
	r := &event.ModelResult{Call: seq, Cost: w.rng.Int64N(500), Usage: event.Usage{Input: w.rng.Int64N(2000), Output: w.rng.Int64N(300)}}
	switch n := w.rng.IntN(100); {
	case n < 4:
		r.Error = &event.ModelError{Kind: string(model.ContextTooLong), Text: "too long"}
	case n < 7:
		r.Error = &event.ModelError{Kind: string(model.Unavailable), Text: "overloaded"}
	case n < 12: // nothing at all
	case n < 22:
		r.Stop, r.Parts = []string{model.StopEnd, model.StopLength, model.StopRefusal}[w.rng.IntN(3)], []event.Part{{Kind: event.PartText, Text: new(w.text())}}
	default:
		r.Stop, r.Parts = model.StopTools, []event.Part{{Kind: event.PartText, Text: new(w.text())}}
		for i := range 1 + w.rng.IntN(4) {
			name := []string{"safe", "unsafe", "unknown", "bad\nname"}[w.rng.IntN(4)]
			r.Parts = append(r.Parts, event.Part{Kind: event.PartToolCall, ID: fmt.Sprint("c", seq, "-", i), Name: name, Args: new(w.args())})
		}
	}
	return r
}

// person posts a command now and then.
func (w *world) person() {
	if !w.chance(10) {
		return
	}
	var b event.Body
	switch w.rng.IntN(6) {
	case 0:
		b = &event.QuestPaused{}
	case 1:
		b = &event.QuestStopped{Reason: "enough"}
	case 2, 3:
		b = &event.QuestResumed{}
	default:
		b = &event.UserMessage{Text: w.text()}
	}
	w.inbox = append(w.inbox, ledger.Command{ID: int64(len(w.inbox) + 1), Body: b})
	w.report.Commands++
}

// waiting is the inbox beyond a number. Each reading gets bodies of its own, as
// from a database.
func (w *world) waiting(after int64) (out []event.Draft) {
	for _, c := range w.inbox[after:] {
		data, err := event.EncodeBody(c.Body)
		if err != nil {
			panic(err)
		}
		body, err := event.DecodeBody(c.Body.Type(), data)
		if err != nil {
			panic(err)
		}
		out = append(out, event.Draft{Time: w.now, Actor: "person", Body: numbered(ledger.Command{ID: c.ID, Body: body})})
	}
	return out
}

// lostUnless loses the tool calls that may not be repeated, as the runtime does.
func lostUnless(repeatable func(quest.Call) bool) func(uint64, quest.Call) (event.Draft, bool) {
	return func(seq uint64, c quest.Call) (event.Draft, bool) {
		return lostTool(seq, c), c.Kind == "tool.call" && !repeatable(c)
	}
}

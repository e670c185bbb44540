// Package behavior runs behavioural programs: sets of small rules, each of which
// says on its own what should happen, what it waits for and what must not happen.
//
// A rule is a thread. At each step every thread has stated its bids; one event
// that is requested, or comes from outside, and that no thread blocks is
// selected; the threads that requested or waited for it move on, and those that
// it interrupts end. A block beats everything. Which event is selected follows
// from the bids alone, so the same selections always lead to the same points.
//
// Threads are strangers' code as far as the program is concerned. One that panics
// is out: from then on it blocks whatever it could have blocked, and says so. No
// fault of a thread lets an event pass.
//
// A program is not safe for use by several goroutines, and starts none that
// anyone could notice.
package behavior

import (
	"errors"
	"fmt"
	"slices"
)

// Program is a set of threads and where they stand.
type Program struct {
	threads []*thread // by priority, then registration
	count   int
	queue   []trigger
	running bool
	opts    Options
}

// Options are what happens around a program. The zero value is nothing.
type Options struct {
	// Effect is called for each selected event, after the threads have moved on.
	// It may trigger more: those wait until the step is over.
	Effect func(Event)
	// Refused is called for a trigger that was queued and, when its turn came,
	// was blocked.
	Refused func(Event, []Blocker)
	// Record is given each step.
	Record func(Step)
}

// trigger is an event from outside that waits.
type trigger struct {
	event Event
	hold  bool
}

// New returns a program without threads.
func New(opts *Options) *Program {
	p := &Program{}
	if opts != nil {
		p.opts = *opts
	}
	return p
}

// Add adds a thread behind those of the same priority, and starts it. Names
// differ. A thread that breaks down at once is in, and blocks.
func (p *Program) Add(t Thread) error {
	switch {
	case t.Name == "":
		return errors.New("a thread needs a name")
	case t.Start == nil:
		return fmt.Errorf("thread %s does nothing", t.Name)
	case slices.ContainsFunc(p.threads, func(o *thread) bool { return o.Name == t.Name && o.live() }):
		return fmt.Errorf("there are two threads named %s", t.Name)
	}
	n := &thread{Thread: t, order: p.count}
	p.count++
	at := slices.IndexFunc(p.threads, func(o *thread) bool { return o.Priority > t.Priority })
	if at < 0 {
		at = len(p.threads)
	}
	p.threads = slices.Insert(p.threads, at, n)
	n.begin()
	p.sweep() // it may have had nothing to do
	return nil
}

// Close ends all threads. A program with straight-line threads must be closed.
func (p *Program) Close() {
	for _, t := range p.threads {
		t.end()
	}
}

// Blocker is a thread that blocks an event, and why.
type Blocker struct {
	Thread string `json:"thread"`
	Reason string `json:"reason,omitempty"`
	// Later says that it passes by itself.
	Later bool `json:"later,omitempty"`
	// Ask says that a person may let the event pass all the same.
	Ask *Question `json:"ask,omitempty"`
	// Fault is set if the thread does so because it broke down just now.
	Fault string `json:"fault,omitempty"`
}

// Blocked says who blocks e now, in the order of the threads. It changes nothing.
func (p *Program) Blocked(e Event) (by []Blocker) {
	for _, t := range p.threads {
		if b, blocked := t.blocks(e); blocked {
			by = append(by, b)
		}
	}
	return by
}

// Requested returns the events that threads request, in the order in which they
// would be selected. Equal ones are there once.
func (p *Program) Requested() (out []Candidate) {
	for _, t := range p.threads {
		for _, e := range t.bids.Request {
			if !slices.ContainsFunc(out, func(c Candidate) bool { return c.Event.Equal(e) }) {
				out = append(out, Candidate{Event: e, Thread: t.Name})
			}
		}
	}
	return out
}

// Outcome is what became of a trigger.
type Outcome struct {
	// Exactly one of Selected, Refused and Deferred is true. A deferred trigger
	// waits: for the step under way to end, or for those who block it.
	Selected, Refused, Deferred bool
	// By are those who block it.
	By []Blocker
}

// Trigger offers an event from outside. Such events come before all requests, in
// the order in which they arrived. If it is blocked it is refused, or, if hold is
// set, kept until nobody blocks it. Offered from within an effect, it waits for
// its turn.
func (p *Program) Trigger(e Event, hold bool) Outcome {
	if p.running {
		p.queue = append(p.queue, trigger{e, hold})
		return Outcome{Deferred: true}
	}
	p.drain()
	by := p.Blocked(e)
	switch {
	case len(by) == 0:
		p.choose(e, "")
		return Outcome{Selected: true}
	case hold:
		p.note(by)
		p.queue = append(p.queue, trigger{e, true})
		return Outcome{Deferred: true, By: by}
	}
	p.refuse(e, by, false)
	return Outcome{Refused: true, By: by}
}

// Step selects one event and moves the threads on. It returns false if there is
// none: see Status.
func (p *Program) Step() bool {
	if p.running {
		return false
	}
	if p.outside() {
		return true
	}
	for _, t := range p.threads {
		for _, e := range t.bids.Request {
			by := p.Blocked(e)
			if len(by) == 0 {
				p.choose(e, t.Name)
				return true
			}
			if p.note(by) {
				return p.Step() // a thread broke down: its bids are others now
			}
		}
	}
	return false
}

// Run takes steps until there is nothing left to select, and returns how many.
func (p *Program) Run() (n int) {
	for p.Step() {
		n++
	}
	return n
}

// drain selects the triggers that can be, in order.
func (p *Program) drain() {
	for p.outside() {
	}
}

// outside selects the first trigger that nobody blocks.
func (p *Program) outside() bool {
	for i := 0; i < len(p.queue); i++ {
		w := p.queue[i]
		by := p.Blocked(w.event)
		switch {
		case len(by) == 0:
			p.queue = slices.Delete(p.queue, i, i+1)
			p.choose(w.event, "")
			return true
		case w.hold:
			if p.note(by) {
				i = -1 // a thread broke down: its bids are others now
			}
			continue
		}
		p.queue = slices.Delete(p.queue, i, i+1)
		i--
		if p.refuse(w.event, by, true) {
			i = -1
		}
	}
	return false
}

// note marks the threads that broke down over a question, and says whether one
// did.
func (p *Program) note(by []Blocker) (any bool) {
	for _, b := range by {
		if b.Fault == "" {
			continue
		}
		for _, t := range p.threads {
			if t.Name == b.Thread && t.broken == "" {
				t.breakDown(b.Fault)
				any = true
			}
		}
	}
	return any
}

// NotEnabledError says that an event was selected which could not be.
type NotEnabledError struct {
	Event Event
	// By are those who block it; none if nobody requests it.
	By []Blocker
}

func (e *NotEnabledError) Error() string {
	if len(e.By) == 0 {
		return fmt.Sprintf("nobody requests %s", e.Event)
	}
	return fmt.Sprintf("%s is blocked by %s: %s", e.Event, e.By[0].Thread, e.By[0].Reason)
}

// Select selects an event as it was selected before: one from outside, or, if
// outside is false, one that a thread requests. If it is not enabled now, nothing
// changes and the error is a *NotEnabledError.
func (p *Program) Select(e Event, outside bool) error {
	if p.running {
		return fmt.Errorf("select %s: another step is under way", e)
	}
	by := p.Blocked(e)
	thread := ""
	if !outside {
		for _, c := range p.Requested() {
			if c.Event.Equal(e) {
				thread = c.Thread
			}
		}
	}
	if len(by) > 0 || !outside && thread == "" {
		return &NotEnabledError{Event: e, By: by}
	}
	p.choose(e, thread)
	return nil
}

// choose selects e: every thread that it concerns ends or moves on.
func (p *Program) choose(e Event, by string) {
	var before Step
	if p.opts.Record != nil {
		before = p.look(e, by == "")
	}
	defer p.busy()()
	var interrupted, advanced []*thread
	for _, t := range p.threads {
		if t.body == nil {
			continue
		}
		var ends, moves bool
		t.guard(func() { ends, moves = t.wants(e) })
		switch {
		case ends:
			interrupted = append(interrupted, t)
		case moves:
			advanced = append(advanced, t)
		}
	}
	for _, t := range interrupted {
		t.end()
	}
	for _, t := range advanced {
		t.hear(e)
	}
	p.sweep()
	if p.opts.Record != nil {
		before.Selected, before.Thread = &e, by
		before.Interrupted, before.Advanced = names(interrupted), names(advanced)
		before.Status = p.Status()
		p.opts.Record(before)
	}
	if p.opts.Effect != nil {
		p.opts.Effect(e)
	}
}

// busy has triggers wait until what it returns is called, be it because a handler
// panicked.
func (p *Program) busy() func() {
	was := p.running
	p.running = true
	return func() { p.running = was }
}

// sweep forgets threads that have ended.
func (p *Program) sweep() {
	p.threads = slices.DeleteFunc(p.threads, func(t *thread) bool { return !t.live() })
}

func names(threads []*thread) (out []string) {
	for _, t := range threads {
		out = append(out, t.Name)
	}
	return out
}

// Broken are the threads that broke down, and why.
func (p *Program) Broken() (out []Blocker) {
	for _, t := range p.threads {
		if t.broken != "" {
			out = append(out, Blocker{Thread: t.Name, Reason: t.broken})
		}
	}
	return out
}

// Names returns the names of the threads that have not ended, in order.
func (p *Program) Names() []string { return names(p.threads) }

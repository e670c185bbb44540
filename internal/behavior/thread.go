package behavior

import (
	"errors"
	"fmt"
	"iter"
)

// Bids are what a thread states at one point.
type Bids struct {
	// Request are events it wants to happen, the most wanted first.
	Request []Event
	// Wait are events it wants to hear of, Interrupt those that end it. Both may
	// be nil.
	Wait      Matcher
	Interrupt Matcher
	// Block are events that must not happen now.
	Block []Ban
}

// Ban blocks events.
type Ban struct {
	Match Matcher
	// Reason says why, to the one who proposed the event, so that it can do
	// something else. Why does so where it depends on the event.
	Reason string
	Why    func(Event) string
	// Later says that the ban passes by itself, once something that is under way
	// has ended: whoever proposed the event need only wait.
	Later bool
	// Ask has a person decide: the ban does not hold for an event that is Allowed.
	Ask *Question
}

// Question is how a person is asked about an event.
type Question struct {
	// Default is yes or no: what counts if nobody has answered Within so many
	// microseconds. Without it the question stays.
	Default string `json:"default,omitempty"`
	Within  int64  `json:"within,omitempty"`
}

func (b *Ban) reason(e Event) string {
	if b.Why != nil {
		return b.Why(e)
	}
	return b.Reason
}

// Behavior is a thread under way: one run through what it does.
type Behavior interface {
	// Bids states what it wants at the point where it stands. It is asked once at
	// each point; what a Ban's matcher says may depend on the event alone.
	Bids() Bids
	// Next takes an event that it requested or waited for, and moves on. It
	// returns false at the end.
	Next(e Event) bool
}

// Saver is a Behavior that can write down where it stands. One that cannot is
// brought back by telling it again what it has heard since it began, unless that
// was more than a few thousand events: then it cannot be, and Restore says so. Let
// it end and repeat instead of going round.
type Saver interface {
	Save() string
	Restore(saved string) error
}

// Thread is one rule: a name, and what it does.
type Thread struct {
	Name string
	// Priority orders requests, lowest first; equal ones by registration.
	Priority int
	// Repeat has it begin anew when it ends. An interrupt ends it for good.
	Repeat bool
	// Start begins a run. It returns nil if there is nothing to do.
	Start func() Behavior
	// Scope is what it blocks from the moment it breaks down: a guard that fell
	// asleep must not leave the gate open. Nil means everything.
	Scope Matcher
	// Text is what a person is told that it does.
	Text string
	// Outline are its points in order, where they can be told beforehand; for
	// drawings.
	Outline []Bids
}

// Sync states bids, and returns the event that was selected among those
// requested and waited for.
type Sync func(Bids) Event

// Straight makes a thread's Start of straight-line code: run states its bids by
// calling sync, which returns when the thread may go on. It must do nothing else
// that can be seen from outside, and hold on to nothing between two runs.
func Straight(run func(sync Sync)) func() Behavior {
	return func() Behavior {
		s := &straight{}
		s.next, s.stop = iter.Pull(func(yield func(Bids) bool) {
			defer func() {
				if p := recover(); p != nil && p != errStopped { //nolint:errorlint // it is the very value
					s.panicked = p
				}
			}()
			run(func(b Bids) Event {
				if !yield(b) {
					panic(errStopped)
				}
				return s.event
			})
		})
		if !s.move() {
			return nil
		}
		return s
	}
}

var errStopped = errors.New("the thread was stopped")

// straight is a coroutine that stands in a call of sync.
type straight struct {
	next     func() (Bids, bool)
	stop     func()
	bids     Bids
	event    Event
	panicked any
}

func (s *straight) Bids() Bids { return s.bids }

func (s *straight) Next(e Event) bool {
	s.event = e
	return s.move()
}

func (s *straight) move() (ok bool) {
	s.bids, ok = s.next()
	if s.panicked != nil {
		panic(s.panicked)
	}
	return ok
}

// Stop ends the coroutine.
func (s *straight) Stop() { s.stop() }

// thread is a Thread in a program.
type thread struct {
	Thread
	order int
	body  Behavior // nil once it has ended
	bids  Bids
	// heard are the events of this run, kept unless body is a Saver; long says
	// that they were too many to be kept.
	heard []Event
	long  bool
	// broken says why it broke down, empty while it has not.
	broken string
}

// live reports whether the thread still has a say.
func (t *thread) live() bool { return t.body != nil || t.broken != "" }

// begin starts a run. A thread that ends without having stated anything would
// begin for ever: it is broken.
func (t *thread) begin() {
	t.heard = nil
	t.guard(func() {
		t.body = t.Start()
		if t.body != nil {
			t.bids = t.body.Bids()
		} else if t.Repeat {
			panic("it repeats, but never waits for anything")
		}
	})
}

// hear moves the thread on by an event that it requested or waited for.
func (t *thread) hear(e Event) {
	more := false
	t.guard(func() {
		if more = t.body.Next(e); more {
			t.bids = t.body.Bids()
		}
	})
	switch {
	case t.broken != "":
	case !more && t.Repeat:
		t.end()
		t.begin()
	case !more:
		t.end()
	default:
		t.remember(e)
	}
}

// maxHeard is how many events of one run are kept. A thread that goes round
// within a run, instead of repeating, would take memory without end.
const maxHeard = 4096

func (t *thread) remember(e Event) {
	if _, ok := t.body.(Saver); ok || t.long {
		return
	}
	if t.heard = append(t.heard, e); len(t.heard) > maxHeard {
		t.heard, t.long = nil, true
	}
}

// end takes the thread out.
func (t *thread) end() {
	if s, ok := t.body.(interface{ Stop() }); ok {
		s.Stop()
	}
	t.body, t.bids, t.heard, t.long = nil, Bids{}, nil, false
}

// guard runs code of the thread's. If it panics the thread is broken, and blocks
// what it could ever have blocked.
func (t *thread) guard(f func()) {
	defer func() {
		if p := recover(); p != nil {
			t.breakDown(why(p))
		}
	}()
	f()
}

func (t *thread) breakDown(reason string) {
	t.end()
	t.broken = reason
	scope := t.Scope
	if scope == nil {
		scope = Of("*")
	}
	t.bids = Bids{Block: []Ban{{Match: scope, Reason: "the policy " + t.Name + " broke down (" + reason + ") and lets nothing pass any more"}}}
}

// why is the text of a panic, cut to what belongs in a message.
func why(p any) string {
	text := fmt.Sprint(p)
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}
	return text
}

// blocks says whether the thread blocks e. A matcher that panics blocks it, be it
// one of those that wait: the thread could not be told of the event.
func (t *thread) blocks(e Event) (b Blocker, blocked bool) {
	defer func() {
		if p := recover(); p != nil {
			b = Blocker{Thread: t.Name, Reason: "the policy " + t.Name + " broke down (" + why(p) + ") and lets nothing pass", Fault: why(p)}
			blocked = true
		}
	}()
	for i := range t.bids.Block {
		ban := &t.bids.Block[i]
		if ban.Ask != nil && e.Allowed {
			continue
		}
		if ban.Match.Match(e) != No {
			return Blocker{Thread: t.Name, Reason: ban.reason(e), Later: ban.Later, Ask: ban.Ask}, true
		}
	}
	t.wants(e)
	return b, false
}

// wants says what e does to the thread: end it, move it on, or nothing. It was
// asked before e was selected, so it does not panic then; but a thread that
// blocks e was not, and a fact comes all the same.
func (t *thread) wants(e Event) (interrupted, advanced bool) {
	if t.bids.Interrupt != nil && t.bids.Interrupt.Match(e) == Yes {
		return true, false
	}
	return false, t.bids.Wait != nil && t.bids.Wait.Match(e) == Yes || t.requests(e)
}

func (t *thread) requests(e Event) bool {
	for _, r := range t.bids.Request {
		if r.Equal(e) {
			return true
		}
	}
	return false
}

package behavior

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// points is a behavior that states one set of bids after the other.
type points struct {
	all []Bids
	at  int
}

func (b *points) Bids() Bids                 { return b.all[b.at] }
func (b *points) Next(Event) bool            { b.at++; return b.at < len(b.all) }
func (b *points) Save() string               { return strconv.Itoa(b.at) }
func (b *points) Restore(s string) (e error) { b.at, e = strconv.Atoi(s); return e }

// once and repeat make threads of points.
func once(name string, all ...Bids) Thread {
	return Thread{Name: name, Start: func() Behavior { return &points{all: all} }}
}

func repeat(name string, all ...Bids) Thread {
	t := once(name, all...)
	t.Repeat = true
	return t
}

func request(types ...string) (b Bids) {
	for _, t := range types {
		b.Request = append(b.Request, Event{Type: t})
	}
	return b
}

func wait(types ...string) Bids  { return Bids{Wait: Of(types...)} }
func block(types ...string) Bids { return Bids{Block: []Ban{{Match: Of(types...), Reason: "no"}}} }

func interrupt(b Bids, types ...string) Bids {
	b.Interrupt = Of(types...)
	return b
}

// event makes an event; detail may be empty.
func event(t testing.TB, typ, detail string) Event {
	t.Helper()
	if detail == "" {
		return Event{Type: typ}
	}
	d, err := JSONDetail(detail)
	if err != nil {
		t.Fatal(err)
	}
	return Event{Type: typ, Detail: d}
}

// stage is a program whose selections are written down.
type stage struct {
	*Program
	t       testing.TB
	said    []string
	refused []string
	steps   []Step
}

func play(t testing.TB, threads ...Thread) *stage {
	t.Helper()
	s := &stage{t: t}
	s.Program = New(&Options{
		Effect:  func(e Event) { s.said = append(s.said, e.String()) },
		Refused: func(e Event, by []Blocker) { s.refused = append(s.refused, e.String()+" by "+who(by)) },
		Record:  func(st Step) { s.steps = append(s.steps, st) },
	})
	t.Cleanup(s.Close)
	s.add(threads...)
	return s
}

func (s *stage) add(threads ...Thread) {
	s.t.Helper()
	for _, th := range threads {
		if err := s.Add(th); err != nil {
			s.t.Fatal(err)
		}
	}
}

// expect runs the program, and compares what was selected since the last time.
func (s *stage) expect(want string) {
	s.t.Helper()
	s.Run()
	if got := strings.Join(s.said, " "); got != want {
		s.t.Errorf("selected %q, want %q", got, want)
	}
	s.said = nil
}

func who(by []Blocker) string {
	var out []string
	for _, b := range by {
		out = append(out, b.Thread)
	}
	return strings.Join(out, ",")
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestSpec1_ABlockBeatsARequest(t *testing.T) {
	t.Parallel()
	s := play(t, once("wants", request("a", "b")), once("guard", block("a")))
	s.expect("b")
	s = play(t, once("wants", request("a")), once("guard", block("a")))
	s.expect("")
}

func TestSpec1_AThreadCanBlockWhatItRequestsItself(t *testing.T) {
	t.Parallel()
	b := request("a")
	b.Block = block("a").Block
	s := play(t, once("torn", b))
	s.expect("")
	equal(t, "standing", s.Status().Standing, Deadlock)
}

func TestSpec1_ABlockBeatsATrigger(t *testing.T) {
	t.Parallel()
	s := play(t, once("guard", block("a")), once("hears", wait("a")))
	if o := s.Trigger(event(t, "a", ""), false); o.Selected {
		t.Errorf("a blocked event was selected: %+v", o)
	}
	equal(t, "threads", s.Names(), []string{"guard", "hears"})
	s.expect("")
}

func TestSpec1_ABlockHoldsForWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	bound := &Pattern{Types: []string{"pay"}, Where: []Condition{{Path: []string{"sum"}, Min: "100"}}}
	seven := &Pattern{Types: []string{"pay"}, Where: []Condition{{Path: []string{"sum"}, In: []Value{{Kind: Number, Text: "70"}}}}}
	for _, c := range []struct {
		name    string
		match   Matcher
		detail  string
		blocked bool
	}{
		{"below", bound, `{"sum":99.99}`, false},
		{"above", bound, `{"sum":1e2}`, true},
		{"beyond measure", bound, `{"sum":1e9999999999}`, true},
		{"another", seven, `{"sum":7}`, false},
		{"the same in other words", seven, `{"sum":0.7e2}`, true},
		{"the same with many zeros", seven, `{"sum":7e00000000000001}`, true},
		{"one beyond measure may be any", seven, `{"sum":1e9999999999}`, true},
		{"one of several", seven, `{"sum":[1,7e1]}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := play(t, once("guard", Bids{Block: []Ban{{Match: c.match}}}))
			equal(t, "blocked", len(s.Blocked(event(t, "pay", c.detail))) > 0, c.blocked)
		})
	}
}

func TestSpec1_WhoWaitsIsNotToldOfWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	bound := &Pattern{Types: []string{"pay"}, Where: []Condition{{Path: []string{"sum"}, Min: "100"}}}
	s := play(t, once("hears", Bids{Wait: bound}), once("ends", Bids{Interrupt: bound}))
	s.Trigger(event(t, "pay", `{"sum":1e9999999999}`), false)
	equal(t, "threads", s.Names(), []string{"hears", "ends"})
	s.Trigger(event(t, "pay", `{"sum":100}`), false)
	equal(t, "threads", len(s.Names()), 0)
}

func TestSpec2_TheLowestPriorityNumberComesFirst(t *testing.T) {
	t.Parallel()
	low, high, negative := once("low", request("low")), once("high", request("high")), once("negative", request("negative"))
	low.Priority, high.Priority, negative.Priority = 7, 1, -1
	play(t, low, high, negative).expect("negative high low")
}

func TestSpec2_EqualPrioritiesGoByRegistrationAlsoForThreadsAddedLater(t *testing.T) {
	t.Parallel()
	ranked := func(name string, priority int) Thread {
		th := once(name, request(name+"1"), request(name+"2"))
		th.Priority = priority
		return th
	}
	s := play(t, ranked("x", 5), ranked("y", 5), ranked("z", 9))
	s.Step()
	s.add(ranked("later", 5), ranked("first", 1), ranked("last", 9))
	equal(t, "order", s.Names(), []string{"first", "x", "y", "later", "z", "last"})
	s.expect("x1 first1 first2 x2 y1 y2 later1 later2 z1 z2 last1 last2")
}

func TestSpec2_AThreadKeepsItsRankWhenItMovesOnRepeatsOrIsRestored(t *testing.T) {
	t.Parallel()
	threads := []Thread{repeat("x", request("x")), once("y", request("y"))}
	s := play(t, threads...)
	for range 3 {
		s.Step()
	}
	equal(t, "selected", s.said, []string{"x", "x", "x"})
	c, err := s.Clone()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	equal(t, "order of the clone", c.Names(), s.Names())
}

func TestSpec2_WithinAThreadTheMostWantedComesFirst(t *testing.T) {
	t.Parallel()
	s := play(t, once("wants", request("c", "a", "b"), request("b", "a")), once("guard", block("c")))
	s.expect("a b")
}

func TestSpec2_TriggersComeBeforeRequestsInTheOrderOfArrival(t *testing.T) {
	t.Parallel()
	first := once("first", request("go"), request("request"))
	first.Priority = -100
	s := play(t, first)
	react := s.opts.Effect
	s.opts.Effect = func(e Event) {
		react(e)
		if e.Type == "go" {
			s.Trigger(event(t, "t1", ""), false)
			s.Trigger(event(t, "t2", ""), true)
			s.Trigger(event(t, "t3", ""), false)
		}
	}
	s.expect("go t1 t2 t3 request")
}

func TestSpec2_ANewTriggerStandsBehindThoseThatWait(t *testing.T) {
	t.Parallel()
	s := play(t, once("guard", block("held"), request("never")))
	s.Program.threads[0].bids.Wait = Of("open")
	s.Trigger(event(t, "held", ""), true)
	s.Trigger(event(t, "open", ""), false)
	s.Trigger(event(t, "new", ""), false)
	s.expect("open held new never")
}

func TestSpec3_AnInterruptBeatsWaitingAndRequesting(t *testing.T) {
	t.Parallel()
	both := interrupt(wait("stop"), "stop")
	both.Request = request("stop").Request
	s := play(t, once("once", both, request("after")), repeat("repeat", both, request("again")))
	s.Step()
	equal(t, "interrupted", s.steps[0].Interrupted, []string{"once", "repeat"})
	equal(t, "advanced", s.steps[0].Advanced, nil)
	equal(t, "left", len(s.Names()), 0)
}

func TestSpec3_AnInterruptedThreadNoLongerBlocks(t *testing.T) {
	t.Parallel()
	s := play(t, repeat("guard", interrupt(block("a"), "stop")), once("wants", request("a")))
	s.expect("")
	s.Trigger(event(t, "stop", ""), false)
	s.expect("stop a")
}

func TestSpec3_OnceEndsAndRepeatBeginsAnew(t *testing.T) {
	t.Parallel()
	s := play(t, once("once", wait("a"), request("once")), repeat("repeat", wait("a"), request("repeat")))
	for range 3 {
		s.Trigger(event(t, "a", ""), false)
		s.Run()
	}
	s.expect("a once repeat a repeat a repeat")
	equal(t, "left", s.Names(), []string{"repeat"})
}

func TestSpec3_TheNameOfAThreadThatEndedIsFree(t *testing.T) {
	t.Parallel()
	nothing := Thread{Name: "a", Start: func() Behavior { return nil }}
	s := play(t, nothing)
	equal(t, "left", len(s.Names()), 0)
	s.add(once("a", request("x")))
	if err := s.Add(nothing); err == nil {
		t.Error("there are two threads of one name")
	}
	saved := s.Save()
	equal(t, "saved", saved, []Saved{{Name: "a", State: "0"}})
	again := play(t, once("a", request("x")))
	if err := again.Restore(saved); err != nil {
		t.Fatal(err)
	}
	again.expect("x")
}

func TestSpec4_ThreadsThatRequestAnEqualEventAdvanceTogether(t *testing.T) {
	t.Parallel()
	one := Bids{Request: []Event{event(t, "a", `{"n":1,"s":"x"}`)}}
	same := Bids{Request: []Event{event(t, "a", `{ "s":"\u0078", "n":1.0 }`)}}
	other := Bids{Request: []Event{event(t, "a", `{"n":2,"s":"x"}`)}}
	s := play(t, once("one", one), once("same", same), once("other", other), once("bare", request("a")))
	s.Step()
	equal(t, "advanced", s.steps[0].Advanced, []string{"one", "same"})
	s.expect(`a{"n":1,"s":"x"} a{"n":2,"s":"x"} a`)
	equal(t, "candidates", len(s.steps[0].Candidates), 3)
}

func TestSpec5_ATriggerSaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	later := block("a")
	later.Block[0].Later = true
	later.Block[0].Reason = ""
	later.Block[0].Why = func(e Event) string { return e.Type + " must wait" }
	s := play(t, once("guard", interrupt(block("a"), "open")), once("second", interrupt(later, "open")))
	by := []Blocker{{Thread: "guard", Reason: "no"}, {Thread: "second", Reason: "a must wait", Later: true}}

	equal(t, "a free one", s.Trigger(event(t, "b", ""), false), Outcome{Selected: true})
	equal(t, "a blocked one", s.Trigger(event(t, "a", ""), false), Outcome{Refused: true, By: by})
	equal(t, "a held one", s.Trigger(event(t, "a", ""), true), Outcome{Deferred: true, By: by})
	s.expect("b")
	s.Trigger(event(t, "open", ""), false)
	s.expect("open a")
	s.expect("")
	equal(t, "told of those refused at once", s.refused, nil)
}

func TestSpec5_AQueuedTriggerThatIsRefusedLaterIsTold(t *testing.T) {
	t.Parallel()
	s := play(t, once("guard", wait("go"), block("a")))
	s.opts.Effect = func(e Event) {
		if e.Type == "go" {
			equal(t, "outcome", s.Trigger(event(t, "a", ""), false), Outcome{Deferred: true})
		}
	}
	s.Trigger(event(t, "go", ""), false)
	s.Run()
	equal(t, "refused", s.refused, []string{"a by guard"})
	last := s.steps[len(s.steps)-1]
	if last.Selected != nil || len(last.Blocked) != 1 || who(last.Blocked[0].By) != "guard" {
		t.Errorf("the refusal was not recorded: %+v", last)
	}
	s.Run()
	equal(t, "refused once", len(s.refused), 1)
}

func TestSpec5_AHeldTriggerDoesNotStandInTheWayOfOthers(t *testing.T) {
	t.Parallel()
	s := play(t, once("guard", interrupt(block("a", "b"), "open")))
	s.Trigger(event(t, "a", ""), true)
	s.Trigger(event(t, "b", ""), true)
	s.Trigger(event(t, "c", ""), false)
	s.expect("c")
	s.Trigger(event(t, "open", ""), false)
	s.expect("open a b")
}

func TestSpec6_ReadyIdleOrDeadlock(t *testing.T) {
	t.Parallel()
	s := play(t, once("x", wait("go"), request("a"), request("b")), once("y", wait("a"), request("c")),
		repeat("g1", block("b", "c")), repeat("g2", block("b")))
	equal(t, "at first", s.Status(), Status{Standing: Idle})
	s.Trigger(event(t, "go", ""), false)
	equal(t, "then", s.Status(), Status{Standing: Ready})
	s.expect("go a")
	st := s.Status()
	equal(t, "at last", st.String(), "deadlock: b is blocked by g1, g2; c is blocked by g1")
	equal(t, "recorded", s.steps[len(s.steps)-1].Status, st)
	equal(t, "blocked", st.Blocked, []Blocking{
		{Event{Type: "b"}, []Blocker{{Thread: "g1", Reason: "no"}, {Thread: "g2", Reason: "no"}}},
		{Event{Type: "c"}, []Blocker{{Thread: "g1", Reason: "no"}}},
	})
	equal(t, "stays", s.Step(), false)
}

func TestSpec6_OneFreeRequestIsEnoughToBeReady(t *testing.T) {
	t.Parallel()
	s := play(t, once("x", request("a", "b")), once("guard", block("a")))
	equal(t, "standing", s.Status().Standing, Ready)
}

// counter requests an event a number of times.
type counter struct{ left int }

func (c *counter) Bids() Bids                 { return request("tick") }
func (c *counter) Next(Event) bool            { c.left--; return c.left > 0 }
func (c *counter) Save() string               { return strconv.Itoa(c.left) }
func (c *counter) Restore(s string) (e error) { c.left, e = strconv.Atoi(s); return e }

const million = 1_000_000

// flat runs a million steps and checks that they leave nothing behind, and that
// the last effect stands no deeper than the first. The tests that call it are not
// parallel, so that the memory is theirs.
func flat(t *testing.T, p *Program, effect func(n int)) {
	t.Helper()
	defer p.Close()
	frames := make([]uintptr, 1000)
	n, depth := 0, 0
	p.opts.Effect = func(Event) {
		n++
		if effect != nil {
			effect(n)
		}
		if n == 200 || n == million-10 { // both within Run
			now := runtime.Callers(0, frames)
			if depth != 0 && now != depth {
				t.Errorf("%d calls deep at first, %d after a million steps", depth, now)
			}
			depth = now
		}
	}
	for n < 100 && p.Step() { // whatever is made at first use
	}
	before := memory()
	p.Run()
	after := memory()
	if n != million {
		t.Errorf("%d steps, want a million", n)
	}
	if after.HeapAlloc > before.HeapAlloc+128<<10 {
		t.Errorf("the heap grew from %d to %d bytes", before.HeapAlloc, after.HeapAlloc)
	}
	if after.StackInuse > before.StackInuse+128<<10 {
		t.Errorf("the stacks grew from %d to %d bytes", before.StackInuse, after.StackInuse)
	}
	runtime.KeepAlive(p)
}

func memory() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}

func TestSpec7_AMillionRequests(t *testing.T) {
	p := New(nil)
	p.Add(Thread{Name: "ticks", Start: func() Behavior { return &counter{million} }})
	p.Add(repeat("hears", wait("tick"), wait("tick")))
	flat(t, p, nil)
}

func TestSpec7_AMillionTriggersFromWithinEffects(t *testing.T) {
	p := New(nil)
	p.Add(repeat("hears", wait("tick")))
	p.queue = []trigger{{event: Event{Type: "tick"}}}
	flat(t, p, func(n int) {
		if n == million {
			return
		}
		if o := p.Trigger(Event{Type: "tick"}, n%2 == 0); !o.Deferred {
			t.Fatalf("a trigger from within an effect was not queued: %+v", o)
		}
		if p.Step() {
			t.Fatal("there was a step within a step")
		}
	})
}

func TestSpec7_AMillionStepsOfStraightLineCode(t *testing.T) {
	p := New(nil)
	p.Add(Thread{Name: "ticks", Start: func() Behavior { return &counter{million} }})
	p.Add(Thread{Name: "straight", Repeat: true, Start: Straight(func(sync Sync) {
		for range 500 {
			sync(wait("tick"))
		}
	})})
	flat(t, p, nil)
}

func TestSpec7_AMillionRefusals(t *testing.T) {
	p := New(nil)
	n := 0
	p.opts.Refused = func(e Event, _ []Blocker) {
		if n++; n < million {
			if o := p.Trigger(e, false); !o.Deferred {
				t.Fatalf("a trigger from within a handler was not queued: %+v", o)
			}
		}
	}
	p.Add(once("guard", block("a")))
	p.queue = []trigger{{event: Event{Type: "a"}}}
	equal(t, "steps", p.Run(), 0)
	equal(t, "refused", n, million)
}

func TestSpec7_ATriggerFromWithinARecordedRefusalIsQueued(t *testing.T) {
	t.Parallel()
	s := play(t, once("guard", block("a")))
	s.opts.Record = func(st Step) {
		if st.Selected == nil {
			equal(t, "outcome", s.Trigger(event(t, "sorry", ""), false), Outcome{Deferred: true})
		}
	}
	s.Trigger(event(t, "a", ""), false)
	s.expect("sorry")
}

func TestSpec7_AnEffectThatPanicsDoesNotStopTheProgram(t *testing.T) {
	t.Parallel()
	s := play(t, once("x", request("a"), request("b")))
	s.opts.Effect = func(e Event) {
		if e.Type == "a" {
			panic("the caller's own")
		}
	}
	func() {
		defer func() { equal(t, "panic", recover(), any("the caller's own")) }()
		s.Step()
	}()
	equal(t, "steps", s.Run(), 1)
}

func TestSpec8_AStepIsRecordedAsItWas(t *testing.T) {
	t.Parallel()
	s := play(t, once("x", request("a", "b")), once("y", request("c")), once("guard", interrupt(block("a"), "b")),
		repeat("hears", wait("b", "z")))
	s.Step()
	no := []Blocker{{Thread: "guard", Reason: "no"}}
	equal(t, "step", s.steps, []Step{{
		Candidates:  []Candidate{{Event{Type: "a"}, "x"}, {Event{Type: "b"}, "x"}, {Event{Type: "c"}, "y"}},
		Selected:    &Event{Type: "b"},
		Thread:      "x",
		Blocked:     []Blocking{{Event{Type: "a"}, no}},
		Interrupted: []string{"guard"},
		Advanced:    []string{"x", "hears"},
		Status:      Status{Standing: Ready},
	}})
	s.Trigger(event(t, "z", ""), false)
	last := s.steps[1]
	equal(t, "from outside", last.Thread, "")
	equal(t, "candidates", last.Candidates, []Candidate{{Event{Type: "z"}, ""}, {Event{Type: "c"}, "y"}})
}

func TestSpec8_ReplayingTheSelectionsGivesTheSameFrontier(t *testing.T) {
	t.Parallel()
	threads := func() []Thread {
		return []Thread{
			once("x", request("a"), wait("out"), request("b"), request("c")),
			repeat("y", wait("a", "b"), wait("out", "c"), wait("a")),
			once("gone", wait("a")),
			{Name: "straight", Start: Straight(func(sync Sync) {
				sync(wait("a"))
				sync(wait("b"))
				sync(wait("never"))
			})},
		}
	}
	s := play(t, threads()...)
	s.Run()
	s.Trigger(event(t, "out", `{"n":1}`), false)
	s.Run()
	again := play(t, threads()...)
	for _, st := range s.steps {
		if err := again.Select(*st.Selected, st.Thread == ""); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "frontier", again.Save(), s.Save())
	equal(t, "key", again.key(), s.key())
	equal(t, "steps", again.steps, s.steps)
}

func TestSpec8_ASelectionThatWasNotEnabledIsAnErrorAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := play(t, once("x", request("a", "b")), once("guard", block("b")), once("hears", wait("c", "b")))
	before := s.Save()
	for _, c := range []struct {
		typ     string
		outside bool
		want    string
	}{
		{"b", false, "b is blocked by guard: no"},
		{"b", true, "b is blocked by guard: no"},
		{"c", false, "nobody requests c"},
		{"d", false, "nobody requests d"},
	} {
		err := s.Select(event(t, c.typ, ""), c.outside)
		var not *NotEnabledError
		if !errors.As(err, &not) || err.Error() != c.want {
			t.Errorf("select %s: %v, want %s", c.typ, err, c.want)
		}
	}
	equal(t, "frontier", s.Save(), before)
	equal(t, "effects", len(s.said)+len(s.steps), 0)
	if err := s.Select(event(t, "a", ""), false); err != nil {
		t.Error(err)
	}
	if err := s.Select(event(t, "c", ""), true); err != nil {
		t.Error(err)
	}
}

func TestSpec8_NothingIsSelectedWithinAStep(t *testing.T) {
	t.Parallel()
	s := play(t, once("x", request("a"), request("b")))
	s.opts.Effect = func(e Event) {
		if e.Type != "a" {
			return
		}
		if err := s.Select(event(t, "b", ""), false); err == nil {
			t.Error("an event was selected within the step of another")
		}
		equal(t, "outcome", s.Trigger(event(t, "c", ""), false), Outcome{Deferred: true})
	}
	equal(t, "steps", s.Run(), 3)
}

func TestSpec8_RestoreRefusesAThreadThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := play(t, once("x", request("a")))
	for range 20 { // the same one each time
		err := s.Restore([]Saved{{Name: "y"}, {Name: "z"}, {Name: "x", State: "0"}})
		if err == nil || err.Error() != "restore thread y: there is none" {
			t.Fatalf("restore: %v", err)
		}
	}
}

func TestSpec8_WhatIsSavedTellsStatesApartWhateverTheirText(t *testing.T) {
	t.Parallel()
	states := []string{"", "\xff", "\xfe", `"`, `\`, `","`, "\u2028"}
	seen := map[string]string{}
	for _, a := range states {
		for _, b := range states {
			k := keyOf([]Saved{{Name: "x", State: a, Heard: []SavedEvent{{Type: b}}}})
			if old, ok := seen[k]; ok {
				t.Errorf("%q and %q have one key", old, a+"/"+b)
			}
			seen[k] = a + "/" + b
		}
	}
}

func TestSpec9_StraightLineCode(t *testing.T) {
	t.Parallel()
	greet := Thread{Name: "greets", Start: Straight(func(sync Sync) {
		for {
			e := sync(wait("hello", "bye"))
			if e.Type == "bye" {
				return
			}
			name := e.Field([]string{"name"}).Text
			sync(Bids{Request: []Event{event(t, "greet", `{"name":`+quote(name)+`}`)}, Block: block("hello").Block})
		}
	})}
	s := play(t, greet)
	for _, name := range []string{"Ann", "Bob"} {
		s.Trigger(event(t, "hello", `{"name":"`+name+`"}`), false)
		equal(t, "in between", s.Trigger(event(t, "hello", ""), false).Refused, true)
		s.Run()
	}
	s.Trigger(event(t, "bye", ""), false)
	s.expect(`hello{"name":"Ann"} greet{"name":"Ann"} hello{"name":"Bob"} greet{"name":"Bob"} bye`)
	equal(t, "left", len(s.Names()), 0)
}

func TestSpec9_StraightLineCodeRepeatsIsInterruptedAndIsBroughtBack(t *testing.T) {
	t.Parallel()
	ended := 0
	work := func() Thread {
		return Thread{Name: "works", Repeat: true, Start: Straight(func(sync Sync) {
			defer func() { ended++ }()
			first := sync(interrupt(wait("a", "b"), "stop"))
			sync(interrupt(request("after-"+first.Type), "stop"))
		})}
	}
	s := play(t, work())
	s.Trigger(event(t, "a", ""), false)
	s.expect("a after-a")
	s.Trigger(event(t, "b", ""), false)
	again := play(t, work())
	if err := again.Restore(s.Save()); err != nil {
		t.Fatal(err)
	}
	again.expect("after-b")
	again.Trigger(event(t, "stop", ""), false)
	equal(t, "left", len(again.Names()), 0)
	equal(t, "runs that ended", ended, 3)
}

func TestSpec9_AThreadThatIsEndedRunsItsDeferredCode(t *testing.T) {
	t.Parallel()
	s := play(t, Thread{Name: "stubborn", Start: Straight(func(sync Sync) {
		defer func() {
			_ = recover() // it would rather go on
			sync(wait("a"))
		}()
		sync(interrupt(Bids{}, "stop"))
	})})
	s.Trigger(event(t, "stop", ""), false)
	equal(t, "left", len(s.Names()), 0)
}

func TestSpec11_AnEffectRunsOnlyForASelectedEvent(t *testing.T) {
	t.Parallel()
	s := play(t, once("x", request("a", "b")), repeat("guard", block("a", "c")), once("y", wait("d"), request("a")))
	s.Trigger(event(t, "c", ""), false)
	s.Trigger(event(t, "c", ""), true)
	equal(t, "before any", s.said, nil)
	_ = s.Select(event(t, "a", ""), false)
	s.Status()
	s.Blocked(event(t, "a", ""))
	equal(t, "asked only", s.said, nil)
	s.expect("b")
}

func TestSpec11_AnEffectRunsOnceTheThreadsHaveMovedOn(t *testing.T) {
	t.Parallel()
	s := play(t, once("x", request("a")))
	s.opts.Effect = func(Event) { equal(t, "threads", len(s.Names()), 0) }
	equal(t, "steps", s.Run(), 1)
}

// lame is a behavior that breaks down where it is told to.
type lame struct {
	points
	next, bids bool
}

func (l *lame) Bids() Bids {
	if l.bids && l.at > 0 {
		panic("lame")
	}
	return l.points.Bids()
}

func (l *lame) Next(e Event) bool {
	if l.next {
		panic("lame")
	}
	return l.points.Next(e)
}

// fall is a matcher that panics over one type of event.
type fall string

func (f fall) Match(e Event) Truth {
	if e.Type == string(f) {
		panic("lame")
	}
	return No
}

func (f fall) String() string { return "falls over " + string(f) }

// Each thread breaks down over poke at the latest. Before it does, it blocks none
// of what it should from then on: a and b, or everything.
func TestSpec11_AThreadThatPanicsBlocksItsEventsFromThenOn(t *testing.T) {
	t.Parallel()
	ban := func(why func(Event) string) Bids {
		return Bids{Block: []Ban{{Match: Of("poke"), Why: why}}}
	}
	for name, start := range map[string]func() Behavior{
		"in Start":     func() Behavior { panic("lame") },
		"in Bids":      func() Behavior { return &lame{points: points{all: []Bids{wait("poke"), {}}}, bids: true} },
		"in Next":      func() Behavior { return &lame{points: points{all: []Bids{wait("poke"), {}}}, next: true} },
		"in Block":     once("", Bids{Block: []Ban{{Match: fall("poke")}}}).Start,
		"in Why":       once("", ban(func(Event) string { panic("lame") })).Start,
		"in Any":       once("", Bids{Block: []Ban{{Match: Any{Of("x"), fall("poke")}}}}).Start,
		"in Wait":      once("", Bids{Wait: fall("poke")}).Start,
		"in Interrupt": once("", Bids{Interrupt: fall("poke")}).Start,
		"at once":      Straight(func(Sync) { panic("lame") }),
		"in straight":  Straight(func(sync Sync) { sync(wait("poke")); panic("lame") }),
		"at its end": Straight(func(sync Sync) {
			defer func() { panic("lame") }()
			sync(wait("poke"))
		}),
	} {
		for _, offer := range []string{"trigger", "held trigger", "request"} {
			for _, scope := range []Matcher{nil, Of("a", "b")} {
				for _, again := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/%v/%v", name, offer, scope, again), func(t *testing.T) {
						t.Parallel()
						th := Thread{Name: "lame", Start: start, Scope: scope, Repeat: again}
						breaksDown(t, th, offer)
					})
				}
			}
		}
	}
}

func breaksDown(t *testing.T, th Thread, offer string) {
	t.Helper()
	s := play(t, repeat("first", wait("poke")), th, repeat("hears", wait("c")))
	switch offer {
	case "trigger":
		s.Trigger(event(t, "poke", ""), false)
	case "held trigger":
		s.Trigger(event(t, "poke", ""), true)
		s.Run()
	case "request":
		s.add(once("pokes", request("poke")))
		s.Run()
	}
	equal(t, "broken", s.Broken(), []Blocker{{Thread: "lame", Reason: "lame"}})
	blocked := []string{"a", "b"}
	if th.Scope == nil {
		blocked = []string{"a", "b", "c", "poke"}
	}
	for range 2 {
		for _, typ := range []string{"a", "b", "c", "poke"} {
			by := s.Blocked(event(t, typ, ""))
			equal(t, typ+" is blocked", who(by) == "lame", slices.Contains(blocked, typ))
			for _, b := range by {
				if !strings.Contains(b.Reason, "lame broke down (lame)") {
					t.Errorf("the reason does not tell: %s", b.Reason)
				}
			}
		}
		o := s.Trigger(event(t, "a", ""), false)
		equal(t, "refused", o.Refused, true)
		equal(t, "others go on", s.Trigger(event(t, "c", ""), false).Selected, th.Scope != nil)
	}
	equal(t, "it has its say", slices.Contains(s.Names(), "lame"), true)

	c, err := s.Clone()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	equal(t, "broken in a clone", c.Broken(), s.Broken())
	equal(t, "blocked in a clone", c.Blocked(event(t, "a", "")), s.Blocked(event(t, "a", "")))
}

func TestSpec11_ARepeatThatNeverSyncsIsBroken(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func() Behavior{
		"straight": Straight(func(Sync) {}),
		"nil":      func() Behavior { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, Thread{Name: "spins", Repeat: true, Start: start})
			equal(t, "broken", s.Broken(), []Blocker{{Thread: "spins", Reason: "it repeats, but never waits for anything"}})
			equal(t, "blocked", who(s.Blocked(event(t, "a", ""))), "spins")
		})
	}
}

// forgetful panics when it is saved or restored.
type forgetful struct{ points }

func (*forgetful) Save() string         { panic("forgotten") }
func (*forgetful) Restore(string) error { panic("forgotten") }

func TestSpec11_AThreadThatCannotBeSavedIsBroken(t *testing.T) {
	t.Parallel()
	th := Thread{Name: "x", Start: func() Behavior { return &forgetful{points{all: []Bids{{}}}} }}
	s := play(t, th)
	equal(t, "saved", s.Save(), []Saved{{Name: "x", Broken: "forgotten"}})
	equal(t, "blocked", who(s.Blocked(event(t, "a", ""))), "x")
	again := play(t, th)
	if err := again.Restore([]Saved{{Name: "x", State: "0"}}); err != nil {
		t.Fatal(err)
	}
	equal(t, "blocked", who(again.Blocked(event(t, "a", ""))), "x")
}

func TestSpec11_AThreadThatCannotBearAFactIsBroken(t *testing.T) {
	t.Parallel()
	b := block("fact")
	b.Wait = fall("fact")
	s := play(t, once("x", b), once("hears", wait("fact")))
	s.Tell(event(t, "fact", ""))
	equal(t, "broken", s.Broken(), []Blocker{{Thread: "x", Reason: "lame"}})
	equal(t, "left", s.Names(), []string{"x"})
}

func TestSpec11_TwoThreadsThatFallOverOneRequestAreBothBroken(t *testing.T) {
	t.Parallel()
	x, y := once("x", Bids{Wait: fall("poke")}), once("y", Bids{Block: []Ban{{Match: fall("poke")}}})
	x.Scope, y.Scope = Of("a"), Of("b")
	s := play(t, x, y, once("pokes", request("poke"), request("a", "b", "c")))
	s.expect("poke c")
	equal(t, "broken", who(s.Broken()), "x,y")
}

func BenchmarkSelection50Threads(b *testing.B) {
	p := New(nil)
	defer p.Close()
	add := func(t Thread) {
		if err := p.Add(t); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 10 {
		job := event(b, fmt.Sprintf("job%d", i), fmt.Sprintf(`{"n":%d,"path":"data/%d"}`, i, i))
		add(repeat(fmt.Sprintf("requests%d", i), Bids{Request: []Event{job}}, Bids{Request: []Event{{Type: "done"}}}))
	}
	for i := range 20 {
		typ := fmt.Sprintf("job%d", i%10)
		add(repeat(fmt.Sprintf("waits%d", i), wait(typ), interrupt(wait("done"), "never")))
	}
	for i := range 20 {
		m := &Pattern{Types: []string{fmt.Sprintf("job%d", i%5)}, Where: []Condition{{Path: []string{"path"}, Prefix: []string{"secret"}}}}
		if i%4 == 0 {
			m = Of("job0", "job1", "job2")
		}
		add(repeat(fmt.Sprintf("blocks%d", i), Bids{Block: []Ban{{Match: m, Reason: "no"}}}))
	}
	b.ReportAllocs()
	for b.Loop() {
		if !p.Step() {
			b.Fatalf("no step is possible: the program is %v", p.Status())
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "selections/s")
}

// A straight-line thread that goes round within one run is not remembered for
// ever, and cannot be saved any more.
func TestSpec7StraightLineLoop(t *testing.T) {
	p := New(nil)
	left := million
	if err := p.Add(Thread{Name: "loop", Start: Straight(func(sync Sync) {
		for ; left > 0; left-- {
			sync(Bids{Request: []Event{{Type: "a"}}})
		}
		sync(Bids{})
	})}); err != nil {
		t.Fatal(err)
	}
	for range 2 * maxHeard {
		p.Step()
	}
	before := memory()
	p.Run()
	if after := memory(); after.HeapAlloc > before.HeapAlloc+128<<10 {
		t.Errorf("the heap grew from %d to %d bytes", before.HeapAlloc, after.HeapAlloc)
	}
	if left != 0 {
		t.Errorf("%d steps are left", left)
	}
	if _, err := p.Clone(); err == nil || !strings.Contains(err.Error(), "which nobody kept") {
		t.Errorf("got %v", err)
	}
	p.Close()
}

func TestAConditionLooksIntoListsOfObjects(t *testing.T) {
	t.Parallel()
	e := event(t, "x", `{"files":[{"path":"a/b"},{"name":"x"},{"path":"secret/key"}],"none":[]}`)
	c := Condition{Path: []string{"files", "path"}, Prefix: []string{"secret"}}
	if c.holds(e) != Yes {
		t.Error("the path in the list is not seen")
	}
	if got := e.Field([]string{"none", "path"}); got.Kind != Missing {
		t.Errorf("got %v", got)
	}
}

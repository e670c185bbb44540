package behavior

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// check builds a program and checks it.
func check(t *testing.T, opts CheckOptions, threads ...Thread) Verdict {
	t.Helper()
	p := play(t, threads...)
	before := p.Save()
	v, err := p.Check(opts)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the program after the check", p.Save(), before)
	equal(t, "effects of the check", len(p.said)+len(p.steps), 0)
	if again, err := p.Check(opts); err != nil {
		t.Fatal(err)
	} else {
		equal(t, "checked again", again, v)
	}
	return v
}

func trace(v Verdict) string {
	var out []string
	for _, e := range v.Trace {
		out = append(out, e.String())
	}
	return strings.Join(out, " ")
}

// table seats philosophers: p1 takes and drops f1 and f2, and so on. If polite,
// the last one takes his forks in the other order.
func table(n int, polite, straight bool) (threads []Thread) {
	for i := range n {
		first, second := i, (i+1)%n
		if polite && i == n-1 {
			first, second = second, first
		}
		do := func(what string, fork int) Bids { return request(fmt.Sprintf("p%d-%s-f%d", i, what, fork)) }
		all := []Bids{do("takes", first), do("takes", second), do("drops", first), do("drops", second)}
		th := repeat(fmt.Sprintf("p%d", i), all...)
		if straight {
			th.Start = Straight(func(sync Sync) {
				for _, b := range all {
					sync(b)
				}
			})
		}
		threads = append(threads, th)
	}
	for f := range n {
		var takes, drops []string
		for i := range n {
			takes = append(takes, fmt.Sprintf("p%d-takes-f%d", i, f))
			drops = append(drops, fmt.Sprintf("p%d-drops-f%d", i, f))
		}
		held := block(takes...)
		held.Wait = Of(drops...)
		threads = append(threads, repeat(fmt.Sprintf("f%d", f), wait(takes...), held))
	}
	return threads
}

func TestSpec10_FailsWithTheShortestWayToADeadlock(t *testing.T) {
	t.Parallel()
	for _, straight := range []bool{false, true} {
		v := check(t, CheckOptions{}, table(3, false, straight)...)
		equal(t, "result", v.Result, Fails)
		equal(t, "trace", trace(v), "p0-takes-f0 p1-takes-f1 p2-takes-f2")
		equal(t, "reason", v.Reason,
			"deadlock: p0-takes-f1 is blocked by f1; p1-takes-f2 is blocked by f2; p2-takes-f0 is blocked by f0")
	}
}

func TestSpec10_HoldsOnceEveryStateWasLookedAt(t *testing.T) {
	t.Parallel()
	for _, straight := range []bool{false, true} {
		v := check(t, CheckOptions{Depth: 50}, table(3, true, straight)...)
		equal(t, "result", v.Result, Holds)
		equal(t, "trace", len(v.Trace), 0)
	}
}

func TestSpec10_TheTraceCanBeFollowed(t *testing.T) {
	t.Parallel()
	v := check(t, CheckOptions{}, table(4, false, false)...)
	s := play(t, table(4, false, false)...)
	for _, e := range v.Trace {
		if err := s.Select(e, false); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "status", s.Status().String(), v.Reason)
}

// water has three portions of hot and of cold.
func water(more ...Thread) []Thread {
	return append([]Thread{
		once("hot", request("hot"), request("hot"), request("hot")),
		once("cold", request("cold"), request("cold"), request("cold")),
	}, more...)
}

// scald watches for two portions of hot in a row.
var scald = Thread{Name: "watch", Repeat: true, Start: Straight(func(sync Sync) {
	sync(wait("hot"))
	if sync(wait("hot", "cold")).Type == "hot" {
		sync(request("scald"))
	}
})}

func TestSpec10_LooksAtAllInterleavings(t *testing.T) {
	t.Parallel()
	v := check(t, CheckOptions{}, water()...)
	equal(t, "each number of hot and cold", v, Verdict{Result: Holds, States: 16, Depth: 6})

	never := CheckOptions{Never: Of("scald")}
	v = check(t, never, water(scald)...)
	equal(t, "result", v.Result, Fails)
	equal(t, "trace", trace(v), "hot hot scald")
	equal(t, "reason", v.Reason, "scald is selected, and must never be (scald)")

	mix := repeat("mix", Bids{Wait: Of("hot"), Block: block("cold").Block}, Bids{Wait: Of("cold"), Block: block("hot").Block})
	v = check(t, never, water(scald, mix)...)
	equal(t, "in turns", v, Verdict{Result: Holds, States: 7, Depth: 6})
}

func TestSpec10_IsCutOffAtEitherBound(t *testing.T) {
	t.Parallel()
	ticks := Thread{Name: "ticks", Start: func() Behavior { return &counter{100} }}
	for _, c := range []struct {
		opts CheckOptions
		want Verdict
	}{
		{CheckOptions{}, Verdict{Result: CutOff, Reason: "there is more than 12 selections away", States: 13, Depth: 12}},
		{CheckOptions{Depth: 99}, Verdict{Result: CutOff, Reason: "there is more than 99 selections away", States: 100, Depth: 99}},
		{CheckOptions{Depth: 100}, Verdict{Result: Holds, States: 101, Depth: 100}},
		{CheckOptions{Depth: 200, States: 50}, Verdict{Result: CutOff, Reason: "there are more than 50 states", States: 50, Depth: 49}},
		{CheckOptions{Depth: 200, States: 101}, Verdict{Result: Holds, States: 101, Depth: 100}},
	} {
		equal(t, fmt.Sprintf("%+v", c.opts), check(t, c.opts, ticks), c.want)
	}
}

func TestSpec10_AcceptsADeadlockThatIsMeant(t *testing.T) {
	t.Parallel()
	threads := []Thread{once("x", request("a"), request("b")), once("guard", block("b"))}
	v := check(t, CheckOptions{}, threads...)
	equal(t, "trace", trace(v), "a")
	equal(t, "reason", v.Reason, "deadlock: b is blocked by guard")
	accept := func(s Status) bool { return s.Blocked[0].Event.Type == "b" }
	equal(t, "result", check(t, CheckOptions{Accept: accept}, threads...).Result, Holds)
	refuse := func(Status) bool { return false }
	equal(t, "result", check(t, CheckOptions{Accept: refuse}, threads...).Result, Fails)
}

func TestSpec10_FailsWhereAThreadBreaksDown(t *testing.T) {
	t.Parallel()
	lameNext := func() Behavior { return &lame{points: points{all: []Bids{wait("b"), {}}}, next: true} }
	for _, c := range []struct {
		start         func() Behavior
		trace, reason string
	}{
		{lameNext, "b", "thread lame broke down: lame"},
		{func() Behavior { panic("lame") }, "", "thread lame broke down: lame"},
		{once("", Bids{Wait: fall("c")}).Start, "a b", "thread lame breaks down over c: lame"},
		{Straight(func(sync Sync) { sync(wait("c")); panic("lame") }), "a b c", "thread lame broke down: lame"},
	} {
		v := check(t, CheckOptions{Depth: 3}, once("x", request("a", "b"), request("b"), request("c")),
			Thread{Name: "lame", Start: c.start, Scope: Of("none")})
		equal(t, "result", v.Result, Fails)
		equal(t, "trace", trace(v), c.trace)
		equal(t, "reason", v.Reason, c.reason)
	}
}

func TestSpec10_BeginsWhereTheProgramStands(t *testing.T) {
	t.Parallel()
	s := play(t, append(table(3, false, true), once("gone", request("start")))...)
	for _, typ := range []string{"start", "p1-takes-f1", "p0-takes-f0"} {
		if err := s.Select(event(t, typ, ""), false); err != nil {
			t.Fatal(err)
		}
	}
	v, err := s.Check(CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "trace", trace(v), "p2-takes-f2")
}

func TestSpec10_AThreadThatDoesNotDoTheSameAgainIsAnError(t *testing.T) {
	t.Parallel()
	runs := 0
	s := play(t, Thread{Name: "moody", Start: func() Behavior {
		if runs++; runs > 1 {
			return nil
		}
		return &points{all: []Bids{request("a")}}
	}})
	_, err := s.Check(CheckOptions{})
	if err == nil || !strings.Contains(err.Error(), "moody") {
		t.Errorf("check: %v", err)
	}
}

// shortest tries every sequence of selections in the reference, and returns how
// long the shortest is that leads to a deadlock or a thread that broke down.
func shortest(past []happening, depth int) (n int, found bool) {
	r := &reference{past: past}
	broken := slices.ContainsFunc(r.stands(), func(s stand) bool { return s.broken })
	if broken || strings.HasPrefix(r.status(), "deadlock") {
		return 0, true
	}
	all, _ := r.requests()
	for _, x := range all {
		if depth == 0 || len(r.blockers(x)) > 0 {
			continue
		}
		if m, ok := shortest(append(slices.Clip(past), happening{selected: x}), depth-1); ok && (!found || m+1 < n) {
			n, found = m+1, true
			depth = m // only a shorter one is of interest
		}
	}
	return n, found
}

func TestSpec10_AgreesWithTryingEverything(t *testing.T) {
	t.Parallel()
	const depth = 4
	results := map[Result]int{}
	for seed := range uint64(300) {
		m := newMatch(seed)
		n, found := shortest(m.ref.past, depth)
		for _, s := range m.subjects {
			v, err := s.Check(CheckOptions{Depth: depth})
			results[v.Result]++
			if err != nil || (v.Result == Fails) != found || len(v.Trace) != n {
				t.Errorf("seed %d: %+v, %v; want %v after %d", seed, v, err, found, n)
			}
		}
		m.close()
	}
	for _, r := range []Result{Holds, Fails, CutOff} {
		if results[r] < 50 {
			t.Errorf("%q came up only %d times: the programs say little", r, results[r])
		}
	}
}

func BenchmarkCheckFivePhilosophers(b *testing.B) {
	s := play(b, table(5, true, false)...)
	states := 0
	for b.Loop() {
		v, err := s.Check(CheckOptions{Depth: 100})
		if err != nil || v.Result != Holds {
			b.Fatalf("the checker: got %v and %v, want that it holds", v, err)
		}
		states += v.States
	}
	b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
}

package world_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/behavior"
	"lyceum/internal/policy"
	"lyceum/internal/society/world"
)

// The model check: a world that tries whatever there is, in any order, against the threads; and a
// witness that keeps books of its own and knows nothing of how the threads keep theirs.

func fact(typ string, f policy.Facts) behavior.Event { return behavior.Event{Type: typ, Detail: &f} }

// everything is all that can happen to two trees of two attempts.
func everything() (all []behavior.Event) {
	things := []policy.Facts{{Ref: "a", To: "attempt-1"}, {Ref: "b", To: "attempt-1"}, {Ref: "a", To: "attempt-2"}}
	for i, x := range things {
		for _, tier := range []string{"1", "3", "4", "5", ""} {
			all = append(all, fact("analysis.call", policy.Facts{Agent: "maker", Ref: x.Ref, To: x.To, Status: tier}))
		}
		tiers := []string{"1 passed", "2 passed", "3 passed"}
		if i == 0 { // one of them goes through all verdicts
			tiers = append(tiers, "1 failed", "1 waived", "2 waived", "2 unavailable", "3 unavailable", "3 failed")
		}
		for _, status := range tiers {
			all = append(all, fact("tier.judged", policy.Facts{Ref: x.Ref, To: x.To, Status: status}))
		}
		all = append(all, fact("world.call", policy.Facts{Agent: "maker", Ref: x.Ref, To: x.To, Call: 7}))
	}
	for _, call := range []uint64{7, 8} {
		all = append(all, fact("prediction.made", policy.Facts{To: "attempt-1", Call: call}))
	}
	for _, typ := range []string{"analysis.result", "world.observed", "quest.forked"} {
		all = append(all, fact(typ, policy.Facts{}))
	}
	for _, agent := range []string{"maker", "judge-1", "stranger"} {
		for _, tool := range []string{"exec", "start", "write_file", "propose", "give_marks", "server__run", "read_file"} {
			all = append(all, fact("tool.call", policy.Facts{Agent: agent, Tool: tool}))
		}
	}
	return append(all, fact("prompt.call", policy.Facts{Agent: "maker"}))
}

// trying requests all of it, for ever.
type trying struct{ all []behavior.Event }

func (x trying) Bids() behavior.Bids    { return behavior.Bids{Request: x.all} }
func (trying) Next(behavior.Event) bool { return true }
func (trying) Save() string             { return "" }
func (trying) Restore(string) error     { return nil }

// witness watches, and cries out when something ran that had not passed.
type witness struct {
	passed string // "|tree attempt tier|" of each that passed, sorted
	busy   bool
	open   string // the prediction that nothing was tried for
	used   string
	cry    string
}

func (w *witness) Bids() behavior.Bids {
	b := behavior.Bids{Wait: anything{}}
	if w.cry != "" {
		b.Request = []behavior.Event{{Type: "cry"}}
	}
	return b
}

type anything struct{}

func (anything) String() string                      { return "anything" }
func (anything) Match(behavior.Event) behavior.Truth { return behavior.Yes }

func (w *witness) has(f *policy.Facts, tiers ...string) bool {
	for _, t := range tiers {
		if !strings.Contains(w.passed, fmt.Sprintf("|%s %s %s|", f.Ref, f.To, t)) {
			return false
		}
	}
	return true
}

func (w *witness) Next(e behavior.Event) bool {
	f, _ := e.Detail.(*policy.Facts)
	switch e.Type {
	case "tier.judged":
		tier, verdict, _ := strings.Cut(f.Status, " ")
		in := map[string][]string{"1": nil, "2": {"1"}, "3": {"1", "2"}}[tier]
		if (verdict == "passed" || f.Status == "2 waived") && w.has(f, in...) && !w.has(f, tier) {
			all := append(strings.Split(strings.Trim(w.passed, "|"), "|"), fmt.Sprintf("%s %s %s", f.Ref, f.To, tier))
			slices.Sort(all)
			w.passed = "|" + strings.Trim(strings.Join(all, "|"), "|") + "|"
		}
	case "analysis.call":
		needs, known := map[string][]string{"1": {}, "3": {"1", "2"}, "4": {"1", "2", "3"}}[f.Status]
		if !known || !w.has(f, needs...) || w.busy {
			w.cry = "a tier was skipped"
		}
		w.busy = true
	case "world.call":
		if !w.has(f, "1", "2") || w.busy || w.open != fmt.Sprint(f.Call, f.To) {
			w.cry = "something ran that had not passed, or was not predicted"
		}
		w.busy, w.used, w.open = true, w.open, ""
	case "prediction.made":
		w.open, w.used = fmt.Sprint(f.Call, f.To), ""
	case "world.observed", "analysis.result":
		if w.busy = false; e.Type == "world.observed" {
			w.used = ""
		}
	case "quest.forked":
		if w.busy = false; w.used != "" {
			w.open, w.used = w.used, ""
		}
	case "tool.call":
		ok := f.Agent == "maker" && slices.Contains([]string{"write_file", "read_file", "propose"}, f.Tool) || f.Agent == "judge-1" && f.Tool == "give_marks"
		if !ok {
			w.cry = f.Agent + " ran " + f.Tool
		}
	case "prompt.call":
		w.cry = "an outside agent ran"
	}
	return true
}
func (w *witness) Save() string {
	return fmt.Sprintf("%s\n%v\n%s\n%s\n%s", w.passed, w.busy, w.open, w.used, w.cry)
}
func (w *witness) Restore(text string) error {
	p := strings.Split(text, "\n")
	w.passed, w.busy, w.open, w.used, w.cry = p[0], p[1] == "true", p[2], p[3], p[4]
	return nil
}

// checked plays everything against threads. Whatever was done, each of reach must stay possible.
func checked(t *testing.T, threads []behavior.Thread, all []behavior.Event, reach behavior.Matcher) behavior.Verdict {
	t.Helper()
	p := behavior.New(nil)
	threads = append(slices.Clone(threads),
		behavior.Thread{Name: "witness", Priority: 1, Repeat: true, Start: func() behavior.Behavior { return &witness{} }},
		behavior.Thread{Name: "tries", Priority: 2, Repeat: true, Start: func() behavior.Behavior { return trying{all} }})
	for _, th := range threads {
		if err := p.Add(th); err != nil {
			t.Fatal(err)
		}
	}
	v, err := p.Check(behavior.CheckOptions{Never: behavior.Of("cry"), Reach: reach, Depth: 60, States: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wants is one kind of event, by what it says.
type wants struct{ typ, status, tool string }

func (w wants) String() string { return w.typ + " " + w.status + w.tool }
func (w wants) Match(e behavior.Event) behavior.Truth {
	f, _ := e.Detail.(*policy.Facts)
	if e.Type == w.typ && (w.status == "" || f.Status == w.status) && (w.tool == "" || f.Tool == w.tool) {
		return behavior.Yes
	}
	return behavior.No
}

// reaches are what must always stay possible: a thread that blocks everything guards nothing.
var reaches = []behavior.Matcher{wants{"analysis.call", "1", ""}, wants{"analysis.call", "4", ""}, wants{"world.call", "", ""}, wants{"tool.call", "", "propose"}, wants{"tool.call", "", "give_marks"}}

// small is everything that happens to one tree, and to another of the same attempt as far as it
// may be taken for it.
func small(all []behavior.Event) []behavior.Event {
	return slices.DeleteFunc(slices.Clone(all), func(e behavior.Event) bool {
		f := e.Detail.(*policy.Facts)
		other := f.Ref == "b" || f.To == "attempt-2"
		return other && e.Type == "tier.judged"
	})
}

// without leaves events out.
func without(all []behavior.Event, out func(behavior.Event) bool) []behavior.Event {
	return slices.DeleteFunc(slices.Clone(all), out)
}

// courses are what can happen, and what must stay possible then: all of it; where there are no
// judges; where nobody forks; where nothing was judged yet.
func courses() []course {
	all := small(everything())
	return []course{
		{all, reaches},
		{without(all, func(e behavior.Event) bool { return e.Detail.(*policy.Facts).Status == "2 passed" }), reaches},
		{without(all, func(e behavior.Event) bool { return e.Type == "quest.forked" }), reaches},
		{without(all, func(e behavior.Event) bool { return e.Type == "tier.judged" }), reaches[:1]},
	}
}

type course struct {
	events  []behavior.Event
	reaches []behavior.Matcher
}

// bad says what a check of threads finds, empty if nothing.
func bad(t *testing.T, threads []behavior.Thread) string {
	for _, c := range courses() {
		for _, reach := range c.reaches {
			if v := checked(t, threads, c.events, reach); v.Result != behavior.Holds {
				return fmt.Sprintf("%s: %s, after %v (%s)", v.Result, v.Reason, v.Trace, reach)
			}
		}
	}
	return ""
}

// TestNothingRunsThatHasNotPassed is 30, over all states.
func TestNothingRunsThatHasNotPassed(t *testing.T) {
	t.Parallel()
	if why := bad(t, (world.Society{}).Policies()); why != "" {
		t.Fatal(why)
	}
	v := checked(t, (world.Society{}).Policies(), everything(), reaches[2])
	if v.Result != behavior.Holds || v.States < 300 {
		t.Fatalf("two attempts, two trees: %s, %s after %v, %d states", v.Result, v.Reason, v.Trace, v.States)
	}
	t.Logf("%d states, %d deep", v.States, v.Depth)
}

// TestEveryMutantOfTheThreadsIsFound: each altered program is found bad by the same check.
func TestEveryMutantOfTheThreadsIsFound(t *testing.T) {
	t.Parallel()
	mutants := world.Mutants()
	if len(mutants) < 25 {
		t.Fatalf("there are %d mutants, want 25 at least", len(mutants))
	}
	for name, threads := range mutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if bad(t, threads) == "" {
				t.Errorf("%s: nobody found it", name)
			}
		})
	}
}

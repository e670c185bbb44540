package policy_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/policy"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// everything is all policies together, set so that each soon has something to say.
const everything = `
- {use: repetition, warn: 2, park: 3}
- {use: whole-answers, warn: 2, park: 3}
- {use: max-calls, max: 3, tools: [other]}
- {use: same-error, max: 2}
- {use: allowed-tools, role: executor, tools: [lint, run, write]}
- {use: no-touch, paths: [secret]}
- {use: one-at-a-time, domains: [a, b]}
- {use: one-at-a-time, name: shared, domains: [c], shared: true}
- {use: analysis-first, analysis: [lint], execution: [run], passed: ok}
- name: compute-first
  per: agent
  repeat: true
  steps:
    - {wait: {type: tool.result, where: {tool: lint, error: false}}, block: {type: quest.finished}, times: 2}
    - {wait: {type: user.message}}
- name: nag
  repeat: true
  steps:
    - {wait: {type: policy.blocked}, times: 7}
    - {request: {type: message.sent, with: {text: "Read the rules."}}}
`

// twins are a gate and one that is brought back from what was saved of it time and
// again. Whatever happens, both must say the same.
type twins struct {
	t         *testing.T
	seed      uint64
	rnd       *rand.Rand
	all       []event.PolicySpec
	kept, new *policy.Gate
	seq       uint64
	turns     map[string]int64
	open      []*policy.Facts
	refusals  map[string]int
	said      int
	told      []string
}

func (w *twins) fatal(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("seed %d: %s\nafter:\n%s", w.seed, fmt.Sprintf(format, args...), strings.Join(w.told, "\n"))
}

// pick chooses one of some.
func pick[T any](rnd *rand.Rand, list ...T) T { return list[rnd.IntN(len(list))] }

func (w *twins) both(what string, do func(*policy.Gate)) {
	w.told = append(w.told[max(0, len(w.told)-30):], what)
	do(w.kept)
	do(w.new)
}

func (w *twins) tell(t event.Type, f *policy.Facts) {
	w.both(string(t)+f.JSON(), func(g *policy.Gate) { g.Tell(t, f) })
}

// propose puts a proposal to both, and takes it if it passes.
func (w *twins) propose(t event.Type, f *policy.Facts) bool {
	w.t.Helper()
	by := w.kept.Blocked(t, f)
	if other := w.new.Blocked(t, f); !slices.Equal(by, other) {
		w.fatal("they disagree on %s%s: %s", t, f.JSON(), cmp.Diff(by, other))
	}
	for _, b := range by {
		w.refusals[b.Thread]++
	}
	if w.seq++; t == "tool.call" {
		f.Call = w.seq
	}
	w.both(fmt.Sprintf("%s%s, refused by %d", t, f.JSON(), len(by)), func(g *policy.Gate) {
		if err := g.Took(t, f); (err == nil) != (len(by) == 0) {
			w.fatal("take %s%s: %v", t, f.JSON(), err)
		}
	})
	return len(by) == 0
}

// messages has policies say what they want to.
func (w *twins) messages() {
	w.t.Helper()
	for {
		name, to, text, ok := w.kept.Message()
		name2, to2, text2, ok2 := w.new.Message()
		if name != name2 || to != to2 || text != text2 || ok != ok2 {
			w.fatal("one says %q to %s, the other %q to %s", text, to, text2, to2)
		}
		if !ok {
			return
		}
		w.said++
		w.both("sent: "+text, func(g *policy.Gate) {
			if err := g.Sent(name, text); err != nil {
				w.fatal("%v", err)
			}
		})
	}
}

// bringBack replaces one of the twins by what was saved of the other.
func (w *twins) bringBack() {
	w.t.Helper()
	text, err := json.Marshal(w.kept.Save())
	if err != nil {
		w.fatal("%v", err)
	}
	var saved []behavior.Saved
	if err := json.Unmarshal(text, &saved); err != nil {
		w.fatal("%v", err)
	}
	if w.new, err = policy.New(w.all); err != nil {
		w.fatal("%v", err)
	}
	if err := w.new.Restore(saved); err != nil {
		w.fatal("%v", err)
	}
	w.told = append(w.told, "restored")
}

// compare checks that they stand at the same point, and that none broke down.
func (w *twins) compare() {
	w.t.Helper()
	if kept, back := w.kept.Save(), w.new.Save(); !reflect.DeepEqual(kept, back) {
		w.fatal("they stand elsewhere: %s", cmp.Diff(kept, back))
	}
	if broken := w.kept.Broken(); len(broken) > 0 {
		w.fatal("broken: %v", broken)
	}
}

func (w *twins) step() {
	w.t.Helper()
	agent := pick(w.rnd, "agent-0", "agent-1", "executor-0")
	switch n := w.rnd.IntN(100); {
	case n < 25:
		if w.propose("model.call", &policy.Facts{Agent: agent, Turn: w.turns[agent] + 1}) {
			w.turns[agent]++
		}
	case n < 53:
		w.call(agent)
	case n < 57:
		w.tell("model.result", &policy.Facts{
			Agent: agent, Turn: w.turns[agent], Ended: true, Stop: pick(w.rnd, "end", "length"), Calls: w.rnd.Int64N(2),
			Output: &event.Text{Text: pick(w.rnd, "", "Done.")},
		})
	case n < 90 && len(w.open) > 0:
		w.end()
	case n < 92:
		f := &policy.Facts{Agent: agent, Text: "42"}
		if !w.propose("quest.finished", f) {
			w.tell("policy.blocked", &policy.Facts{Agent: agent, Turn: w.turns[agent], Refused: "quest.finished", Output: &event.Text{Text: "42"}})
		}
	case n < 96:
		w.tell("user.message", &policy.Facts{To: pick(w.rnd, agent, agent, ""), Text: "Go on."})
	case n < 97:
		w.tell("advisory.sent", &policy.Facts{To: pick(w.rnd, agent, "")})
		w.tell("quest.resumed", &policy.Facts{})
	case n < 98:
		w.tell("quest.forked", &policy.Facts{})
		w.open = nil
	}
}

func (w *twins) call(agent string) {
	w.t.Helper()
	path := pick(w.rnd, "a/x", "b/x", "c/x", "d", "secret/x")
	args := pick(w.rnd, `{"path":"`+path+`"}`, `{"path":"`+path+`"}`, `{"path":"`+path+`"}`, `{}`, `{}`, pick(w.rnd, `{"path":`, `{}`))
	f := &policy.Facts{Agent: agent, Tool: pick(w.rnd, "lint", "run", "write", "other", ""), Turn: w.turns[agent], Args: &policy.Args{Text: event.Text{Text: args}}}
	if w.propose("tool.call", f) {
		w.open = append(w.open, f)
		return
	}
	w.tell("policy.blocked", &policy.Facts{Agent: agent, Tool: f.Tool, Turn: f.Turn, Refused: "tool.call"})
	answer := *f
	answer.Refused, answer.Ended, answer.Error, answer.Output = "tool.call", true, true, &event.Text{Text: "Refused."}
	w.tell("tool.answered", &answer)
}

func (w *twins) end() {
	i := w.rnd.IntN(len(w.open))
	f := *w.open[i]
	w.open = slices.Delete(w.open, i, i+1)
	f.Ended, f.Error, f.Turn = true, w.rnd.IntN(2) == 0, w.turns[f.Agent]
	f.Output = &event.Text{Text: pick(w.rnd, `{"ok":true}`, `{"ok":true}`, `{"ok":false}`, "error: no")}
	if f.Changed = f.Tool == "write" && w.rnd.IntN(2) == 0; f.Changed {
		w.tell("file.diff", &policy.Facts{Agent: f.Agent, Tool: f.Tool, Args: f.Args, Turn: f.Turn, Call: f.Call})
	}
	w.tell(pick(w.rnd, event.Type("tool.result"), "tool.result", "tool.answered"), &f)
}

func TestAGateThatWasBroughtBackSaysTheSame(t *testing.T) {
	t.Parallel()
	refusals, said := map[string]int{}, 0
	for seed := range uint64(12) {
		w := &twins{t: t, seed: seed, rnd: rand.New(rand.NewPCG(seed, 7)), all: parse(t, everything), turns: map[string]int64{}, refusals: refusals}
		var err error
		if w.kept, err = policy.New(w.all); err != nil {
			t.Fatal(err)
		}
		w.bringBack()
		for n := range 1000 {
			w.step()
			if w.rnd.IntN(20) == 0 {
				w.bringBack() // with something to say
			}
			w.messages()
			if n%10 == 0 {
				w.compare()
			}
			if w.rnd.IntN(20) == 0 {
				w.bringBack()
			}
		}
		said += w.said
	}
	for _, p := range parse(t, everything) {
		if refusals[p.Name] < 5 && p.Name != "budget" && p.Name != "nag" {
			t.Errorf("%s has refused %d proposals: that proves nothing", p.Name, refusals[p.Name])
		}
	}
	if said < 20 {
		t.Errorf("%d messages prove nothing", said)
	}
}

func TestAGateRefusesToStandWhereNoneCanHaveStood(t *testing.T) {
	t.Parallel()
	all := parse(t, everything)
	for name, saved := range map[string][]behavior.Saved{
		"NoJSON":          {{Name: "repetition", State: "{"}},
		"AnUnknownMember": {{Name: "max-calls", State: `{"agent-0":1,"agent-0":2}`}},
		"AnotherForm":     {{Name: "analysis-first", State: `{"agent-0":{"pass":["a"]}}`}},
		"AnUnknownPolicy": {{Name: "stranger"}},
	} {
		g, err := policy.New(all)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Restore(saved); err == nil {
			t.Errorf("%s: it is taken", name)
		} else {
			has(t, name, err.Error(), saved[0].Name)
		}
	}
}

// cost is how much memory it takes to go through some turns of one agent after
// others have been there.
func cost(t *testing.T, agents int, turns func(s *scene, n int)) (bytes, allocs uint64) {
	t.Helper()
	s := play(t, everything)
	for i := range agents {
		name := fmt.Sprintf("other-%d", i)
		s.does(name, "lint", `{"path":"a/x"}`, `{"ok":true}`)
		s.does(name, "write", `{"path":"b/x"}`, "no", failed)
		s.ask(name)
		s.call(name, "run", `{"path":"a/x"}`)
	}
	for n := range 20 { // so that nothing grows any more
		turns(s, n)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for n := range 100 {
		turns(s, n)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs
}

// Not parallel: it measures.
func TestAnEventCostsTheSameWithAThousandAgents(t *testing.T) {
	for name, turns := range map[string]func(*scene, int){
		"SomethingNew": func(s *scene, n int) {
			s.does("agent-0", "lint", `{"path":"b/x"}`, fmt.Sprint(n))
			s.does("agent-0", "write", `{"path":"b/x"}`, fmt.Sprint(n), changed)
		},
		"AgainAndAgain": func(s *scene, _ int) {
			for range 3 {
				s.does("agent-0", "other", `{}`, "1")
				s.warned()
			}
			s.says("agent-0")
		},
		"Refusals": func(s *scene, _ int) {
			s.turnedDown("agent-0", "write", `{"path":"secret"}`)
			s.says("agent-0")
		},
	} {
		t.Run(name, func(t *testing.T) {
			fewBytes, few := cost(t, 3, turns)
			manyBytes, many := cost(t, 1000, turns)
			if many > few+few/4 || manyBytes > fewBytes+fewBytes/4 {
				t.Errorf("%d allocations of %d bytes with 3 agents, %d of %d with 1000", few, fewBytes, many, manyBytes)
			}
		})
	}
}

// lame is a thread that breaks down over what it is asked about.
type lame struct{ bids behavior.Bids }

func (l lame) Bids() behavior.Bids    { return l.bids }
func (lame) Next(behavior.Event) bool { panic("lame") }

// stumbles panics over some events.
type stumbles struct {
	typ  string
	tool string
}

func (stumbles) String() string { return "what it stumbles over" }

func (s stumbles) Match(e behavior.Event) behavior.Truth {
	if e.Type == s.typ && e.Field([]string{"tool"}).Text == s.tool {
		panic("lame")
	}
	return behavior.No
}

func TestAPolicyThatBreaksDownLetsNothingPass(t *testing.T) {
	t.Parallel()
	boom := &policy.Facts{Agent: "agent-0", Tool: "boom"}
	other := &policy.Facts{Agent: "agent-0", Tool: "other"}
	// refusedFirst is how the quest hears of one that breaks down over a proposal.
	refusedFirst := func(t *testing.T, g *policy.Gate) {
		for range 2 { // asking changes nothing
			by := g.Blocked("tool.call", boom)
			if len(by) != 1 || by[0].Thread != "lame" || by[0].Fault != "lame" || !strings.Contains(by[0].Reason, "broke down (lame)") {
				t.Fatalf("it is blocked by %+v", by)
			}
		}
		equal(t, "what it does not stumble over", reasons(g.Blocked("tool.call", other)), "")
		var not *behavior.NotEnabledError
		if err := g.Took("tool.call", boom); !errors.As(err, &not) {
			t.Errorf("take it all the same: %v", err)
		}
		g.Break("lame", "lame")
	}
	for name, c := range map[string]struct {
		bids  behavior.Bids
		start func() behavior.Behavior
		do    func(t *testing.T, g *policy.Gate)
	}{
		"InItsBlock": {bids: behavior.Bids{Block: []behavior.Ban{{Match: stumbles{"tool.call", "boom"}}}}, do: refusedFirst},
		"InItsReason": {bids: behavior.Bids{Block: []behavior.Ban{{
			Match: &behavior.Pattern{Types: []string{"tool.call"}, Where: []behavior.Condition{{Path: []string{"tool"}, In: []behavior.Value{behavior.TextValue("boom")}}}},
			Why:   func(behavior.Event) string { panic("lame") },
		}}}, do: refusedFirst},
		"InItsWait": {bids: behavior.Bids{Wait: stumbles{"tool.call", "boom"}}, do: refusedFirst},
		"InItsWaitForAFact": {bids: behavior.Bids{Wait: stumbles{"tool.result", "boom"}}, do: func(_ *testing.T, g *policy.Gate) {
			g.Tell("tool.result", other)
			g.Tell("tool.result", boom)
		}},
		"InItsBlockOfAFact": {bids: behavior.Bids{Block: []behavior.Ban{{Match: stumbles{"tool.result", "boom"}}}}, do: func(_ *testing.T, g *policy.Gate) { g.Tell("tool.result", boom) }},
		"AfterAFact":        {bids: behavior.Bids{Wait: behavior.Of("tool.result")}, do: func(_ *testing.T, g *policy.Gate) { g.Tell("tool.result", boom) }},
		"AfterAProposal": {bids: behavior.Bids{Wait: behavior.Of("tool.call")}, do: func(t *testing.T, g *policy.Gate) {
			if err := g.Took("tool.call", boom); err != nil {
				t.Error(err)
			}
		}},
		"AtOnce": {start: func() behavior.Behavior { panic("lame") }, do: func(*testing.T, *policy.Gate) {}},
	} {
		for _, scope := range []behavior.Matcher{behavior.Of("tool.call"), nil} {
			t.Run(fmt.Sprintf("%s/%v", name, scope), func(t *testing.T) {
				t.Parallel()
				start := c.start
				if start == nil {
					start = func() behavior.Behavior { return lame{c.bids} }
				}
				make := func() *policy.Gate {
					g, err := policy.New(parse(t, "[]"), behavior.Thread{Name: "lame", Scope: scope, Start: start})
					if err != nil {
						t.Fatal(err)
					}
					return g
				}
				g := make()
				if c.start == nil {
					equal(t, "broken before", len(g.Broken()), 0)
				}
				c.do(t, g)
				back := make()
				if err := back.Restore(g.Save()); err != nil {
					t.Fatal(err)
				}
				for _, g := range []*policy.Gate{g, back} {
					if diff := cmp.Diff([]behavior.Blocker{{Thread: "lame", Reason: "lame"}}, g.Broken()); diff != "" {
						t.Errorf("broken threads differ (-want +got):\n%s", diff)
					}
					for _, f := range []*policy.Facts{boom, other} {
						equal(t, f.Tool, reasons(g.Blocked("tool.call", f)), "lame: the policy lame broke down (lame) and lets nothing pass any more")
					}
					for _, typ := range []event.Type{"model.call", "quest.finished"} {
						equal(t, string(typ), g.Blocked(typ, other) == nil, scope != nil)
					}
				}
			})
		}
	}
}

func TestAGateIsNotMadeOfTwoPoliciesOfOneName(t *testing.T) {
	t.Parallel()
	all := parse(t, "[]")
	if _, err := policy.New(append(all, all[0])); err == nil || !strings.Contains(err.Error(), "budget") {
		t.Errorf("two of one name: %v", err)
	}
	if _, err := policy.New(all, behavior.Thread{Name: "budget", Start: func() behavior.Behavior { return lame{} }}); err == nil {
		t.Error("a society's thread may have the name of a policy")
	}
}

func TestAMessageThatNobodyAskedForWasNotSent(t *testing.T) {
	t.Parallel()
	s := play(t, everything)
	if err := s.Sent("nag", "Read the rules."); err == nil {
		t.Error("it was not asked for yet")
	}
	for range 7 {
		s.Tell("policy.blocked", &policy.Facts{Agent: "agent-0", Refused: "model.call"})
	}
	for _, c := range [][2]string{{"nag", "Obey."}, {"budget", "Read the rules."}} {
		if err := s.Sent(c[0], c[1]); err == nil {
			t.Errorf("%s did not ask for %q", c[0], c[1])
		}
	}
	name, to, text, ok := s.Message()
	equal(t, "the message", fmt.Sprint(name, to, text, ok), fmt.Sprint("nag", "", "Read the rules.", true))
	equal(t, "what is said", s.warned(), ": Read the rules.")
	equal(t, "what is said then", s.warned(), "")
}

func TestACheckTriesChangedFilesWhereAPolicyWaitsForThem(t *testing.T) {
	t.Parallel()
	v, err := policy.Check(parse(t, `
- name: frozen
  steps: [{wait: {type: file.diff, where: {tool: write}}}, {block: {type: model.call}}]`), policy.Everybody(), behavior.CheckOptions{Depth: 6})
	if err != nil {
		t.Fatal(err)
	}
	if v.Result != behavior.Fails || len(v.Trace) != 4 {
		t.Errorf("%s after %d steps: %s", v.Result, len(v.Trace), v.Reason)
	}
}

func TestACheckTriesEveryKindOfResult(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"{changed: true}", "{output.ok: true}", "{error: true}", "{error: false}", "{output.ok: 1}"} {
		v, err := policy.Check(parse(t, `
- name: late
  steps: [{wait: {type: tool.result, where: `+where+`}}, {block: {type: model.call}}]
- name: words
  steps: [{wait: {type: tool.result, where: {changed: true, output.ok: {in: [true, 1]}}}}]`), policy.Everybody(), behavior.CheckOptions{Depth: 6})
		if err != nil {
			t.Fatal(err)
		}
		steps := 3
		if strings.Contains(where, "changed") {
			steps = 4 // the change itself comes before
		}
		if v.Result != behavior.Fails || len(v.Trace) != steps {
			t.Errorf("%s: %s after %d steps: %s", where, v.Result, len(v.Trace), v.Reason)
		}
	}
}

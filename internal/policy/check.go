package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
)

// Check plays every agent that could meet these policies, as deep as the options
// say, and looks for a trap: a point where nothing that it could do, neither a
// turn, nor a tool, nor an answer, would pass, or from which no answer ever would. The tools, paths and results that
// it tries are those the policies name, and one of each that they do not.
//
// The policies that every quest has are left out: they bring an agent to rest that
// has used up its limits or goes round in circles, which is no trap.
func Check(policies []event.PolicySpec, opts behavior.CheckOptions) (behavior.Verdict, error) {
	if _, err := New(policies); err != nil {
		return behavior.Verdict{}, err
	}
	var chosen []event.PolicySpec
	for _, p := range policies {
		if !always(p) {
			chosen = append(chosen, p)
		}
	}
	return check(chosen, opts)
}

// always reports whether a policy is one that every quest has.
func always(p event.PolicySpec) bool {
	return slices.ContainsFunc(builtins, func(b Builtin) bool { return b.Always && b.Use == p.Use })
}

func check(policies []event.PolicySpec, opts behavior.CheckOptions) (behavior.Verdict, error) {
	g, err := New(policies)
	if err != nil {
		return behavior.Verdict{}, err
	}
	w, err := worldOf(policies)
	if err != nil {
		return behavior.Verdict{}, err
	}
	err = g.program.Add(behavior.Thread{
		Name: "an agent", Priority: 1 << 20, Repeat: true,
		Start: func() behavior.Behavior { return &actor{world: w, at: state{Turn: 2}} },
	})
	if err != nil {
		return behavior.Verdict{}, err
	}
	if opts.Reach == nil {
		opts.Reach = behavior.Of("quest.finished")
	}
	v, err := g.program.Check(opts)
	if err != nil {
		return v, fmt.Errorf("check policies: %w", err)
	}
	return v, nil
}

// world is what an agent that is only played can do, and what can come of it: one
// of the results, or, if changes are tried, changed files and then the last of them.
type world struct {
	calls   []*Facts
	results []*Facts
	changes bool
}

// actor is such an agent. It is asked, does one thing, gets a result, and is asked
// again, until it answers.
type actor struct {
	world *world
	at    state
}

// state is what an actor is about to do.
type state struct {
	// Phase is ask, act, get or wrote, which is get once files have changed; Call is
	// which call it waits for in those. Turn is 1 and 2 by turns: all that matters is
	// that it is another one.
	Phase, Call, Turn int
}

const (
	ask = iota
	act
	get
	wrote
)

func (a *actor) Bids() (b behavior.Bids) {
	switch a.at.Phase {
	case ask:
		b.Request = []behavior.Event{{Type: "model.call", Detail: &Facts{Agent: played, Turn: int64(3 - a.at.Turn)}}}
	case act:
		for _, f := range a.world.calls {
			b.Request = append(b.Request, behavior.Event{Type: "tool.call", Detail: f})
		}
		b.Request = append(b.Request, behavior.Event{Type: "quest.finished", Detail: &Facts{Agent: played, Text: "An answer."}})
	case get:
		if a.world.changes {
			b.Request = append(b.Request, behavior.Event{Type: "file.diff", Detail: a.now()})
		}
		for _, r := range a.world.results {
			if !r.Changed {
				b.Request = append(b.Request, a.result(r))
			}
		}
	case wrote:
		b.Request = append(b.Request, a.result(a.world.results[len(a.world.results)-1]))
	}
	return b
}

// now is what is known of the call under way.
func (a *actor) now() *Facts {
	f := *a.world.calls[a.at.Call]
	f.Turn = int64(a.at.Turn)
	return &f
}

func (a *actor) result(r *Facts) behavior.Event {
	f := a.now()
	f.Ended, f.Error, f.Changed, f.Output = true, r.Error, r.Changed, r.Output
	return behavior.Event{Type: "tool.result", Detail: f}
}

// played is the name of an agent that is only played.
const played = "agent-0"

func (a *actor) Next(e behavior.Event) bool {
	switch e.Type {
	case "model.call":
		a.at = state{Phase: act, Turn: 3 - a.at.Turn}
	case "tool.call":
		a.at = state{Phase: get, Turn: a.at.Turn, Call: slices.IndexFunc(a.world.calls, func(f *Facts) bool { return f.JSON() == facts(e).JSON() })}
	case "file.diff":
		a.at.Phase = wrote
	case "tool.result":
		a.at = state{Phase: ask, Turn: a.at.Turn}
	default:
		return false
	}
	return true
}

// Save implements behavior.Saver.
func (a *actor) Save() string { return fmt.Sprintf("%d %d %d", a.at.Phase, a.at.Call, a.at.Turn) }

// Restore implements behavior.Saver.
func (a *actor) Restore(saved string) error {
	_, err := fmt.Sscanf(saved, "%d %d %d", &a.at.Phase, &a.at.Call, &a.at.Turn)
	return err
}

// words collects what policies name. Of the names of tools, kinds are those that can be meant
// for a kind of call of an executor; some can be either.
type words struct {
	tools, kinds, paths map[string]bool
	args, output        map[string]map[string]bool
	changes             bool
}

func newWords() *words {
	return &words{tools: map[string]bool{}, kinds: map[string]bool{}, paths: map[string]bool{}, args: map[string]map[string]bool{}, output: map[string]map[string]bool{}}
}

// worldOf makes a world of what policies name.
func worldOf(policies []event.PolicySpec) (*world, error) {
	w := newWords()
	w.tools["other"] = true
	for _, p := range policies {
		s, err := settingsOf(p)
		if err != nil {
			return nil, err
		}
		w.read(s)
	}
	return w.world()
}

// Named is what a policy calls a tool. It means one that agents have, a kind of call of an
// executor, or either, by the events that the policy looks at.
type Named struct {
	Name       string
	Tool, Kind bool
}

// Tools are the tools and kinds of calls that a policy names, sorted by name.
func Tools(p event.PolicySpec) (out []Named, err error) {
	s, err := settingsOf(p)
	if err != nil {
		return nil, err
	}
	w := newWords()
	w.read(s)
	all := maps.Clone(w.tools)
	maps.Copy(all, w.kinds)
	for _, name := range sorted(all) {
		out = append(out, Named{name, w.tools[name], w.kinds[name]})
	}
	return out, nil
}

func (w *words) read(s settings) {
	switch s := s.(type) {
	case *maxCalls:
		w.tool(s.Tools)
	case *sameError:
		w.tool(s.Tools)
	case *allowedTools:
		w.tool(s.Tools)
	case *noTouch:
		w.tool(s.Tools)
		for _, n := range s.Tools {
			w.kinds[n] = true
		}
		w.path(s.Paths)
	case *oneAtATime:
		w.path(s.Domains)
	case *analysisFirst:
		w.tool(s.Analysis)
		w.tool(s.Execution)
		w.arg(s.Artifact, quoted("artifact"))
		w.changes = true
		if s.Passed != "" {
			note(w.output, s.Passed, "true")
		}
	case *own:
		for _, p := range s.Steps {
			for _, list := range [][]behavior.PatternDef{p.Wait, p.Block, p.Ask, p.Interrupt} {
				for _, pattern := range list {
					w.where(pattern)
					w.changes = w.changes || slices.Contains(pattern.Types, "file.diff")
				}
			}
		}
	}
}

func (w *words) tool(names []string) {
	for _, n := range names {
		w.tools[n] = true
	}
}

func (w *words) path(folders []string) {
	for _, f := range folders {
		w.paths[strings.TrimSuffix(f, "/")+"/file"] = true
	}
}

func (w *words) arg(name, value string) { note(w.args, name, value) }

func note(in map[string]map[string]bool, name, value string) {
	if in[name] == nil {
		in[name] = map[string]bool{}
	}
	in[name][value] = true
}

// where takes the values that the conditions of a pattern compare with.
func (w *words) where(p behavior.PatternDef) {
	ofExecutors := func(t string) bool { return t == "permission.decided" || t == "tool.reported" }
	for _, c := range p.Where {
		field, rest, nested := strings.Cut(c.Path, ".")
		for _, v := range examples(c) {
			switch {
			case field == "tool" && !nested && v.Kind == behavior.Text:
				if slices.ContainsFunc(p.Types, func(t string) bool { return !ofExecutors(t) }) {
					w.tools[v.Text] = true
				}
				if slices.ContainsFunc(p.Types, func(t string) bool { return ofExecutors(t) || t == "*" }) {
					w.kinds[v.Text] = true
				}
			case field == "changed":
				w.changes = true
			case field == "args" && nested && !strings.Contains(rest, "."):
				w.arg(rest, v.String())
			case field == "output" && nested && !strings.Contains(rest, "."):
				note(w.output, rest, v.String())
			}
		}
	}
}

// examples are values that a condition is about.
func examples(c behavior.ConditionDef) (out []behavior.Value) {
	for _, s := range c.In {
		kind := map[string]behavior.Kind{"text": behavior.Text, "number": behavior.Number, "bool": behavior.Bool, "null": behavior.Null}[s.Kind]
		out = append(out, behavior.Value{Kind: kind, Text: s.Text})
	}
	for _, bound := range []string{c.Min, c.Max} {
		if bound != "" {
			out = append(out, behavior.Value{Kind: behavior.Number, Text: bound})
		}
	}
	for _, dir := range c.Prefix {
		out = append(out, behavior.TextValue(strings.TrimSuffix(dir, "/")+"/file"), behavior.TextValue("elsewhere"))
	}
	return out
}

// world combines the words: every tool with no argument and with each value of
// each argument, and every kind of result.
func (w *words) world() (*world, error) {
	if len(w.paths) > 0 {
		w.paths["elsewhere"] = true
	}
	for p := range w.paths {
		w.arg("path", quoted(p))
	}
	out := &world{changes: w.changes}
	for _, tool := range sorted(w.tools) {
		for _, args := range append([]string{"{}"}, objects(w.args)...) {
			f := &Facts{Agent: played, Tool: tool, Args: &Args{Text: event.Text{Text: args}}}
			if !f.Args.Known() {
				return nil, fmt.Errorf("check policies: the arguments %s cannot be read", args)
			}
			out.calls = append(out.calls, f)
		}
	}
	for _, text := range append([]string{"done"}, objects(w.output)...) {
		out.results = append(out.results, &Facts{Output: &event.Text{Text: text}})
	}
	out.results = append(out.results, &Facts{Error: true, Output: &event.Text{Text: "error"}})
	if w.changes {
		out.results = append(out.results, &Facts{Changed: true, Output: &event.Text{Text: "changed"}})
	}
	if len(out.calls)*len(out.results) > maxWorld {
		return nil, fmt.Errorf("check policies: they name %d kinds of calls and %d kinds of results, more than can be tried: check them in smaller groups", len(out.calls), len(out.results))
	}
	return out, nil
}

// maxWorld bounds how many things there are to try.
const maxWorld = 20_000

// objects are JSON objects with one member each.
func objects(members map[string]map[string]bool) (out []string) {
	for _, name := range sorted(members) {
		for _, value := range sorted(members[name]) {
			out = append(out, "{"+quoted(name)+":"+value+"}")
		}
	}
	return out
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `"?"`
	}
	return string(b)
}

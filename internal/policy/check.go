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

// Players are who there is in a quest to meet policies.
type Players struct {
	// Models says that agents are asked by model calls, Executors that some are outside
	// agents which are prompted.
	Models, Executors bool
	// Own are the proposals that the quest's society makes besides.
	Own []event.Type
}

// common are the proposals that quests of all societies make.
var common = []event.Type{"model.call", "tool.call", "quest.finished", "gateway.call", "prompt.call", "permission.decided"}

// Everybody are all players that any quest has.
func Everybody() Players {
	p := Players{Models: true, Executors: true}
	for _, t := range Proposals() {
		if !slices.Contains(common, event.Type(t)) {
			p.Own = append(p.Own, event.Type(t))
		}
	}
	return p
}

// Check plays every agent of these players that could meet the policies, as deep as the options
// say, and looks for a trap: a point where nothing that it could do, neither a
// turn, nor a tool, nor an answer, would pass, or from which no answer ever would; or a
// proposal of a kind that never passes, whatever comes before. Tools alone an agent may be
// without: the answer is left to it. The tools, paths and results that
// it tries are those the policies name, and one of each that they do not.
//
// The policies that every quest has are left out: they bring an agent to rest that
// has used up its limits or goes round in circles, which is no trap.
func Check(policies []event.PolicySpec, who Players, opts behavior.CheckOptions) (behavior.Verdict, error) {
	if _, err := New(policies); err != nil {
		return behavior.Verdict{}, err
	}
	var chosen []event.PolicySpec
	for _, p := range policies {
		if !always(p) {
			chosen = append(chosen, p)
		}
	}
	asked := who.Models || !who.Executors
	var out behavior.Verdict
	if asked {
		v, err := checkAgents(chosen, who.Own, opts)
		if err != nil || v.Result == behavior.Fails {
			return v, err
		}
		out = v
	}
	if !who.Executors {
		return out, nil
	}
	if asked {
		opts.States = further(opts.States)
	} else {
		opts.Once = append(slices.Clone(opts.Once), eachOf(who.Own)...)
	}
	opts.Once = append(slices.Clone(opts.Once), behavior.Of("gateway.call"), behavior.Of("permission.decided"))
	v, err := check(chosen, &actor{prompted: true, own: proposalsOf(who.Own)}, opts)
	return both(out, v), err
}

// checkAgents plays agents that are asked, by themselves and with what their society proposes. What
// that leads out of is no trap.
func checkAgents(policies []event.PolicySpec, own []event.Type, opts behavior.CheckOptions) (behavior.Verdict, error) {
	alone, err := check(policies, &actor{}, opts)
	if err != nil || len(own) == 0 {
		return alone, err
	}
	opts.States = further(opts.States)
	opts.Once = append(slices.Clone(opts.Once), eachOf(own)...)
	with, err := check(policies, &actor{own: proposalsOf(own)}, opts)
	switch {
	case err != nil:
		return with, err
	case alone.Result == behavior.Fails && with.Result == behavior.Fails:
		return alone, nil
	case alone.Result == behavior.Fails:
		return with, nil
	}
	return both(alone, with), nil
}

// further is how many states a second look at the same policies may take: it sees most of what the
// first one saw, and is not to take as long again.
func further(states int) int {
	if states == 0 {
		states = behavior.MaxStates
	}
	return max(1, states/4)
}

// both is the verdict of two looks, of which the first did not fail.
func both(a, b behavior.Verdict) behavior.Verdict {
	if b.Result == behavior.Holds && a.Result == behavior.CutOff {
		b.Result, b.Reason = a.Result, a.Reason
	}
	b.States, b.Depth = b.States+a.States, max(b.Depth, a.Depth)
	return b
}

func eachOf(types []event.Type) (out []behavior.Matcher) {
	for _, t := range types {
		out = append(out, behavior.Of(string(t)))
	}
	return out
}

// always reports whether a policy is one that every quest has.
func always(p event.PolicySpec) bool {
	return slices.ContainsFunc(builtins, func(b Builtin) bool { return b.Always && b.Use == p.Use })
}

// check plays one agent.
func check(policies []event.PolicySpec, who *actor, opts behavior.CheckOptions) (behavior.Verdict, error) {
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
		Start: func() behavior.Behavior {
			return &actor{world: w, own: who.own, prompted: who.prompted, at: state{Turn: 2}}
		},
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
	w.tools["other"], w.kinds["other"] = true, true
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
	for _, x := range []struct {
		names map[string]bool
		to    *[]*Facts
	}{{w.tools, &out.calls}, {w.kinds, &out.deeds}} {
		for _, name := range sorted(x.names) {
			for _, args := range append([]string{"{}"}, objects(w.args)...) {
				f := &Facts{Agent: played, Tool: name, Args: &Args{Text: event.Text{Text: args}}}
				if !f.Args.Known() {
					return nil, fmt.Errorf("check policies: the arguments %s cannot be read", args)
				}
				*x.to = append(*x.to, f)
			}
		}
	}
	for _, text := range append([]string{"done"}, objects(w.output)...) {
		out.results = append(out.results, &Facts{Output: &event.Text{Text: text}})
	}
	out.results = append(out.results, &Facts{Error: true, Output: &event.Text{Text: "error"}})
	if w.changes {
		out.results = append(out.results, &Facts{Changed: true, Output: &event.Text{Text: "changed"}})
	}
	if (len(out.calls)+len(out.deeds))*len(out.results) > maxWorld {
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

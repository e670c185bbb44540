package view

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"

	"lyceum/internal/event"
)

// Diff is two runs side by side. Field names in JSON are only ever added.
type Diff struct {
	A Side `json:"a"`
	B Side `json:"b"`
	// Shared is how many events, from the first on, are the same to the byte: one run
	// is a fork of the other, or both are of a third.
	Shared     uint64     `json:"shared_events"`
	Similarity Similarity `json:"similarity"`
	Spec       TextDiff   `json:"spec"`
	Answer     TextDiff   `json:"answer"`
	Steps      StepsDiff  `json:"steps"`
	Outputs    Outputs    `json:"outputs"`
	Tools      []ToolDiff `json:"tools"`
	Evidence   Evidence   `json:"evidence"`
	Latency    []Latency  `json:"latency"`
}

// Side is one of the two.
type Side struct {
	Name   string   `json:"name"`
	Quest  string   `json:"quest"`
	Rules  string   `json:"rules"`
	Seed   string   `json:"seed"`
	Status string   `json:"status"`
	Models []string `json:"models"`
	Events int      `json:"events"`
	Hash   string   `json:"hash"`
	Turns  int64    `json:"turns"`
	Tools  int64    `json:"tool_calls"`
	Input  int64    `json:"input_tokens"`
	Output int64    `json:"output_tokens"`
	Cost   USD      `json:"cost_usd"`
	// Unpriced counts calls whose cost is unknown.
	Unpriced int64 `json:"unpriced_calls,omitempty"`
}

// Similarity is how alike two runs are: 0.4 by the answer, 0.4 by the steps, 0.2 by
// the tools. A total of exactly one means that they are the same in all three.
type Similarity struct {
	Total  Millionths `json:"total"`
	Answer Millionths `json:"answer"`
	Steps  Millionths `json:"steps"`
	Tools  Millionths `json:"tools"`
}

// TextDiff is two texts.
type TextDiff struct {
	Same bool `json:"same"`
	// A and B say whether there is such a text at all.
	A bool `json:"a"`
	B bool `json:"b"`
	// Unified is the difference as patches are written, empty if they are the same.
	Unified string `json:"unified"`
	lines   []Line
}

// ToolDiff is how often a tool was called.
type ToolDiff struct {
	Tool string `json:"tool"`
	A    int64  `json:"a"`
	B    int64  `json:"b"`
	// Same is how many calls had the same arguments in both.
	Same int64 `json:"same_arguments"`
}

// Outputs compares what came out by hash.
type Outputs struct {
	// Same, OnlyA and OnlyB count the outputs of steps.
	Same  int64 `json:"same"`
	OnlyA int64 `json:"only_a"`
	OnlyB int64 `json:"only_b"`
	// Workspaces are the agents' homes as they are at the end.
	Workspaces []Workspace `json:"workspaces"`
}

// Workspace is an agent's home in both runs: the hashes of its tree, empty if it was
// never written to.
type Workspace struct {
	Agent string `json:"agent"`
	A     string `json:"a"`
	B     string `json:"b"`
	Same  bool   `json:"same"`
}

// Evidence compares what the runs show for what they claim.
type Evidence struct {
	Anchors   Overlap `json:"anchors"`
	Documents Overlap `json:"documents"`
	// Only are the anchors that one of them has, sorted, at most MaxAnchors each.
	OnlyA []Anchor `json:"anchors_only_a"`
	OnlyB []Anchor `json:"anchors_only_b"`
}

// MaxAnchors is how many are listed.
const MaxAnchors = 100

// Overlap counts what is in both, and in one only.
type Overlap struct {
	Same  int64 `json:"same"`
	OnlyA int64 `json:"only_a"`
	OnlyB int64 `json:"only_b"`
}

// Latency is how long the things of a kind took, in microseconds.
type Latency struct {
	Kind string `json:"kind"`
	A    Lasted `json:"a"`
	B    Lasted `json:"b"`
}

// Lasted sums durations up. The median of an even number is the lower of the two.
type Lasted struct {
	Count  int64 `json:"count"`
	Sum    int64 `json:"sum"`
	Median int64 `json:"median"`
}

// Compare sets two runs side by side. Compare(b, a) gives the same figures with the
// sides exchanged.
func Compare(a, b *Run) *Diff {
	d := &Diff{
		A: side(a), B: side(b), Shared: shared(a.Hashes, b.Hashes),
		Spec: textDiff(a.Spec, b.Spec, true, true), Answer: textDiff(a.Answer, b.Answer, a.Answered, b.Answered),
		Outputs: outputs(a, b), Evidence: evidence(a.Evidence, b.Evidence), Latency: latency(a, b),
	}
	// Of several ways to align, which one is taken may depend on which side is first.
	// So that it does not depend on the order of the arguments, that is decided by
	// what the runs hold.
	first, second, turned := a, b, after(a, b)
	if turned {
		first, second = b, a
	}
	places := alignSteps(first.Steps, second.Steps)
	if turned {
		for i, p := range places {
			places[i].a, places[i].b = p.b, p.a
		}
	}
	d.Steps = stepsDiff(arrange(a.Steps, b.Steps, places))
	var tools int64
	d.Tools, tools = toolsDiff(a.Steps, b.Steps)
	s := &d.Similarity
	s.Answer, s.Tools = Millionths(answers(first, second)), Millionths(tools)
	s.Steps = Whole
	if n := int64(len(a.Steps) + len(b.Steps)); n > 0 {
		s.Steps = Millionths(2 * d.Steps.sum / n) // the sum is of millionths
	}
	s.Total = (4*s.Answer + 4*s.Steps + 2*s.Tools) / 10
	return d
}

func side(r *Run) Side {
	s := Side{
		Name: r.Name, Quest: r.Quest, Rules: r.Rules, Seed: r.Seed, Status: r.Status, Models: r.Models, Events: len(r.Hashes),
		Turns: r.Cost.Turns, Tools: r.Cost.Tools, Input: r.Cost.Input, Output: r.Cost.Output, Cost: USD(r.Cost.Nanodollars), Unpriced: r.Cost.Unpriced,
	}
	if n := len(r.Hashes); n > 0 {
		s.Hash = r.Hashes[n-1].String()
	}
	return s
}

// shared counts the events that two ledgers begin with. A hash stands for all before
// it, so the last equal one is found by halving.
func shared(a, b []event.Hash) uint64 {
	return uint64(sort.Search(min(len(a), len(b)), func(i int) bool { return a[i] != b[i] }))
}

// after reports whether a comes after b in an order that depends on their content
// alone.
func after(a, b *Run) bool {
	if c := strings.Compare(a.Answer, b.Answer); c != 0 {
		return c > 0
	}
	return slices.CompareFunc(a.Steps, b.Steps, func(x, y Step) int {
		return cmp.Or(
			strings.Compare(x.Actor, y.Actor), strings.Compare(x.Kind, y.Kind), strings.Compare(x.Tool, y.Tool),
			bytes.Compare(x.Args[:], y.Args[:]), bytes.Compare(x.Output[:], y.Output[:]),
		)
	}) > 0
}

func answers(a, b *Run) int64 {
	if a.Answered != b.Answered {
		return 0
	}
	return likeness(a.Answer, b.Answer)
}

func textDiff(a, b string, hasA, hasB bool) TextDiff {
	d := TextDiff{Same: a == b && hasA == hasB, A: hasA, B: hasB}
	d.lines = diffLines(a, b)
	d.Unified = unified(d.lines)
	return d
}

// toolsDiff compares the calls of tools by name and arguments, whoever made them, and
// says how alike they are: half by how often each was called, half by what for.
func toolsDiff(a, b []Step) ([]ToolDiff, int64) {
	type use struct {
		tool string
		args event.Hash
	}
	count := func(steps []Step) (map[string]int64, map[use]int64, int64) {
		names, uses, n := map[string]int64{}, map[use]int64{}, int64(0)
		for _, s := range steps {
			if s.Tool != "" {
				names[s.Tool]++
				uses[use{s.Tool, s.Args}]++
				n++
			}
		}
		return names, uses, n
	}
	left, leftUses, n := count(a)
	right, rightUses, m := count(b)
	same := map[string]int64{}
	for u, k := range leftUses {
		same[u.tool] += min(k, rightUses[u])
	}
	var byName, byUse int64
	out := []ToolDiff{}
	for _, name := range union(left, right) {
		out = append(out, ToolDiff{Tool: name, A: left[name], B: right[name], Same: same[name]})
		byName += min(left[name], right[name])
		byUse += same[name]
	}
	return out, share(byName+byUse, n+m)
}

// union is the keys of two maps, sorted.
func union[V, W any](a map[string]V, b map[string]W) []string {
	all := slices.Collect(maps.Keys(a))
	all = slices.AppendSeq(all, maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

func outputs(a, b *Run) Outputs {
	count := func(steps []Step) map[event.Hash]int64 {
		out := map[event.Hash]int64{}
		for _, s := range steps {
			if !s.Output.IsZero() {
				out[s.Output]++
			}
		}
		return out
	}
	x := overlap(count(a.Steps), count(b.Steps))
	o := Outputs{Same: x.Same, OnlyA: x.OnlyA, OnlyB: x.OnlyB, Workspaces: []Workspace{}}
	for _, name := range union(a.Workspaces, b.Workspaces) {
		w := Workspace{Agent: name, Same: a.Workspaces[name] == b.Workspaces[name]}
		if h, ok := a.Workspaces[name]; ok {
			w.A = h.String()
		}
		if h, ok := b.Workspaces[name]; ok {
			w.B = h.String()
		}
		o.Workspaces = append(o.Workspaces, w)
	}
	return o
}

func overlap[K comparable](a, b map[K]int64) (o Overlap) {
	for k, n := range a {
		both := min(n, b[k])
		o.Same += both
		o.OnlyA += n - both
	}
	for k, n := range b {
		o.OnlyB += n - min(n, a[k])
	}
	return o
}

func evidence(a, b []Anchor) Evidence {
	set := func(all []Anchor) (map[Anchor]int64, map[string]int64) {
		anchors, documents := map[Anchor]int64{}, map[string]int64{}
		for _, x := range all {
			anchors[x], documents[x.Document] = 1, 1
		}
		return anchors, documents
	}
	left, leftDocs := set(a)
	right, rightDocs := set(b)
	return Evidence{
		Anchors: overlap(left, right), Documents: overlap(leftDocs, rightDocs), OnlyA: lacking(left, right), OnlyB: lacking(right, left),
	}
}

// lacking are the anchors of one that the other has not.
func lacking(has, not map[Anchor]int64) []Anchor {
	out := []Anchor{}
	for x := range has {
		if not[x] == 0 {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b Anchor) int {
		return cmp.Or(strings.Compare(a.Document, b.Document), strings.Compare(a.Place, b.Place), bytes.Compare(a.Hash[:], b.Hash[:]))
	})
	return out[:min(len(out), MaxAnchors)]
}

func latency(a, b *Run) []Latency {
	out := []Latency{}
	for _, kind := range union(a.Durations, b.Durations) {
		out = append(out, Latency{kind, lasted(a.Durations[kind]), lasted(b.Durations[kind])})
	}
	return out
}

func lasted(all []int64) (l Lasted) {
	if l.Count = int64(len(all)); l.Count == 0 {
		return l
	}
	sorted := slices.Sorted(slices.Values(all))
	for _, d := range sorted {
		l.Sum += d
	}
	l.Median = sorted[(len(sorted)-1)/2]
	return l
}

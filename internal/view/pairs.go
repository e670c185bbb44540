package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Pair is a step of one run and the one that answers to it in the other; nil, where
// there is none.
type Pair struct {
	Mark string `json:"mark"`
	// Score is how alike they are; Differs says in what they are not: order,
	// agent, tool, arguments, output.
	Score   Millionths `json:"similarity"`
	Differs []string   `json:"differs"`
	A       *Step      `json:"a"`
	B       *Step      `json:"b"`
}

// The marks of pairs.
const (
	Same    = "same"
	Changed = "changed"
	OnlyA   = "only a"
	OnlyB   = "only b"
)

// StepsDiff is the steps of both, aligned.
type StepsDiff struct {
	Same    int64  `json:"same"`
	Changed int64  `json:"changed"`
	OnlyA   int64  `json:"only_a"`
	OnlyB   int64  `json:"only_b"`
	Pairs   []Pair `json:"pairs"`
	sum     int64
}

func stepsDiff(pairs []Pair) StepsDiff {
	d := StepsDiff{Pairs: pairs}
	if pairs == nil {
		d.Pairs = []Pair{}
	}
	for _, p := range pairs {
		d.sum += int64(p.Score)
		switch p.Mark {
		case Same:
			d.Same++
		case Changed:
			d.Changed++
		case OnlyA:
			d.OnlyA++
		default:
			d.OnlyB++
		}
	}
	return d
}

// features are a step as numbers, equal where the step's are; -1 is nothing.
type features struct{ kind, tool, args, output int32 }

// What the parts of a step weigh. A part that neither step has does not count, so two
// steps that have nothing but their kind, and that in common, are the same.
const (
	weighKind   = 2
	weighTool   = 2
	weighArgs   = 3
	weighOutput = 3
	// later is what remains of the likeness of equal steps that do not come in the same
	// order, elsewhere of those of different agents.
	later     = 900_000
	elsewhere = 800_000
)

// alike is how alike two steps are, in millionths: nothing, unless they are of one
// kind.
func (f features) alike(g features) int64 {
	if f.kind != g.kind {
		return 0
	}
	var has, of int64 = weighKind, weighKind
	for _, p := range [...]struct {
		a, b   int32
		weight int64
	}{{f.tool, g.tool, weighTool}, {f.args, g.args, weighArgs}, {f.output, g.output, weighOutput}} {
		if p.a < 0 && p.b < 0 {
			continue
		}
		of += p.weight
		if p.a == p.b {
			has += p.weight
		}
	}
	return has * Whole / of
}

// interning numbers what steps are made of.
type interning struct {
	words  map[string]int32
	hashes map[event.Hash]int32
	whole  map[features]int32
}

func (x *interning) step(s *Step) features {
	word := func(w string) int32 {
		if w == "" {
			return -1
		}
		return number(x.words, w)
	}
	hash := func(h event.Hash) int32 {
		if h.IsZero() {
			return -1
		}
		return number(x.hashes, h)
	}
	return features{word(s.Kind), word(s.Tool), hash(s.Args), hash(s.Output)}
}

func number[K comparable](m map[K]int32, k K) int32 {
	n, ok := m[k]
	if !ok {
		n = int32(len(m))
		m[k] = n
	}
	return n
}

// lane is what one agent did, or what was done about one paper: which steps, and what
// they are.
type lane struct {
	at   []int
	is   []features
	keys []int32
}

func (x *interning) lanes(steps []Step) map[string]*lane {
	out := map[string]*lane{}
	for i := range steps {
		l := out[steps[i].lane]
		if l == nil {
			l = &lane{}
			out[steps[i].lane] = l
		}
		f := x.step(&steps[i])
		l.at, l.is, l.keys = append(l.at, i), append(l.is, f), append(l.keys, number(x.whole, f))
	}
	return out
}

// placed is a pair by the places of its steps, -1 for none.
type placed struct {
	a, b  int
	score int64
}

// alignSteps pairs the steps of two runs by what they mean. Each agent's steps are
// aligned with its own: in which order different agents come is chance. What then is
// left alone is paired with the same thing done later, or by another agent.
func alignSteps(a, b []Step) []placed {
	x := &interning{words: map[string]int32{}, hashes: map[event.Hash]int32{}, whole: map[features]int32{}}
	left, right := x.lanes(a), x.lanes(b)
	var all []placed
	for _, name := range union(left, right) {
		l, r := left[name], right[name]
		if l == nil {
			l = &lane{}
		}
		if r == nil {
			r = &lane{}
		}
		all = append(all, alignLane(l, r)...)
	}
	return reunite(a, b, x, all)
}

// arrange lists pairs in the order of a, each step of b alone before the next pair of
// its lane.
func arrange(a, b []Step, all []placed) []Pair {
	of := make([]placed, len(b)) // by place in b
	last := map[string]int{}
	for _, p := range all {
		if p.b >= 0 {
			of[p.b] = p
		}
		if p.a >= 0 {
			last[a[p.a].lane] = max(last[a[p.a].lane], p.a)
		}
	}
	type spot struct{ at, side int }
	spots := make([]spot, len(b))
	next := map[string]spot{}
	for j := len(b) - 1; j >= 0; j-- {
		lane := b[j].lane
		if p := of[j]; p.a >= 0 && p.score != elsewhere && p.score != later {
			next[lane] = spot{p.a, -1}
		} else if _, ok := next[lane]; !ok {
			next[lane] = spot{last[lane], 1}
		}
		spots[j] = next[lane]
	}
	where := func(p placed) spot {
		if p.a >= 0 {
			return spot{p.a, 0}
		}
		return spots[p.b]
	}
	slices.SortFunc(all, func(p, q placed) int {
		x, y := where(p), where(q)
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.side, y.side), cmp.Compare(p.b, q.b))
	})
	out := make([]Pair, 0, len(all))
	for _, p := range all {
		out = append(out, pair(a, b, p))
	}
	return out
}

func alignLane(l, r *lane) (out []placed) {
	i, j := 0, 0
	upTo := func(n, m int) {
		for ; i < n; i++ {
			out = append(out, placed{a: l.at[i], b: -1})
		}
		for ; j < m; j++ {
			out = append(out, placed{a: -1, b: r.at[j]})
		}
	}
	score := func(i, j int) int64 { return l.is[i].alike(r.is[j]) }
	for _, m := range align(l.keys, r.keys, score) {
		upTo(m.a, m.b)
		out = append(out, placed{a: l.at[i], b: r.at[j], score: score(i, j)})
		i, j = i+1, j+1
	}
	upTo(len(l.at), len(r.at))
	return out
}

// reunite pairs steps that are alone on both sides and say the same: first those of
// one agent in another order, then those of different agents. What has nothing but its
// kind says too little for that.
func reunite(a, b []Step, x *interning, all []placed) []placed {
	for _, score := range []int64{later, elsewhere} {
		type said struct {
			lane string
			is   features
		}
		of := func(s *Step) said {
			if score == elsewhere {
				return said{"", x.step(s)}
			}
			return said{s.lane, x.step(s)}
		}
		waiting := map[said][]int{} // places in all of steps of b
		for k, p := range all {
			if p.a < 0 {
				waiting[of(&b[p.b])] = append(waiting[of(&b[p.b])], k)
			}
		}
		gone := map[int]bool{}
		for k := range all {
			p := &all[k]
			if p.a < 0 || p.b >= 0 {
				continue
			}
			s := of(&a[p.a])
			if list := waiting[s]; len(list) > 0 && (s.is.args >= 0 || s.is.output >= 0) {
				gone[list[0]], waiting[s] = true, list[1:]
				p.b, p.score = all[list[0]].b, score
			}
		}
		kept := all[:0:0]
		for k, p := range all {
			if !gone[k] {
				kept = append(kept, p)
			}
		}
		all = kept
	}
	return all
}

func pair(a, b []Step, p placed) Pair {
	out := Pair{Mark: Changed, Score: Millionths(p.score), Differs: []string{}}
	if p.a >= 0 {
		out.A = &a[p.a]
	}
	if p.b >= 0 {
		out.B = &b[p.b]
	}
	switch {
	case out.B == nil:
		out.Mark = OnlyA
		return out
	case out.A == nil:
		out.Mark = OnlyB
		return out
	case p.score == Whole:
		out.Mark = Same
	}
	for _, d := range []struct {
		what  string
		other bool
	}{
		{"order", p.score == later}, {"agent", out.A.lane != out.B.lane}, {"tool", out.A.Tool != out.B.Tool},
		{"arguments", out.A.Args != out.B.Args}, {"output", out.A.Output != out.B.Output},
	} {
		if d.other {
			out.Differs = append(out.Differs, d.what)
		}
	}
	return out
}

// Millionths is a figure from 0 to 1, written with six digits.
type Millionths int64

func (m Millionths) String() string {
	return fmt.Sprintf("%d.%06d", int64(m)/Whole, int64(m)%Whole)
}

// MarshalJSON writes a number.
func (m Millionths) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// USD is an amount in nanodollars, written as a decimal number in a string.
type USD int64

func (u USD) String() string { return quest.USD(u).String() }

// MarshalJSON writes a string: a double would not hold it exactly.
func (u USD) MarshalJSON() ([]byte, error) { return strconv.AppendQuote(nil, u.String()), nil }

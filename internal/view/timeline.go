package view

import (
	"math"
	"slices"
	"strings"

	"lyceum/internal/event"
)

// Timeline is an index over a quest's ledger: of each event what it is filtered by,
// and nothing else, so that a million of them fit into a few megabytes. It grows event
// by event; made again from the first event on it is the same.
type Timeline struct {
	rows   []row
	types  lexicon
	actors lexicon
	tools  lexicon
	// things are what events are about, as the society names it.
	things lexicon
	times  []event.Time
	// parents are the seqs of the causes; those of a ledger fit.
	parents []uint32
	// ends are, for each call, the seq of the event that ended it, and ended how many have one. They
	// follow from the rest.
	ends  []uint32
	ended int
}

// row is one event: the places of its type, actor, tool and thing among the words, whether it says
// that something went wrong or was turned down, and whether it is of interest.
type row struct {
	kind, actor, tool, thing uint16
	failed, matters          bool
}

// lexicon numbers texts in the order in which they first come.
type lexicon struct {
	list   []string
	number map[string]uint16
	counts []int64
}

// maxWords is how many different actors or tools are told apart; those beyond share the
// last number. No real quest has them, a forged one might.
const maxWords = 1 << 15

func (w *lexicon) of(s string) uint16 {
	n, ok := w.number[s]
	if !ok {
		if len(w.list) >= maxWords {
			n = maxWords - 1
		} else {
			if w.number == nil {
				w.number = map[string]uint16{}
			}
			n = uint16(len(w.list))
			w.list, w.counts = append(w.list, s), append(w.counts, 0)
			w.number[s] = n
		}
	}
	w.counts[n]++
	return n
}

// Count is how often a word occurs.
type Count struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

func (w *lexicon) sorted() []Count {
	out := []Count{}
	for i, s := range w.list {
		if s != "" {
			out = append(out, Count{s, w.counts[i]})
		}
	}
	slices.SortFunc(out, func(a, b Count) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Take adds the next event of the ledger.
func (t *Timeline) Take(e event.Event) {
	why := InterestOf(e)
	t.rows = append(t.rows, row{t.types.of(string(e.Type)), t.actors.of(e.Actor), t.tools.of(e.Tool), t.things.of(why.Of), failed(e), why.What != ""})
	t.times = append(t.times, e.Time)
	t.parents = append(t.parents, uint32(min(e.Parent, math.MaxUint32)))
	t.link(len(t.rows) - 1)
}

// Len is how many events there are.
func (t *Timeline) Len() uint64 { return uint64(len(t.rows)) }

// Effects are the events that an event is the cause of, at most max of them.
func (t *Timeline) Effects(seq uint64, max int) (out []uint64) {
	for i := seq; i < uint64(len(t.parents)) && len(out) < max; i++ {
		if uint64(t.parents[i]) == seq {
			out = append(out, i+1)
		}
	}
	return out
}

// Interesting are the last events of interest before an event, the newest first, and how many there
// are in all. before is 0 for the end of the ledger.
func (t *Timeline) Interesting(before uint64, max int) (seqs []uint64, all int) {
	for i := len(t.rows) - 1; i >= 0; i-- {
		if !t.rows[i].matters {
			continue
		}
		if all++; len(seqs) < max && (before == 0 || uint64(i)+1 < before) {
			seqs = append(seqs, uint64(i)+1)
		}
	}
	return seqs, all
}

// Time is when an event was, which must be there.
func (t *Timeline) Time(seq uint64) event.Time { return t.times[seq-1] }

// Types, Actors and Tools are what occurs, sorted by name.
func (t *Timeline) Types() []Count  { return t.types.sorted() }
func (t *Timeline) Actors() []Count { return t.actors.sorted() }
func (t *Timeline) Tools() []Count  { return t.tools.sorted() }

// Filter says which events are wanted. An empty list wants all.
type Filter struct {
	// Types may end with a point: then all are meant that begin so.
	Types, Actors, Tools []string
}

// Empty reports whether all events are wanted.
func (f Filter) Empty() bool { return len(f.Types)+len(f.Actors)+len(f.Tools) == 0 }

// Match reports whether an event is wanted.
func (f Filter) Match(kind event.Type, actor, tool string) bool {
	return (len(f.Types) == 0 || slices.ContainsFunc(f.Types, func(t string) bool { return isType(string(kind), t) })) &&
		(len(f.Actors) == 0 || slices.Contains(f.Actors, actor)) &&
		(len(f.Tools) == 0 || slices.Contains(f.Tools, tool))
}

func isType(kind, want string) bool {
	return kind == want || strings.HasSuffix(want, ".") && strings.HasPrefix(kind, want)
}

// pick marks the numbers of the words that are wanted, nil for all.
func (w *lexicon) pick(want []string, is func(have, want string) bool) []bool {
	if len(want) == 0 {
		return nil
	}
	out := make([]bool, len(w.list))
	for i, have := range w.list {
		out[i] = slices.ContainsFunc(want, func(s string) bool { return is(have, s) })
	}
	return out
}

// Each calls yield with the seq of each event that is wanted, in order, until it
// returns false.
func (t *Timeline) Each(f Filter, yield func(seq uint64) bool) {
	same := func(a, b string) bool { return a == b }
	types, actors, tools := t.types.pick(f.Types, isType), t.actors.pick(f.Actors, same), t.tools.pick(f.Tools, same)
	for i, r := range t.rows {
		if (types == nil || types[r.kind]) && (actors == nil || actors[r.actor]) && (tools == nil || tools[r.tool]) {
			if !yield(uint64(i) + 1) {
				return
			}
		}
	}
}

// Bucket is a stretch of the ledger.
type Bucket struct {
	First    uint64     `json:"first"`
	Last     uint64     `json:"last"`
	Start    event.Time `json:"start"`
	End      event.Time `json:"end"`
	Matching int64      `json:"matching"`
}

// Buckets cuts the ledger into at most n stretches of as many events each, and counts
// in each of them those of the seqs given, which are sorted.
func (t *Timeline) Buckets(n int, seqs []uint64) []Bucket {
	out := []Bucket{}
	all := len(t.rows)
	n = min(n, all)
	at := 0
	for i := range n {
		first, end := i*all/n, (i+1)*all/n
		b := Bucket{First: uint64(first) + 1, Last: uint64(end), Start: t.times[first], End: t.times[end-1]}
		for ; at < len(seqs) && seqs[at] <= b.Last; at++ {
			b.Matching++
		}
		out = append(out, b)
	}
	return out
}

// Package answers finds answers that models gave before.
//
// It keeps no answer: an entry says where one stands in a ledger, and what was asked. Whoever
// finds an entry reads the ledger, and takes the answer only if the event is there with the
// entry's hash. So an answer goes with its quest, and nothing is lost with this file but
// the cost of asking again.
//
// A question is the same as another by its rendering, or near it: the same words in the same
// order, apart from those that say nothing, and vectors that point the same way. A wrong
// answer costs more than a model that is asked again, so what is in doubt is no match.
package answers

import (
	"cmp"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/search"
)

// The bounds of what is kept.
const (
	// Most is how many entries there are.
	Most = 1000
	// Limit is how old an answer can be that is still taken, in microseconds: one of this age
	// is not.
	Limit = 24 * 3600 * 1_000_000
	// Near is the least cosine of two questions that are near each other, in billionths.
	Near = 950_000_000
	// MaxAsked is how long a question can be, in bytes, that others are compared with.
	MaxAsked = 8 << 10
)

// Question is what a model is asked.
type Question struct {
	// Exact is the hash of everything that the answer depends on.
	Exact event.Hash
	// Setting is that of everything but the question: model, system prompt, tools, settings. It
	// is zero where only the same rendering will do.
	Setting event.Hash
	// Asked is the question itself, and Direction the vector of its words that count, by
	// Embedder, if it has one.
	Asked     string
	Direction []byte
	Embedder  string
}

// Entry is an answer that was given: the model.result Seq of Quest, which has this hash.
type Entry struct {
	Question
	Quest string
	Seq   uint64
	Hash  event.Hash
	Time  event.Time
}

// Match is an entry that fits a question. Cosine is 0 if both have the same rendering.
type Match struct {
	Entry
	Cosine int64
}

// Fresh reports whether an answer of then can still be taken now.
func Fresh(then, now event.Time) bool { return now >= then && now-then < Limit }

// Nearness is how like each other two questions are, in billionths; 0 if one's answer does not
// answer the other: one of them has another number, negation, name or word that counts, or their
// vectors point elsewhere.
func Nearness(a, b *Question) int64 {
	if a.Embedder == "" || a.Embedder != b.Embedder || !Alike(a.Asked, b.Asked) {
		return 0
	}
	if c := search.Cosine(a.Direction, b.Direction); c >= Near {
		return c
	}
	return 0
}

// matches are the entries that fit a question, the best first: those of the same rendering, then
// the nearest; of equal ones the youngest.
func matches(q *Question, all []Entry, now event.Time) (out []Match) {
	for _, e := range all {
		m := Match{Entry: e}
		switch {
		case !Fresh(e.Time, now):
			continue
		case e.Exact == q.Exact:
		case q.Setting == (event.Hash{}) || e.Setting != q.Setting:
			continue
		default:
			if m.Cosine = Nearness(q, &e.Question); m.Cosine == 0 {
				continue
			}
		}
		out = append(out, m)
	}
	exact := func(m *Match) int64 {
		if m.Cosine == 0 {
			return search.Unit + 1
		}
		return m.Cosine
	}
	slices.SortFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(exact(&b), exact(&a)), cmp.Compare(b.Time, a.Time), cmp.Compare(a.Quest, b.Quest), cmp.Compare(a.Seq, b.Seq))
	})
	return out
}

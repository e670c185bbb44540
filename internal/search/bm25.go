package search

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
)

// The constants of BM25, as in rank-bm25's Okapi.
const (
	k1      = 1.5
	b       = 0.75
	epsilon = 0.25
)

// statistics are what BM25 knows of a corpus as a whole.
type statistics struct {
	paragraphs int
	norms      []float64 // k1 (1 - b + b length/mean length), by paragraph
	floor      float64   // instead of a negative idf
	pool       sync.Pool // of *accumulator
}

// newStatistics takes the length of each paragraph in tokens, and for each number of
// paragraphs how many terms stand in so many. Summing over those numbers, and not over
// terms, gives the mean idf an order that does not depend on how terms were found.
func newStatistics(lengths []uint32, frequencies []uint32) *statistics {
	s := &statistics{paragraphs: len(lengths), norms: make([]float64, len(lengths))}
	var total uint64
	for _, l := range lengths {
		total += uint64(l)
	}
	mean := float64(total) / float64(max(len(lengths), 1))
	for i, l := range lengths {
		share := 0.0
		if mean > 0 {
			share = float64(l) / mean
		}
		s.norms[i] = float64(k1 * ((1 - b) + float64(b*share)))
	}
	sum, terms := 0.0, 0.0
	for n, count := range frequencies {
		if count > 0 {
			sum += float64(float64(count) * s.okapi(n))
			terms += float64(count)
		}
	}
	s.floor = float64(epsilon * (sum / max(terms, 1)))
	return s
}

// okapi is the idf of a term in n paragraphs. It is negative for one in more than half.
func (s *statistics) okapi(n int) float64 {
	return ln(float64(s.paragraphs-n)+0.5) - ln(float64(n)+0.5)
}

func (s *statistics) idf(n int) float64 {
	if v := s.okapi(n); v >= 0 {
		return v
	}
	return s.floor
}

// weight is how much a term tells, for the share of a query that a paragraph covers.
// Unlike the idf it is always positive, also in a corpus of two paragraphs.
func (s *statistics) weight(n int) float64 {
	return ln(1 + (float64(s.paragraphs-n)+0.5)/(float64(n)+0.5))
}

// asked is a term of a query.
type asked struct {
	token string
	times int // in the query
	// df is in how many paragraphs it stands; each is in one of the lists.
	df    int
	lists []postings
}

// postings say which paragraphs a term stands in, ascending, and how often: the same in
// all of them if tfs is nil.
type postings struct {
	ords []uint32
	tfs  []uint16
	tf   uint16
}

func (t *asked) in(ord uint32) bool {
	return slices.ContainsFunc(t.lists, func(p postings) bool {
		_, ok := slices.BinarySearch(p.ords, ord)
		return ok
	})
}

// maxTimes is how often a term counts in a paragraph.
const maxTimes = math.MaxUint16

// parse returns the terms of a query in the order in which they come first.
func parse(query string) []asked {
	if len(query) > maxQuery {
		query = query[:boundary(query, maxQuery)]
	}
	var list []asked
	seen := map[string]int{}
	var s scanner
	s.scan(query, func(token []byte, _, _ int) {
		i, ok := seen[string(token)]
		if !ok {
			i = len(list)
			list = append(list, asked{token: string(token)})
			seen[list[i].token] = i
		}
		list[i].times++
	})
	return list
}

// ranked is a paragraph and what it is worth.
type ranked struct {
	ord              uint32
	score, relevance int64
}

// accumulator sums up scores by paragraph. A cell that does not bear the present
// epoch is empty, so that nothing has to be wiped between queries.
type accumulator struct {
	cells   []cell
	epoch   uint32
	touched []uint32
}

type cell struct {
	score float64
	epoch uint32
}

func (s *statistics) accumulator() *accumulator {
	a, _ := s.pool.Get().(*accumulator)
	if a == nil || a.epoch == math.MaxUint32 {
		a = &accumulator{cells: make([]cell, s.paragraphs)}
	}
	a.epoch++
	a.touched = a.touched[:0]
	return a
}

// rank scores every paragraph that has a term of the query, and returns the best of those that
// are looked at.
func (s *statistics) rank(ctx context.Context, terms []asked, limit int, only Only) ([]ranked, error) {
	if limit = min(limit, s.paragraphs); limit < 1 {
		return nil, ctx.Err()
	}
	a := s.accumulator()
	defer s.pool.Put(a)
	for _, t := range terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, p := range t.lists {
			a.add(p, s.norms, float64(s.idf(t.df)*float64(t.times)))
		}
	}
	best := selection{limit: limit}
	for _, ord := range a.touched {
		if best.full && float64(a.cells[ord].score*Unit) < float64(best.worst.score)-1 {
			continue // most are, and need not be rounded to be seen to be worse
		}
		if only != nil && !only(int(ord)) {
			continue
		}
		best.offer(ranked{ord: ord, score: billionths(a.cells[ord].score)})
	}
	list := best.sorted()
	s.judge(list, terms)
	return list, nil
}

// add adds what one term is worth. The conversions keep processors from fusing a
// product with a sum.
func (a *accumulator) add(p postings, norms []float64, idf float64) {
	tf := float64(p.tf)
	for i, ord := range p.ords {
		if p.tfs != nil {
			tf = float64(p.tfs[i])
		}
		v := float64(idf * (float64(tf*(k1+1)) / (tf + norms[ord])))
		c := &a.cells[ord]
		if c.epoch == a.epoch {
			c.score += v
			continue
		}
		c.score, c.epoch = v, a.epoch
		a.touched = append(a.touched, ord)
	}
}

// judge sets the relevance of each: its score against the best one's, times the share
// of the query it covers. The share is by the weight of the words that are no stop
// words; one that the corpus does not know weighs most, so that a corpus about
// something else gives little. Where the best score is not positive, as in a corpus
// of two paragraphs, the share alone decides.
func (s *statistics) judge(list []ranked, terms []asked) {
	if len(list) == 0 {
		return
	}
	some := slices.ContainsFunc(terms, func(t asked) bool { return !stopWords[t.token] })
	total, covered := 0.0, make([]float64, len(list))
	for _, t := range terms {
		if some && stopWords[t.token] {
			continue
		}
		w := s.weight(t.df)
		total += w
		for i, r := range list {
			if t.in(r.ord) {
				covered[i] += w
			}
		}
	}
	top := list[0].score
	for i := range list {
		share := covered[i] / total
		if top > 0 {
			share = float64(share * (float64(max(list[i].score, 0)) / float64(top)))
		}
		list[i].relevance = billionths(share)
	}
}

func billionths(x float64) int64 { return int64(math.Round(float64(x * Unit))) }

// better orders by score, and equal ones by document and paragraph, which is how
// paragraphs are numbered.
func better(a, b ranked) int {
	switch {
	case a.score > b.score, a.score == b.score && a.ord < b.ord:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// selection keeps the best of what it is offered. It sorts only when it holds twice
// as many as asked for.
type selection struct {
	limit int
	list  []ranked
	full  bool
	worst ranked // of the best, once there are enough
}

func (s *selection) offer(r ranked) {
	if s.full && better(s.worst, r) < 0 {
		return
	}
	s.list = append(s.list, r)
	if len(s.list) >= 2*s.limit {
		s.cut()
	}
}

func (s *selection) cut() {
	slices.SortFunc(s.list, better)
	if len(s.list) >= s.limit {
		s.list = s.list[:s.limit]
		s.worst, s.full = s.list[s.limit-1], true
	}
}

func (s *selection) sorted() []ranked {
	s.cut()
	return s.list
}

// byID sorts documents without touching the caller's slice.
func byID(docs []Document) []Document {
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, func(a, b Document) int { return strings.Compare(a.ID, b.ID) })
	return docs
}

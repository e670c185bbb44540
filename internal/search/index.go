package search

import (
	"context"
	"crypto/sha256"
	"slices"
)

// Index is a corpus in memory, with the postings of its terms. It is safe for use by
// several goroutines.
type Index struct {
	corpus
	*statistics
	terms map[string]uint32
	// The postings of term t are those from starts[t] to starts[t+1].
	starts []uint64
	all    postings
}

var _ Narrow = (*Index)(nil)

// corpus numbers the paragraphs of sorted documents, from 0 on.
type corpus struct {
	docs  []Document
	first []int // the number of each document's first paragraph, and of the end
}

func newCorpus(docs []Document) corpus {
	c := corpus{docs: byID(docs), first: make([]int, 0, len(docs)+1)}
	n := 0
	for _, d := range c.docs {
		c.first = append(c.first, n)
		n += len(d.Paragraphs)
	}
	c.first = append(c.first, n)
	return c
}

func (c *corpus) len() int { return c.first[len(c.docs)] }

// place returns a paragraph's document, and its index in that.
func (c *corpus) place(ord uint32) (*Document, int) {
	i, found := slices.BinarySearch(c.first, int(ord))
	if !found {
		i--
	}
	for len(c.docs[i].Paragraphs) == 0 { // it begins where the next one does
		i++
	}
	return &c.docs[i], int(ord) - c.first[i]
}

func (c *corpus) hit(r ranked, terms weights) Hit {
	d, p := c.place(r.ord)
	return newHit(d.ID, d.Title, p+1, d.Paragraphs[p], r, terms)
}

func newHit(doc, title string, paragraph int, text string, r ranked, terms weights) Hit {
	return Hit{
		Doc: doc, Title: title, Paragraph: paragraph, Text: text, Hash: sha256.Sum256([]byte(text)),
		Snippet: snippet(text, terms), Score: r.score, Relevance: r.relevance,
	}
}

// NewIndex indexes documents. Their order does not matter.
func NewIndex(docs []Document) *Index {
	x := &Index{corpus: newCorpus(docs)}
	d := newDictionary()
	lengths := make([]uint32, 0, x.len())
	// All paragraphs' counts one after the other; ends says where each one's end.
	var counts []count
	ends := make([]int, 0, x.len())
	for _, doc := range x.docs {
		for i, p := range doc.Paragraphs {
			var n int
			counts, n = d.count(counts, p, doc.context(i))
			lengths = append(lengths, uint32(n))
			ends = append(ends, len(counts))
		}
	}
	x.terms, x.statistics = d.ids, newStatistics(lengths, d.frequencies())
	x.transpose(counts, ends, d.df)
	return x
}

// transpose turns the terms of each paragraph into the paragraphs of each term.
func (x *Index) transpose(counts []count, ends []int, df []uint32) {
	x.starts = make([]uint64, len(df)+1)
	for t, n := range df {
		x.starts[t+1] = x.starts[t] + uint64(n)
	}
	x.all = postings{ords: make([]uint32, len(counts)), tfs: make([]uint16, len(counts))}
	next := slices.Clone(x.starts)
	at := 0
	for ord, end := range ends {
		for _, c := range counts[at:end] {
			i := next[c.term]
			x.all.ords[i], x.all.tfs[i] = uint32(ord), c.times
			next[c.term]++
		}
		at = end
	}
}

// Search implements Searcher.
func (x *Index) Search(ctx context.Context, query string, limit int) ([]Hit, error) {
	return x.SearchOnly(ctx, query, limit, nil)
}

// SearchOnly implements Narrow.
func (x *Index) SearchOnly(ctx context.Context, query string, limit int, only Only) ([]Hit, error) {
	terms := parse(query)
	for i, t := range terms {
		if id, ok := x.terms[t.token]; ok {
			from, to := x.starts[id], x.starts[id+1]
			terms[i].df = int(to - from)
			terms[i].lists = []postings{{ords: x.all.ords[from:to], tfs: x.all.tfs[from:to]}}
		}
	}
	list, err := x.rank(ctx, terms, limit, only)
	if err != nil {
		return nil, err
	}
	hits, w := make([]Hit, len(list)), x.weights(terms)
	for i, r := range list {
		hits[i] = x.hit(r, w)
	}
	return hits, nil
}

// Frequency implements Lexical.
func (x *Index) Frequency(_ context.Context, token string) (int, error) {
	id, ok := x.terms[token]
	if !ok {
		return 0, nil
	}
	return int(x.starts[id+1] - x.starts[id]), nil
}

// dictionary numbers terms, and counts them in one paragraph after another.
type dictionary struct {
	ids  map[string]uint32
	df   []uint32
	slot []int // where each term stands in the counts of the paragraph at hand, or -1
	scanner
}

// count is how often a term stands in a paragraph.
type count struct {
	term  uint32
	times uint16
}

func newDictionary() *dictionary { return &dictionary{ids: map[string]uint32{}} }

// count appends the terms of texts, each once, and returns how many tokens they have.
func (d *dictionary) count(list []count, texts ...string) ([]count, int) {
	start, tokens := len(list), 0
	take := func(token []byte, _, _ int) {
		tokens++
		id, known := d.ids[string(token)]
		if !known {
			id = uint32(len(d.df))
			d.ids[string(token)] = id
			d.df, d.slot = append(d.df, 0), append(d.slot, -1)
		}
		if at := d.slot[id]; at >= 0 {
			if list[at].times < maxTimes {
				list[at].times++
			}
			return
		}
		d.slot[id] = len(list)
		d.df[id]++
		list = append(list, count{id, 1})
	}
	for _, text := range texts {
		d.scan(text, take)
	}
	for _, c := range list[start:] {
		d.slot[c.term] = -1
	}
	return list, tokens
}

// frequencies says how many terms stand in n paragraphs, for each n.
func (d *dictionary) frequencies() []uint32 {
	list := make([]uint32, slices.Max(append([]uint32{0}, d.df...))+1)
	for _, n := range d.df {
		list[n]++
	}
	return list
}

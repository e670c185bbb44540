package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lyceum/internal/wording"
)

// Asked searches for what answers a question. It looks for the question's words in all
// their forms and in other words for the same, and says of each paragraph how much of
// the question it covers. It is safe for use by several goroutines if its searchers are.
type Asked struct {
	corpus  corpus
	lexical Lexical
	// further also finds, by meaning; it may be nil.
	further Searcher
}

// Lexical is a searcher by words that knows how frequent they are.
type Lexical interface {
	Searcher
	// Frequency is in how many paragraphs a token stands.
	Frequency(ctx context.Context, token string) (int, error)
}

// NewAsked searches documents. They must be those of the searchers.
func NewAsked(docs []Document, lexical Lexical, further Searcher) *Asked {
	return &Asked{newCorpus(docs), lexical, further}
}

// Weight is what a word of a question is worth in a corpus, in thousandths. The rarer a
// word, the more; Unknown says that neither it nor another word for it is there at all.
type Weight struct {
	Word    string
	Weight  int64
	Unknown bool
}

// candidates is how many paragraphs are looked at closely.
const candidates = 100

// What a word is worth that stands there as another word for the same.
const sameWorth = 0.8

// leastWeight is what every word of a question counts, however frequent: a question asks
// as much by its common words as by its rare ones.
const leastWeight = 4

// lacksName is the most that a paragraph covers of a question that has a name or a number
// which the paragraph has not.
const lacksName = 0.5

// unknownWeight is how much more a word counts that the corpus does not have.
const unknownWeight = 1.5

// Search returns at most limit hits, with how much of the question each covers, and what
// the question's words are worth. A question of several parts is covered by whatever
// covers one of them.
func (a *Asked) Search(ctx context.Context, question string, limit int) ([]Hit, []Weight, error) {
	if len(question) > maxQuery {
		question = question[:boundary(question, maxQuery)]
	}
	var weights []Weight
	var parts [][]term
	var words []string
	for _, part := range wording.Parts(question) {
		var terms []term
		for _, t := range wording.Terms(part) {
			w, known, err := a.weigh(ctx, t)
			if err != nil {
				return nil, nil, err
			}
			words = append(words, known...)
			terms = append(terms, term{t, wording.Stem(t.Word), float64(w.Weight)})
			if !slices.ContainsFunc(weights, func(o Weight) bool { return o.Word == w.Word }) {
				weights = append(weights, w)
			}
		}
		parts = append(parts, terms)
	}
	hits, err := a.candidates(ctx, question, words)
	if err != nil {
		return nil, nil, err
	}
	return a.best(hits, parts, limit), weights, nil
}

// term is a word of a question as paragraphs are compared with it.
type term struct {
	wording.Term
	stem   string
	weight float64
}

// weigh says what a word is worth, and which words of the corpus can stand for it.
func (a *Asked) weigh(ctx context.Context, t wording.Term) (w Weight, known []string, err error) {
	own, others := 0, 0
	count := func(word string, to *int) error {
		n, err := a.lexical.Frequency(ctx, word)
		if n > 0 {
			*to += n
			known = append(known, word)
		}
		return err
	}
	for _, form := range append([]string{t.Word}, wording.Forms(t.Word)...) {
		if err := count(form, &own); err != nil {
			return w, nil, err
		}
	}
	for _, same := range t.Same {
		for _, form := range append([]string{same}, wording.Forms(same)...) {
			if err := count(form, &others); err != nil {
				return w, nil, err
			}
		}
	}
	n := min(cmp.Or(own, others), a.corpus.len())
	total := float64(a.corpus.len())
	weight := ln(1 + (total-float64(n)+0.5)/(float64(n)+0.5))
	weight += leastWeight
	if n == 0 {
		weight = float64(weight * unknownWeight)
	}
	return Weight{Word: t.Word, Weight: int64(weight * 1000), Unknown: n == 0}, known, nil
}

// candidates are the paragraphs that words or meaning find.
func (a *Asked) candidates(ctx context.Context, question string, words []string) ([]Hit, error) {
	slices.Sort(words)
	hits, err := a.lexical.Search(ctx, strings.Join(slices.Compact(words), " "), candidates)
	if err != nil || a.further == nil {
		return hits, err
	}
	more, err := a.further.Search(ctx, question, candidates/5)
	for _, h := range more {
		if !slices.ContainsFunc(hits, func(o Hit) bool { return o.Doc == h.Doc && o.Paragraph == h.Paragraph }) {
			h.Score, h.Relevance = 0, 0
			hits = append(hits, h)
		}
	}
	return hits, err
}

// best orders hits by how much of the question they cover and by their scores.
func (a *Asked) best(hits []Hit, parts [][]term, limit int) []Hit {
	top := int64(1)
	for _, h := range hits {
		top = max(top, h.Score)
	}
	worth := func(h Hit) int64 { return h.Cover/2 + billionths(float64(h.Score)/float64(top))/2 }
	for i := range hits {
		h := &hits[i]
		d, at := a.document(h)
		h.Context = d.context(at)
		for _, terms := range parts {
			h.Cover = max(h.Cover, cover(h, terms))
		}
	}
	slices.SortStableFunc(hits, func(x, y Hit) int {
		return cmp.Or(cmp.Compare(worth(y), worth(x)), cmp.Compare(x.Doc, y.Doc), cmp.Compare(x.Paragraph, y.Paragraph))
	})
	return hits[:min(len(hits), max(limit, 0))]
}

func (a *Asked) document(h *Hit) (*Document, int) {
	i, ok := slices.BinarySearchFunc(a.corpus.docs, h.Doc, func(d Document, id string) int { return strings.Compare(d.ID, id) })
	if !ok {
		return &Document{}, 0
	}
	return &a.corpus.docs[i], h.Paragraph - 1
}

// cover is how much of a question a paragraph covers, in billionths, by the weights of
// its words. What the file's name and title say is the subject; the rest of the question
// must be covered for itself, or all that is known of a thing would answer whatever is
// asked about it.
func cover(h *Hit, terms []term) int64 {
	subject := stems(firstLines(h.Context, 2))
	above, body := stems(h.Context), stems(h.Text)
	var all, allHas, rest, restHas float64
	lacks := false
	for _, t := range terms {
		has := max(holds(body, t), holds(above, t))
		lacks = lacks || t.Name && has == 0
		worth := float64(has * t.weight) // not fused with the sum on any machine
		all, allHas = all+t.weight, allHas+worth
		if holds(subject, t) == 0 {
			rest, restHas = rest+t.weight, restHas+worth
		}
	}
	if all == 0 {
		return 0
	}
	share := allHas / all
	if lacks { // what is said of another thing, or another year, is no answer
		share = min(share, lacksName)
	}
	if rest > 0 {
		share = min(share, restHas/rest)
	}
	return billionths(share)
}

func firstLines(s string, n int) string {
	at := 0
	for range n {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return s
		}
		at += i + 1
	}
	return s[:at]
}

// stems are the stems of a text's words.
func stems(text string) map[string]bool {
	out := map[string]bool{}
	var s scanner
	s.scan(text, func(token []byte, _, _ int) { out[wording.Stem(string(token))] = true })
	return out
}

// holds says how well words stand for a term.
func holds(words map[string]bool, t term) float64 {
	if words[t.stem] {
		return 1
	}
	for _, s := range t.Same {
		if words[s] {
			return sameWorth
		}
	}
	return 0
}

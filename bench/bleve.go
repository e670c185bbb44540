package main

import (
	"context"
	"math"
	"slices"
	"strings"

	"lyceum/internal/search"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/simple"
	bm25 "github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"
)

// plain takes out what stands twice in a document. Their mean length becomes a whole
// number of words.
func plain(docs []search.Document) []search.Document {
	out, words := make([]search.Document, len(docs)), 0
	for i, d := range docs {
		seen := map[string]bool{}
		var kept []string
		for _, w := range strings.Fields(d.Paragraphs[0]) {
			if !seen[w] {
				kept, seen[w] = append(kept, w), true
			}
		}
		words += len(kept)
		out[i] = search.Document{ID: d.ID, Title: d.Title, Paragraphs: []string{strings.Join(kept, " ")}}
	}
	for i := 0; words%len(out) != 0; i++ {
		out[i].Paragraphs[0] += " xyzzy"
		words++
	}
	return out
}

// bleveIndex indexes as leanly as bleve can: no stored text, no positions. It lies on
// disk, mapped into memory, which the figure for the heap does not count.
func bleveIndex(path string, docs []search.Document) (bleve.Index, error) {
	body := bleve.NewTextFieldMapping()
	body.Analyzer, body.Store, body.IncludeTermVectors, body.DocValues, body.IncludeInAll = simple.Name, false, false, false, false
	m := bleve.NewIndexMapping()
	m.ScoringModel = index.BM25Scoring
	m.DefaultMapping.AddFieldMappingsAt("body", body)
	m.DefaultMapping.Dynamic = false
	x, err := bleve.New(path, m)
	if err != nil {
		return nil, err
	}
	batch := x.NewBatch()
	for i, d := range docs {
		if err := batch.Index(d.ID, map[string]any{"body": d.Paragraphs[0]}); err != nil {
			return nil, err
		}
		if batch.Size() == 1000 || i == len(docs)-1 {
			if err := x.Batch(batch); err != nil {
				return nil, err
			}
			batch.Reset()
		}
	}
	return x, nil
}

// sameTopTens counts the queries whose ten best are the same by both. What bleve calls
// BM25 has another idf, squares it, multiplies by the share of terms that match, takes
// the root of a term's frequency, and the number of terms for the length of all texts.
// So its terms are weighted so that Okapi's idf comes out, the share is divided out
// again, no word stands twice in these documents, and the length is given; k1 is a
// variable of it. Hits whose scores differ by less than bleve's precision may change
// places.
func sameTopTens(path string, docs []search.Document, asked []string) (int, error) {
	x, err := bleveIndex(path, docs)
	if err != nil {
		return 0, err
	}
	defer x.Close()
	ours := search.NewIndex(docs)
	k1 := bm25.BM25_k1
	bm25.BM25_k1 = 1.5
	defer func() { bm25.BM25_k1 = k1 }()
	df, tokens := map[string]float64{}, 0
	has := make(map[string]map[string]bool, len(docs))
	for _, d := range docs {
		words := strings.Fields(d.Paragraphs[0])
		tokens += len(words)
		set := map[string]bool{}
		for _, w := range words {
			if !set[w] {
				set[w] = true
				df[w]++
			}
		}
		has[d.ID] = set
	}
	n := float64(len(docs))
	stats := &bm25.BM25Stats{DocCount: n, FieldCardinality: map[string]int{"body": tokens}}
	weight := okapi(df, n)
	same := 0
	for _, q := range asked {
		words := slices.Compact(slices.Sorted(slices.Values(strings.Fields(q))))
		if len(words) != len(strings.Fields(q)) {
			same++ // a word twice, which bleve does not count
			continue
		}
		theirs, err := rescored(x, words, df, weight, n, stats, has)
		if err != nil {
			return 0, err
		}
		hits, err := ours.Search(context.Background(), q, 10)
		if err != nil {
			return 0, err
		}
		if agree(hits, theirs) {
			same++
		}
	}
	return same, nil
}

// okapi is the idf of rank-bm25, written down once more.
func okapi(df map[string]float64, n float64) func(string) float64 {
	sum := 0.0
	for _, f := range df {
		sum += math.Log((n - f + 0.5) / (f + 0.5))
	}
	return func(w string) float64 {
		if v := math.Log((n - df[w] + 0.5) / (df[w] + 0.5)); v >= 0 {
			return v
		}
		return 0.25 * sum / float64(len(df))
	}
}

// scored is a document and its score, on any scale.
type scored struct {
	id    string
	score float64
}

func rescored(x bleve.Index, words []string, df map[string]float64, weight func(string) float64, n float64, stats *bm25.BM25Stats, has map[string]map[string]bool) ([]scored, error) {
	var terms []query.Query
	for _, w := range words {
		t := bleve.NewTermQuery(w)
		t.SetField("body")
		theirs := math.Log(1 + (n-df[w]+0.5)/(df[w]+0.5))
		t.SetBoost(weight(w) / (theirs * theirs))
		terms = append(terms, t)
	}
	r := bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(terms...), len(has), 0, false)
	r.PreSearchData = map[string]any{bm25.BM25PreSearchDataKey: stats}
	found, err := x.Search(r)
	if err != nil {
		return nil, err
	}
	list := make([]scored, len(found.Hits))
	for i, h := range found.Hits {
		matched := 0
		for _, w := range words {
			if has[h.ID][w] {
				matched++
			}
		}
		list[i] = scored{h.ID, h.Score * float64(len(words)) / float64(matched)}
	}
	slices.SortFunc(list, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return strings.Compare(a.id, b.id)
	})
	return list, nil
}

// agree says whether the ten best are the same, up to the order of equals.
func agree(ours []search.Hit, theirs []scored) bool {
	const precision = 1e-4
	place := map[string]float64{}
	for _, s := range theirs {
		place[s.id] = s.score
	}
	for i, h := range ours {
		if i >= len(theirs) || math.Abs(place[h.Doc]-theirs[i].score) > precision*theirs[i].score {
			return false
		}
	}
	return len(ours) == min(10, len(theirs))
}

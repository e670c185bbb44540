package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lyceum/internal/search"
	"lyceum/internal/search/glove"
	"lyceum/internal/search/trial"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/simple"
	bm25 "github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"
)

// search measures finding paragraphs among documents of a kilobyte, beside bleve on the
// same work, and how often each way of searching finds what is meant.
func (b *bench) search() error {
	documents, queries := 100_000, 1000
	if b.quick {
		documents, queries = 10_000, 200
	}
	fmt.Printf("\nsearch: %d documents of 1 KB, %d queries of two to four words, ten hits each\n", documents, queries)
	docs := generated(documents)
	asked := questions(docs, queries)
	dir := b.fresh()
	defer os.RemoveAll(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ours, err := b.searchMemory(docs, asked)
	if err != nil {
		return err
	}
	if err := b.searchFile(filepath.Join(dir, "index.db"), docs, asked); err != nil {
		return err
	}
	theirs, err := b.searchBleve(filepath.Join(dir, "bleve"), docs, asked)
	if err != nil {
		return err
	}
	b.promise("the median query against bleve's", ours/theirs, false, 1)
	same, err := sameTopTens(filepath.Join(dir, "plain"), plain(docs[:10_000]), asked[:50])
	if err != nil {
		return err
	}
	b.promise("top tens that are bleve's too, of 50", float64(same), true, 50)
	return b.searchTrial()
}

// generated makes documents of words as unevenly frequent as a language's.
func generated(n int) []search.Document {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.07, 3, 60_000)
	docs := make([]search.Document, n)
	for i := range docs {
		var text strings.Builder
		for size := 700 + r.IntN(600); text.Len() < size; {
			text.WriteString(word(z.Uint64()))
			text.WriteByte(' ')
		}
		docs[i] = search.Document{ID: fmt.Sprintf("%06d", i), Title: "t", Paragraphs: []string{strings.TrimSpace(text.String())}}
	}
	return docs
}

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

// word gives each number a name of letters; the frequent ones have short names.
func word(n uint64) string {
	const consonants, vowels = "bcdfghjklmnprstvz", "aeiou"
	var w []byte
	for n += 20; n > 0; n /= uint64(len(consonants) * len(vowels)) {
		w = append(w, consonants[n%uint64(len(consonants))], vowels[n/uint64(len(consonants))%uint64(len(vowels))])
	}
	return string(w)
}

// questions takes words that stand together in a document.
func questions(docs []search.Document, n int) []string {
	r := rand.New(rand.NewPCG(3, 4))
	list := make([]string, n)
	for i := range list {
		words := strings.Fields(docs[r.IntN(len(docs))].Paragraphs[0])
		var q []string
		for range 2 + r.IntN(3) {
			q = append(q, words[r.IntN(len(words))])
		}
		list[i] = strings.Join(q, " ")
	}
	return list
}

// timed asks all queries and returns the median and the 99th percentile, in seconds.
func timed(asked []string, ask func(string) error) (middle, high float64, err error) {
	times := make([]float64, len(asked))
	for i, q := range asked {
		begun := time.Now()
		if err := ask(q); err != nil {
			return 0, 0, err
		}
		times[i] = time.Since(begun).Seconds()
	}
	slices.Sort(times)
	return median(times), times[len(times)*99/100], nil
}

func report(name string, built float64, mb float64, middle, high float64) {
	fmt.Printf("  %-10s indexed in %5.1f s, %4.0f MB of heap, query median %6.2f ms, 99th percentile %6.2f ms\n", name, built, mb, middle*1e3, high*1e3)
}

func (b *bench) searchMemory(docs []search.Document, asked []string) (float64, error) {
	before, begun := heapMB(), time.Now()
	x := search.NewIndex(docs)
	built := time.Since(begun).Seconds()
	mb := heapMB() - before
	middle, high, err := timed(asked, func(q string) error {
		_, err := x.Search(context.Background(), q, 10)
		return err
	})
	report("in memory", built, mb, middle, high)
	return middle, err
}

func (b *bench) searchFile(path string, docs []search.Document, asked []string) error {
	before, begun := heapMB(), time.Now()
	s, err := search.OpenStore(context.Background(), path, docs)
	if err != nil {
		return err
	}
	built := time.Since(begun).Seconds()
	if err := s.Close(); err != nil {
		return err
	}
	begun = time.Now()
	if s, err = search.OpenStore(context.Background(), path, docs); err != nil {
		return err
	}
	defer s.Close()
	opened := time.Since(begun).Seconds()
	middle, high, err := timed(asked, func(q string) error {
		_, err := s.Search(context.Background(), q, 10)
		return err
	})
	report("in a file", built, heapMB()-before, middle, high)
	if info, err := os.Stat(path); err == nil {
		fmt.Printf("  %-10s opened again in %.2f s, %d MB on disk\n", "", opened, info.Size()>>20)
	}
	return err
}

func (b *bench) searchBleve(path string, docs []search.Document, asked []string) (float64, error) {
	before, begun := heapMB(), time.Now()
	x, err := bleveIndex(path, docs)
	if err != nil {
		return 0, err
	}
	defer x.Close()
	built := time.Since(begun).Seconds()
	mb := heapMB() - before
	middle, high, err := timed(asked, func(q string) error {
		m := bleve.NewMatchQuery(q)
		m.SetField("body")
		_, err := x.Search(bleve.NewSearchRequestOptions(m, 10, 0, false))
		return err
	})
	report("bleve", built, mb, middle, high)
	return middle, err
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

// nothing finds nothing, so that of a hybrid only the vectors are left.
type nothing struct{}

func (nothing) Search(context.Context, string, int) ([]search.Hit, error) { return nil, nil }

// searchTrial counts how often the right paragraph comes first, asked for in other
// words and by name; and how long a vector takes.
func (b *bench) searchTrial() error {
	ctx := context.Background()
	cases := trial.Cases()
	docs := trial.Documents(cases)
	words := search.NewIndex(docs)
	begun := time.Now()
	vectors, err := search.NewHybrid(ctx, nothing{}, glove.Embedder{}, nil, docs)
	if err != nil {
		return err
	}
	loaded := time.Since(begun)
	both, err := search.NewHybrid(ctx, words, glove.Embedder{}, nil, docs)
	if err != nil {
		return err
	}
	fmt.Printf("  The right one of %d paragraphs first, asked in other words / by name:\n", len(cases))
	found := map[string]int{}
	for _, way := range []struct {
		name string
		search.Searcher
	}{{"BM25", words}, {"GloVe", vectors}, {"fused", both}} {
		paraphrased, named := 0, 0
		for i, c := range cases {
			for query, count := range map[string]*int{c.Paraphrase: &paraphrased, c.Name: &named} {
				hits, err := way.Search(ctx, query, 1)
				if err != nil {
					return err
				}
				if len(hits) > 0 && hits[0].Doc == trial.ID(i) {
					*count++
				}
			}
		}
		found[way.name] = paraphrased + named
		fmt.Printf("    %-6s %2d / %2d\n", way.name, paraphrased, named)
	}
	var queries []string
	for _, c := range cases {
		queries = append(queries, c.Paraphrase)
	}
	middle, _, err := timed(queries, func(q string) error {
		_, err := glove.Embedder{}.Embed(ctx, []string{q})
		return err
	})
	fmt.Printf("  GloVe: first use, with %d paragraphs embedded, %.1f ms; then %.1f µs a query\n", len(docs), loaded.Seconds()*1e3, middle*1e6)
	b.promise("first hits of both ways fused against the better one's alone", float64(found["fused"])/float64(max(found["BM25"], found["GloVe"])), true, 1)
	return err
}

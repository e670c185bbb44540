package main

import (
	"context"
	"fmt"
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

package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// find searches, and fails the test if that fails.
func find(t *testing.T, s Searcher, query string, limit int) []Hit {
	t.Helper()
	hits, err := s.Search(context.Background(), query, limit)
	if err != nil {
		t.Fatalf("search for %q: %v", query, err)
	}
	return hits
}

// texts makes documents of one paragraph each.
func texts(list ...string) []Document {
	docs := make([]Document, len(list))
	for i, text := range list {
		docs[i] = Document{ID: fmt.Sprintf("%05d", i), Title: "t", Paragraphs: []string{text}}
	}
	return docs
}

// reference is BM25 as rank-bm25's BM25Okapi does it, step by step and slowly.
func reference(docs [][]string, query []string) []float64 {
	nd, total := map[string]float64{}, 0.0
	for _, d := range docs {
		total += float64(len(d))
		seen := map[string]bool{}
		for _, w := range d {
			if !seen[w] {
				nd[w]++
			}
			seen[w] = true
		}
	}
	n := float64(len(docs))
	idf, sum, negative := map[string]float64{}, 0.0, []string{}
	for w, f := range nd {
		idf[w] = math.Log(n-f+0.5) - math.Log(f+0.5)
		sum += idf[w]
		if idf[w] < 0 {
			negative = append(negative, w)
		}
	}
	for _, w := range negative {
		idf[w] = 0.25 * sum / float64(len(idf))
	}
	scores := make([]float64, len(docs))
	for i, d := range docs {
		for _, q := range query {
			f := 0.0
			for _, w := range d {
				if w == q {
					f++
				}
			}
			scores[i] += idf[q] * (f * 2.5 / (f + 1.5*(1-0.75+0.75*float64(len(d))/(total/n))))
		}
	}
	return scores
}

// zipfian makes texts of words that are as unevenly frequent as those of a language.
func zipfian(seed uint64, paragraphs, words int) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	z := rand.NewZipf(r, 1.1, 2, 5000)
	list := make([]string, paragraphs)
	for i := range list {
		var b strings.Builder
		for range words/2 + r.IntN(words) {
			fmt.Fprintf(&b, "w%d ", z.Uint64())
		}
		list[i] = b.String()
	}
	return list
}

func TestIndex(t *testing.T) {
	t.Parallel()
	t.Run("ScoresAsRankBM25Does", func(t *testing.T) {
		t.Parallel()
		list := zipfian(7, 300, 40)
		var docs [][]string
		for _, l := range list {
			docs = append(docs, strings.Fields(l))
		}
		x := NewIndex(texts(list...))
		// w0 and w1 are in more than half of the paragraphs; w3 is asked for twice.
		for _, query := range []string{"w0", "w0 w1 w50", "w3 w900 w3", "w10 w20 w30 w40 nowhere", "w4999"} {
			want := reference(docs, strings.Fields(query))
			hits := find(t, x, query, len(list))
			got := map[string]int64{}
			for _, h := range hits {
				got[h.Doc] = h.Score
			}
			for i, w := range want {
				id := fmt.Sprintf("%05d", i)
				if math.Abs(float64(got[id])/Unit-w) > 1e-9 {
					t.Errorf("%s: document %s has %d, want %.9f", query, id, got[id], w)
				}
			}
		}
	})
	t.Run("ScoresAsComputedByHand", func(t *testing.T) {
		t.Parallel()
		// Three paragraphs of 2, 2 and 2 tokens: the norm is k1. "a" is in one of three:
		// idf ln(2.5/1.5); once in the paragraph: 2.5/(1+1.5) = 1.
		hits := find(t, NewIndex(texts("a b", "c d", "e f")), "a", 5)
		if len(hits) != 1 || hits[0].Score != 510825624 {
			t.Errorf("got %+v, want one hit of ln(5/3) = 0.510825624", hits)
		}
		// "x" is in all three: idf ln(0.5/3.5) = -1.945910149. The mean over x, a, b, c is
		// (-1.945910149 + 3*0.510825624)/4 = -0.103358319; a quarter of it -0.025839580.
		hits = find(t, NewIndex(texts("x a", "x b", "x c")), "x", 5)
		if len(hits) != 3 || hits[0].Score != -25839580 {
			t.Errorf("got %+v, want three hits of -0.025839580", hits)
		}
	})
	t.Run("IsTheSameToTheBitEverywhere", func(t *testing.T) {
		t.Parallel()
		x := NewIndex(texts(zipfian(3, 500, 60)...))
		var got []string
		for _, query := range []string{"w0 w7", "w100 w33 w2", "w333"} {
			for _, h := range find(t, x, query, 3) {
				got = append(got, fmt.Sprintf("%s %d %d", h.Doc, h.Score, h.Relevance))
			}
		}
		// Made on amd64; they must not differ anywhere.
		if !slices.Equal(got, golden) {
			t.Errorf("got\n%s", strings.Join(got, "\n"))
		}
		if bits := math.Float64bits(x.floor); bits != goldenFloor {
			t.Errorf("the floor of idfs is %#x, want %#x", bits, uint64(goldenFloor))
		}
	})
	t.Run("OrdersEqualsByDocumentAndParagraph", func(t *testing.T) {
		t.Parallel()
		docs := []Document{{ID: "b", Paragraphs: []string{"same words", "other"}}, {ID: "a/z", Paragraphs: []string{"nothing", "same words", "same words"}}, {ID: "a", Paragraphs: []string{"same words"}}}
		var got []string
		for _, h := range find(t, NewIndex(docs), "same", 10) {
			got = append(got, fmt.Sprint(h.Doc, h.Paragraph))
		}
		if want := []string{"a1", "a/z2", "a/z3", "b1"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	t.Run("KeepsTheBestWhateverTheLimit", func(t *testing.T) {
		t.Parallel()
		x := NewIndex(texts(zipfian(5, 400, 30)...))
		all := find(t, x, "w1 w2 w30", math.MaxInt)
		for _, limit := range []int{1, 2, 3, 10, 399} {
			if got := find(t, x, "w1 w2 w30", limit); !slices.Equal(got, all[:min(limit, len(all))]) {
				t.Errorf("the best %d are not the first of all", limit)
			}
		}
	})
	t.Run("FindsNothingInNothing", func(t *testing.T) {
		t.Parallel()
		for _, docs := range [][]Document{nil, {{ID: "a"}}, texts("", "---")} {
			if hits := find(t, NewIndex(docs), "a b", 5); len(hits) != 0 {
				t.Errorf("found %v", hits)
			}
		}
		x := NewIndex(texts("a b"))
		for _, query := range []string{"", "?", "c", "\xff"} {
			if hits := find(t, x, query, 5); len(hits) != 0 {
				t.Errorf("%q found %v", query, hits)
			}
		}
		if hits := find(t, x, "a", 0); len(hits) != 0 {
			t.Errorf("a limit of 0 found %v", hits)
		}
	})
	t.Run("SkipsDocumentsWithoutParagraphs", func(t *testing.T) {
		t.Parallel()
		docs := []Document{{ID: "a"}, {ID: "b", Paragraphs: []string{"x"}}, {ID: "c"}, {ID: "d", Paragraphs: []string{"y z", "y"}}, {ID: "e"}}
		if hits := find(t, NewIndex(docs), "y", 5); len(hits) != 2 || hits[0].Doc != "d" || hits[0].Paragraph != 2 {
			t.Errorf("got %v", hits)
		}
	})
	t.Run("StopsWhenToldTo", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := NewIndex(texts("a b")).Search(ctx, "a", 1); err == nil {
			t.Error("it searched on")
		}
	})
}

func TestRelevance(t *testing.T) {
	t.Parallel()
	corpus := texts(
		"The activation energy of the reaction is 35 kJ/mol, found by an Arrhenius fit.",
		"Catalysts lower the activation energy of a reaction.",
		"The committee met on Tuesday to discuss the new cafeteria.",
		"Rain is expected in the north, with some sun in the south.",
		"The library opens at nine and closes at eight on weekdays.")
	x := NewIndex(corpus)
	share := func(query string) float64 {
		hits := find(t, x, query, 1)
		if len(hits) == 0 {
			return 0
		}
		return float64(hits[0].Relevance) / Unit
	}
	t.Run("IsHighForWhatIsThere", func(t *testing.T) {
		t.Parallel()
		if got := share("What is the activation energy by the Arrhenius fit?"); got < 0.9 {
			t.Errorf("got %.2f", got)
		}
	})
	t.Run("IsLowForACorpusAboutSomethingElse", func(t *testing.T) {
		t.Parallel()
		if got := share("How do penguins survive the Antarctic winter in the north?"); got > 0.25 {
			t.Errorf("got %.2f", got)
		}
		if got := share("What is it that is in the"); got == 0 {
			t.Error("a query of stop words alone finds nothing")
		}
		if got := share("the xylophone"); got != 0 {
			t.Errorf("a stop word alone counts: %.2f", got)
		}
	})
	t.Run("DoesNotBreakInACorpusOfOneOrTwo", func(t *testing.T) {
		t.Parallel()
		for _, docs := range [][]Document{texts("energy of reactions"), texts("energy of reactions", "rain in the north")} {
			hits := find(t, NewIndex(docs), "energy of reactions", 1)
			if len(hits) != 1 || hits[0].Relevance != Unit {
				t.Errorf("%d documents: got %+v", len(docs), hits)
			}
		}
	})
	t.Run("AnswersInChinese", func(t *testing.T) {
		t.Parallel()
		x := NewIndex(texts("阿伦尼乌斯方程描述反应速率与温度的关系。", "图书馆每天九点开门。", "今天北方有雨。"))
		hits := find(t, x, "温度怎样影响反应速率？", 3)
		if len(hits) == 0 || hits[0].Doc != "00000" || hits[0].Relevance < Unit/3 {
			t.Errorf("got %+v", hits)
		}
	})
}

func TestLogarithm(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, x := range append([]float64{0.5, 1, 1.5, 2, math.E, 1e-300, 1e300, 0.7071067811865475, 1.4142135623730951}, func() (list []float64) {
		for range 10_000 {
			list = append(list, math.Exp(r.Float64()*40-20))
		}
		return list
	}()...) {
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 4e-16*max(1, math.Abs(want)) {
			t.Errorf("ln %v is %v, want %v", x, got, want)
		}
	}
	if ln(1) != 0 {
		t.Error("ln 1 is not 0")
	}
}

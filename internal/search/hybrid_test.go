package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// meanings is an embedder that knows three things, and counts what it is asked.
type meanings struct {
	name  string
	asked []string
	wrong func([][]float32) [][]float32
}

func (m *meanings) Name() string                    { return m.name }
func (m *meanings) Calibration() (float64, float64) { return 0.5, 1 }
func (m *meanings) Embed(_ context.Context, texts []string) ([][]float32, error) {
	m.asked = append(m.asked, texts...)
	var list [][]float32
	for _, t := range texts {
		v := make([]float32, 3)
		for i, words := range []string{"dog hound puppy", "car motor wheel", "rain storm cloud"} {
			for _, w := range Tokens(t) {
				if slices.Contains(strings.Fields(words), w) {
					v[i]++
				}
			}
		}
		list = append(list, v)
	}
	if m.wrong != nil {
		list = m.wrong(list)
	}
	return list, nil
}

var animals = texts("a dog barks", "the hound sleeps", "a motor runs", "rain falls", "Kowalczyk said so", "a dog barks")

func hybrid(t *testing.T, e Embedder, cache *VectorCache, docs []Document) *Hybrid {
	t.Helper()
	h, err := NewHybrid(context.Background(), NewIndex(docs), e, cache, docs)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHybrid(t *testing.T) {
	t.Parallel()
	t.Run("IsItsLexicalSearcherWithoutVectors", func(t *testing.T) {
		t.Parallel()
		docs := texts(zipfian(9, 200, 30)...)
		x, h := NewIndex(docs), hybrid(t, nil, nil, docs)
		for _, query := range []string{"w1 w2", "w0", "w100 w50 w7", "nothing", ""} {
			for _, limit := range []int{0, 1, 10, 500} {
				if got, want := find(t, h, query, limit), find(t, x, query, limit); !slices.Equal(got, want) {
					t.Errorf("%q, %d: got %v, want %v", query, limit, got, want)
				}
			}
		}
	})
	t.Run("FindsWhatIsSaidInOtherWords", func(t *testing.T) {
		t.Parallel()
		h := hybrid(t, &meanings{}, nil, animals)
		hits := find(t, h, "puppy", 5)
		if len(hits) != 3 || hits[0].Doc != "00000" || hits[1].Doc != "00001" || hits[2].Doc != "00005" {
			t.Errorf("got %v", hits)
		}
		if hits[0].Relevance != Unit || hits[0].Snippet != "a dog barks" {
			t.Errorf("got %+v", hits[0])
		}
	})
	t.Run("FindsNamesThatVectorsDoNotKnow", func(t *testing.T) {
		t.Parallel()
		if hits := find(t, hybrid(t, &meanings{}, nil, animals), "Kowalczyk hound", 5); len(hits) != 4 || hits[0].Doc != "00001" || hits[3].Doc != "00004" {
			t.Errorf("got %v", hits)
		}
		if hits := find(t, hybrid(t, &meanings{}, nil, animals), "Kowalczyk", 5); len(hits) != 1 || hits[0].Doc != "00004" || hits[0].Relevance != Unit {
			t.Errorf("got %v", hits)
		}
	})
	t.Run("FindsNothingForStopWordsAndStrangers", func(t *testing.T) {
		t.Parallel()
		if hits := find(t, hybrid(t, &meanings{}, nil, animals), "the xylophone", 5); len(hits) != 0 {
			t.Errorf("got %v", hits)
		}
	})
	t.Run("AsksOnceForATextThatStandsThereTwice", func(t *testing.T) {
		t.Parallel()
		m := &meanings{}
		hybrid(t, m, nil, animals)
		if len(m.asked) != 5 {
			t.Errorf("asked for %q", m.asked)
		}
	})
	t.Run("RefusesVectorsThatAreNone", func(t *testing.T) {
		t.Parallel()
		for name, wrong := range map[string]func([][]float32) [][]float32{
			"too few":     func(v [][]float32) [][]float32 { return v[1:] },
			"empty":       func(v [][]float32) [][]float32 { v[0] = nil; return v },
			"two sizes":   func(v [][]float32) [][]float32 { v[1] = v[1][:2]; return v },
			"no number":   func(v [][]float32) [][]float32 { v[0][1] = float32(math.NaN()); return v },
			"no finite":   func(v [][]float32) [][]float32 { v[0][1] = float32(math.Inf(-1)); return v },
			"all at once": func([][]float32) [][]float32 { return nil },
		} {
			if _, err := NewHybrid(context.Background(), NewIndex(animals), &meanings{wrong: wrong}, nil, animals); err == nil {
				t.Errorf("%s: taken", name)
			}
		}
	})
	t.Run("RefusesAQueryOfAnotherSize", func(t *testing.T) {
		t.Parallel()
		m := &meanings{}
		h := hybrid(t, m, nil, animals)
		m.wrong = func(v [][]float32) [][]float32 { return [][]float32{{1}} }
		if _, err := h.Search(context.Background(), "dog", 1); err == nil || !strings.Contains(err.Error(), "dimensions") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("RefusesAnIndexOfOtherDocuments", func(t *testing.T) {
		t.Parallel()
		h, err := NewHybrid(context.Background(), NewIndex(animals), &meanings{}, nil, texts("a dog", "x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Search(context.Background(), "barks", 1); !errors.Is(err, errOtherCorpus) {
			t.Errorf("got %v", err)
		}
	})
}

// A score is the sum of weight/(60+rank) over the lists that something is in, the best of each having rank 1.
func TestAScoreIsASumOverBothLists(t *testing.T) {
	t.Parallel()
	h := hybrid(t, &meanings{}, nil, animals)
	h.Weigh(Unit, Unit/10)
	want := map[string]int64{"00001": Unit/61 + Unit/10/62, "00000": Unit / 10 / 61, "00005": Unit / 10 / 63}
	hits := find(t, h, "hound", 5)
	for _, hit := range hits {
		if hit.Score != want[hit.Doc] {
			t.Errorf("%s has the score %d, want %d", hit.Doc, hit.Score, want[hit.Doc])
		}
	}
	if len(hits) != 3 || hits[0].Doc != "00001" {
		t.Errorf("got %v, want the one with the word first, and two of its meaning", hits)
	}
}

func TestVectorCache(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, path string) *VectorCache {
		t.Helper()
		c, err := OpenVectorCache(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		return c
	}
	many := func(n int) (docs []Document) {
		for i := range n {
			docs = append(docs, Document{ID: fmt.Sprint(i), Paragraphs: []string{fmt.Sprint("dog ", i), fmt.Sprint("motor rain ", i)}})
		}
		return docs
	}
	t.Run("NeverAsksAgainForUnchangedText", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "new", "v.db")
		m := &meanings{name: "m"}
		docs := many(300)
		want := find(t, hybrid(t, m, open(t, path), docs), "puppy", 20)
		if len(m.asked) != 601 {
			t.Fatalf("asked for %d texts, want 600 and the query", len(m.asked))
		}
		// Another process, other names, one paragraph changed.
		m.asked = nil
		docs[7].Paragraphs = []string{"dog 7", "motor rain, changed"}
		got := find(t, hybrid(t, m, open(t, path), docs), "puppy", 20)
		if want := []string{"motor rain, changed", "puppy"}; !slices.Equal(m.asked, want) {
			t.Errorf("asked for %d texts: %.200q", len(m.asked), m.asked)
		}
		if !slices.Equal(got, want) {
			t.Error("the vectors kept are not those made")
		}
	})
	t.Run("KeepsModelsApart", func(t *testing.T) {
		t.Parallel()
		cache := open(t, filepath.Join(t.TempDir(), "v.db"))
		hybrid(t, &meanings{name: "one"}, cache, animals)
		other := &meanings{name: "two"}
		hybrid(t, other, cache, animals)
		if len(other.asked) != 5 {
			t.Errorf("asked for %q", other.asked)
		}
	})
	t.Run("IsMadeAnewWhenDamaged", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "v.db")
		if err := os.WriteFile(path, []byte(strings.Repeat("no database", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
		m := &meanings{name: "m"}
		hybrid(t, m, open(t, path), animals)
		if len(m.asked) != 5 {
			t.Errorf("asked for %q", m.asked)
		}
	})
}

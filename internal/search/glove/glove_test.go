package glove

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/search"
	"lyceum/internal/search/trial"
)

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestFile(t *testing.T) {
	t.Parallel()
	t.Run("IsTheOneThatTheScriptMakes", func(t *testing.T) {
		t.Parallel()
		want, err := os.ReadFile("words.bin.sha256")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x  words.bin\n", sha256.Sum256([]byte(file))); got != string(want) {
			t.Errorf("words.bin has the checksum %s, but %s is written down: run scripts/embeddings", got, want)
		}
	})
	t.Run("HoldsEveryWordOnce", func(t *testing.T) {
		t.Parallel()
		if !strings.HasPrefix(file, Magic) || len(file) != alphabet+int(number(letters+4*Words)) {
			t.Fatalf("the file has %d bytes", len(file))
		}
		for r := range Words {
			from, to := number(letters+4*r), number(letters+4*r+4)
			word := file[alphabet+int(from) : alphabet+int(to)]
			if got, ok := rank(word); !ok || got != r {
				t.Fatalf("word %d, %q, is found at %d, %v", r, word, got, ok)
			}
		}
		for _, word := range []string{"", "kowalczykowski", "化"} {
			if _, ok := rank(word); ok {
				t.Errorf("%q is known", word)
			}
		}
	})
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	t.Run("KnowsWhatWordsMean", func(t *testing.T) {
		t.Parallel()
		near, far := cosine(embed("doctor"), embed("physician")), cosine(embed("doctor"), embed("concrete"))
		if near < 0.6 || far > 0.3 {
			t.Errorf("doctor and physician %.2f, doctor and concrete %.2f", near, far)
		}
	})
	t.Run("WeighsRareWordsMore", func(t *testing.T) {
		t.Parallel()
		if v := cosine(embed("the of and to enthalpy"), embed("enthalpy")); v < 0.9 {
			t.Errorf("got %.2f", v)
		}
	})
	t.Run("IsZeroForWhatItDoesNotKnow", func(t *testing.T) {
		t.Parallel()
		list, err := Embedder{}.Embed(context.Background(), []string{"", "化学反应", "xqzvw"})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			if len(v) != Dimensions || cosine(v, v) != 0 {
				t.Errorf("got %v", v)
			}
		}
	})
	t.Run("IsTheSameToTheBitEverywhere", func(t *testing.T) {
		t.Parallel()
		h := sha256.New()
		for _, c := range trial.Cases() {
			for _, x := range embed(c.Text + " " + c.Paraphrase) {
				fmt.Fprintf(h, "%08x", math.Float32bits(x))
			}
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)); got != golden {
			t.Errorf("got %s", got)
		}
	})
}

// golden was made on amd64.
const golden = "fd1ea0c5957f5712c086f2b3bad59d050c90c89258177d222536efb93846706a"

// TestCalibration: what relevance cosines stand for, on a paragraph and its paraphrase,
// and on texts that have nothing to do with each other.
func TestCalibration(t *testing.T) {
	t.Parallel()
	low, high := Embedder{}.Calibration()
	var same, other []float64
	cases := trial.Cases()
	for i, c := range cases {
		for j, d := range cases {
			v := min(max((cosine(embed(c.Paraphrase), embed(d.Text))-low)/(high-low), 0), 1)
			if i == j {
				same = append(same, v)
			} else {
				other = append(other, v)
			}
		}
	}
	slices.Sort(same)
	slices.Sort(other)
	t.Logf("paraphrases: a tenth below %.2f, half below %.2f; others: 95 of 100 below %.2f, 99 below %.2f", same[len(same)/10], same[len(same)/2], other[len(other)*95/100], other[len(other)*99/100])
	if v := other[len(other)*95/100]; v > 0.15 {
		t.Errorf("of the unrelated, 95 of 100 are below %.2f, want 0.15", v)
	}
	if v := same[len(same)/2]; v < 0.35 {
		t.Errorf("half of the paraphrases are below %.2f, want 0.35", v)
	}
}

// first counts how often the right paragraph comes first.
func first(t *testing.T, s search.Searcher, ask func(trial.Case) string) (n int) {
	t.Helper()
	for i, c := range trial.Cases() {
		hits, err := s.Search(context.Background(), ask(c), 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) > 0 && hits[0].Doc == trial.ID(i) {
			n++
		}
	}
	return n
}

func TestFusionTakesTheBetterOfBoth(t *testing.T) {
	t.Parallel()
	docs := trial.Documents(trial.Cases())
	words := search.NewIndex(docs)
	both, err := search.NewHybrid(context.Background(), words, Embedder{}, nil, docs)
	if err != nil {
		t.Fatal(err)
	}
	paraphrase := func(c trial.Case) string { return c.Paraphrase }
	name := func(c trial.Case) string { return c.Name }
	if b, h := first(t, words, paraphrase), first(t, both, paraphrase); h < 28 || b >= h/2 {
		t.Errorf("paraphrases: %d by words, %d by both, of %d", b, h, len(docs))
	}
	if b, h := first(t, words, name), first(t, both, name); b != len(docs) || h != len(docs) {
		t.Errorf("names: %d by words, %d by both, of %d", b, h, len(docs))
	}
}

func BenchmarkQuery(b *testing.B) {
	for b.Loop() {
		embed("How does the speed of the chemical process depend on temperature?")
	}
}

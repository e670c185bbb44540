package trial

import (
	"context"
	"slices"
	"testing"

	"lyceum/internal/knowledge"
	"lyceum/internal/search"
	"lyceum/internal/search/glove"
)

// TestSet holds the set to what it says of itself.
func TestSet(t *testing.T) {
	t.Parallel()
	c := new(knowledge.Catalogue)
	for _, e := range Tools() {
		if err := c.Add(e); err != nil {
			t.Error(err)
		}
	}
	if c.Len() < 1000 {
		t.Errorf("there are %d tools, want 1000", c.Len())
	}
	if n := len(Open()) + len(Sealed()); n != 300 || len(Open()) != len(Sealed()) {
		t.Errorf("there are %d intents, %d of them open; want 300, half of them open", n, len(Open()))
	}
	for _, in := range slices.Concat(Open(), Sealed()) {
		if len(in.Tools) == 0 {
			t.Errorf("no tool serves %q", in.Text)
		}
		for _, name := range in.Tools {
			if _, ok := c.Lookup(name); !ok {
				t.Errorf("%q wants %s, which is no tool", in.Text, name)
			}
		}
	}
}

// nothing finds nothing: what a hybrid without words is made of.
type nothing struct{}

func (nothing) Search(context.Context, string, int) ([]search.Hit, error) { return nil, nil }

// Recall is how often one of the wanted tools is among the best five, in thousandths, by words,
// by vectors and by both.
func recall(t *testing.T, intents []Intent) (words, vectors, both int) {
	t.Helper()
	ctx := context.Background()
	c := new(knowledge.Catalogue)
	for _, e := range Tools() {
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	share := func(find func(intent string) []string) int {
		hits := 0
		for _, in := range intents {
			found := find(in.Text)
			if slices.ContainsFunc(in.Tools, func(name string) bool { return slices.Contains(found, name) }) {
				hits++
			} else if testing.Verbose() {
				t.Logf("%s: want %v, found %v", in.Text, in.Tools, found)
			}
		}
		return 1000 * hits / len(intents)
	}
	by := func(o knowledge.Options) func(string) []string {
		x, err := knowledge.Open(ctx, c, o)
		if err != nil {
			t.Fatal(err)
		}
		return func(intent string) (out []string) {
			found, err := x.Search(ctx, intent, knowledge.Filter{}, 5)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range found.Hits {
				out = append(out, h.Entry.Shown)
			}
			return out
		}
	}
	alone, err := search.NewHybrid(ctx, nothing{}, glove.Embedder{}, nil, c.Documents())
	if err != nil {
		t.Fatal(err)
	}
	words = share(by(knowledge.Options{}))
	vectors = share(func(intent string) (out []string) {
		hits, err := alone.Search(ctx, intent, 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			out = append(out, h.Doc)
		}
		return out
	})
	return words, vectors, share(by(knowledge.Options{Embedder: glove.Embedder{}}))
}

// TestRecall holds the search to what it must find, in thousandths.
func TestRecall(t *testing.T) {
	t.Parallel()
	words, vectors, both := recall(t, Open())
	t.Logf("recall@5 of the open half: words %d, vectors %d, both %d", words, vectors, both)
	if both < 800 || both < max(words, vectors)-10 {
		t.Errorf("recall@5 by words %d, by vectors %d, by both %d: want 800, and at most 10 less than either alone", words, vectors, both)
	}
}

// TestRecallOfTheSealedHalf was looked at once, when the search was done.
func TestRecallOfTheSealedHalf(t *testing.T) {
	t.Parallel()
	words, vectors, both := recall(t, Sealed())
	t.Logf("recall@5 of the sealed half: words %d, vectors %d, both %d", words, vectors, both)
	if both < 800 || both < max(words, vectors)-10 {
		t.Errorf("recall@5 by words %d, by vectors %d, by both %d: want 800, and at most 10 less than either alone", words, vectors, both)
	}
}

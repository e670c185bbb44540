package search_test

import (
	"testing"

	"lyceum/internal/search"
)

func towns() []search.Document {
	return []search.Document{
		{
			ID: "pump.md", Title: "TL-9 pump", Paragraphs: []string{"# TL-9 pump\n\nIt squeezes a hose.", "Hoses of Viton last 90 hours."},
			Contexts: []string{"pump\nTL-9 pump", "pump\nTL-9 pump"},
		},
		{ID: "town.md", Title: "Vessen", Paragraphs: []string{"The market is held in spring.", "The bridge was opened in 1742."}, Contexts: []string{"town\nVessen", "town\nVessen"}},
	}
}

func TestAskedSaysHowMuchOfAQuestionIsCovered(t *testing.T) {
	t.Parallel()
	docs := towns()
	a := search.NewAsked(docs, search.NewIndex(docs), nil)
	for question, want := range map[string]struct {
		doc       string
		paragraph int
		covered   bool
	}{
		"How long do Viton hoses of the TL-9 last?":  {"pump.md", 2, true}, // the name stands in the title alone
		"How long did the hose of Viton last?":       {"pump.md", 2, true}, // in other forms
		"When was the bridge of Vessen opened?":      {"town.md", 2, true},
		"What does the TL-9 pump cost?":              {"pump.md", 1, false}, // what is asked about it is nowhere
		"When was the bridge of Vessen closed?":      {"town.md", 2, false},
		"Who opened the bridge of Vessen in 1850?":   {"town.md", 2, false}, // another year
		"How long do Viton hoses of the TL-10 last?": {"pump.md", 2, false},
	} {
		hits, _, err := a.Search(t.Context(), question, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) == 0 || hits[0].Doc != want.doc || hits[0].Paragraph != want.paragraph || (hits[0].Cover >= 800_000_000) != want.covered {
			t.Errorf("%q: got %+v first, want paragraph %d of %s, covered: %t", question, hits[:min(len(hits), 1)], want.paragraph, want.doc, want.covered)
		}
	}
	_, weights, err := a.Search(t.Context(), "Who won the football cup?", 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range weights {
		if !w.Unknown {
			t.Errorf("%q: got a word of the corpus, want it unknown", w.Word)
		}
	}
}

func TestAskedIsTheSameInMemoryAndOnDisk(t *testing.T) {
	t.Parallel()
	docs := towns()
	store, err := search.OpenStore(t.Context(), t.TempDir()+"/index.db", docs)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, question := range []string{"How long do Viton hoses last?", "Vessen", "?", ""} {
		want, _, err := search.NewAsked(docs, search.NewIndex(docs), nil).Search(t.Context(), question, 5)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := search.NewAsked(docs, store, nil).Search(t.Context(), question, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%q: got %d hits on disk, want %d as in memory", question, len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%q: got %+v on disk, want %+v as in memory", question, got[i], want[i])
			}
		}
	}
}

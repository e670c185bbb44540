package knowledge

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/search"

	"github.com/go-json-experiment/json"
)

// Indexes on disk are found by the catalogue's hash and the version of its documents: whoever
// changes how documents are made, and not the version, leaves old indexes in use.
func TestDocumentsAreThoseOfTheirVersion(t *testing.T) {
	data, err := json.Marshal(some(t).Documents(), json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	const want = "1 5fa3644a33ae175e11a0c396365951e6e62a3416c75eac5339f9cf004a2319a8"
	if got := fmt.Sprint(documentsVersion, " ", event.HashOf(data)); got != want {
		t.Errorf("documents are made another way: got %s, want %s. Count documentsVersion up, and put the new line here", got, want)
	}
}

// large is a catalogue whose index is on disk.
func large(t *testing.T) *Catalogue {
	t.Helper()
	c := new(Catalogue)
	for i := range Large {
		if err := c.Add(tool(fmt.Sprintf("s%d", i%40), fmt.Sprintf("verb%d_noun%d", i%70, i), fmt.Sprintf("Does verb%d to noun%d of kind%d.", i%70, i, i%13))); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// An index that the version before left is of the same catalogue, and its documents are made another
// way: it is made anew.
func TestAnIndexOfOlderDocumentsIsMadeAnew(t *testing.T) {
	c, dir := large(t), t.TempDir()
	of := hash(t, c)
	old := documents(c.Entries())
	for i := range old {
		old[i].Paragraphs, old[i].Contexts = []string{"made by the version before"}, nil
	}
	s, err := search.OpenStoreBy(t.Context(), filepath.Join(dir, of.String()+".db"), indexKey(documentsVersion-1, of), func() []search.Document { return old })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	x := index(t, c, Options{Dir: dir})
	if got := shown(find(t, x, "verb3 noun73", Filter{}, 1)); !slices.Equal(got, []string{"s33__verb3_noun73"}) {
		t.Errorf("by an index of older documents: got %v, want what the documents of today find", got)
	}
	if got := shown(find(t, x, "version", Filter{}, 1)); len(got) != 0 {
		t.Errorf("older documents are still searched: %v", got)
	}
}

// It is not parallel: allocations are counted.
func TestAnIndexOnDiskIsOpenedWithoutMakingItsDocumentsAgain(t *testing.T) {
	c := large(t)
	o := Options{Dir: t.TempDir()}
	want := shown(find(t, index(t, c, o), "verb3 noun73", Filter{}, 10))
	entries := c.Entries()
	making := testing.AllocsPerRun(1, func() { documents(entries) })
	opening := testing.AllocsPerRun(1, func() {
		x, err := Open(context.Background(), c, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if opening > making/2 {
		t.Errorf("opening the index again takes %.0f allocations, making its documents %.0f: want less than half of that", opening, making)
	}
	if got := shown(find(t, index(t, c, o), "verb3 noun73", Filter{}, 10)); !slices.Equal(got, want) {
		t.Errorf("opened again it finds %v, before it found %v", got, want)
	}
}

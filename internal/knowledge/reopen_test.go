package knowledge

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"lyceum/internal/event"

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

// It is not parallel: allocations are counted.
func TestAnIndexOnDiskIsOpenedWithoutMakingItsDocumentsAgain(t *testing.T) {
	c := new(Catalogue)
	for i := range Large {
		if err := c.Add(tool(fmt.Sprintf("s%d", i%40), fmt.Sprintf("verb%d_noun%d", i%70, i), fmt.Sprintf("Does verb%d to noun%d of kind%d.", i%70, i, i%13))); err != nil {
			t.Fatal(err)
		}
	}
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

package knowledge

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/search"
)

// Large is from how many entries on a catalogue is searched on disk.
const Large = 4096

// Options are what a catalogue is searched with. The zero value searches by words, in memory.
type Options struct {
	// Embedder makes vectors; nil leaves them out.
	Embedder search.Embedder
	// Vectors keeps them by content and embedder, so that nothing is embedded twice; nil keeps
	// none.
	Vectors *search.VectorCache
	// Dir is where the indexes of large catalogues lie; empty keeps all in memory.
	Dir string
	// Hash is the catalogue's, if somebody has made it; else it is made where it is needed.
	Hash event.Hash
}

// Index searches a catalogue as it was when the index was opened. It is safe for use by
// several goroutines.
type Index struct {
	entries []Entry // by shown name, which is how the searchers number them
	words   search.Narrow
	both    *search.Hybrid // nil without vectors
	by      string         // the embedder, empty without vectors
	doubt   string         // why there are no vectors, if there were to be some
	close   func() error
}

// Open makes a catalogue ready to be searched. An embedder that fails costs the vectors alone.
func Open(ctx context.Context, c *Catalogue, o Options) (*Index, error) {
	x := &Index{entries: c.Entries(), close: func() error { return nil }}
	docs, err := x.index(ctx, c, o.Dir, o.Hash)
	if err != nil {
		return nil, err
	}
	if o.Embedder == nil || len(docs) == 0 {
		return x, nil
	}
	both, err := search.NewHybrid(ctx, x.words, o.Embedder, o.Vectors, docs)
	switch {
	case ctx.Err() != nil:
		return nil, errors.Join(ctx.Err(), x.Close())
	case err != nil:
		x.doubt = plain.Brief(err.Error(), maxDoubt)
	default:
		both.Weigh(wordsWeight, meaningWeight)
		x.both, x.by = both, o.Embedder.Name()
	}
	return x, nil
}

// What words and vectors weigh when they are fused, in billionths: of several, these did best on
// the open half of package trial.
const (
	wordsWeight   = search.Unit
	meaningWeight = search.Unit / 10
)

// maxDoubt is how much is said about vectors that are not to be had.
const maxDoubt = 300

// index makes the words ready: in memory, or in a file that is found again by the catalogue's
// hash. Whoever finds it there need not make the documents again, which takes longest.
func (x *Index) index(ctx context.Context, c *Catalogue, dir string, hash event.Hash) (docs []search.Document, err error) {
	if len(x.entries) < Large || dir == "" {
		docs = documents(x.entries)
		x.words = search.NewIndex(docs)
		return docs, nil
	}
	if hash == (event.Hash{}) {
		if hash, err = c.Hash(); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("index a catalogue: %w", err)
	}
	s, err := search.OpenStoreBy(ctx, filepath.Join(dir, hash.String()+".db"), indexKey(documentsVersion, hash), func() []search.Document {
		docs = documents(x.entries)
		return docs
	})
	if err != nil {
		return nil, err
	}
	if x.words, x.close = s, s.Close; docs == nil {
		docs, err = s.Documents(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return docs, nil
}

// indexKey is by which an index on disk is found again. The version is in it so that a file with
// documents of an older kind is not opened, but made anew.
func indexKey(version int, catalogue event.Hash) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, "documents %d of %s", version, catalogue))
}

// Close closes the index's file, if it has one.
func (x *Index) Close() error { return x.close() }

// Filter says which entries are looked at. What it leaves out takes no place among the best.
type Filter struct {
	// What is what entries are, empty for tools.
	What string
	// Kind is the kind of source, empty for any, Except one that is not wanted.
	Kind, Except string
	// Without says of shown names that they are not wanted; nil wants all.
	Without func(shown string) bool
}

func (f *Filter) takes(e *Entry) bool {
	kind := e.Kind()
	return f.What == e.What && (f.Kind == "" || f.Kind == kind) && kind != f.Except && (f.Without == nil || !f.Without(e.Shown))
}

// Found is what came of a search.
type Found struct {
	// Hits are the best, the best first.
	Hits []Hit
	// Embedder is whose vectors were used; empty means that the search was by words alone, and
	// Doubt then says why, if vectors were to be used.
	Embedder string
	Doubt    string
}

// Hit is an entry that fits an intent. Scores of different searches cannot be compared.
type Hit struct {
	Entry Entry
	Score int64
}

// Search finds the entries that fit an intent best, at most limit. It depends on nothing but
// the catalogue, the vectors and what it is asked.
func (x *Index) Search(ctx context.Context, intent string, f Filter, limit int) (Found, error) {
	only := func(i int) bool { return f.takes(&x.entries[i]) }
	out := Found{Embedder: x.by, Doubt: x.doubt}
	var hits []search.Hit
	var err error
	if x.both != nil {
		hits, err = x.both.SearchBoth(ctx, asked(intent), intent, limit, only)
		if err != nil && ctx.Err() == nil {
			out.Embedder, out.Doubt = "", plain.Brief(err.Error(), maxDoubt)
		}
	}
	if x.both == nil || err != nil {
		hits, err = x.words.SearchOnly(ctx, asked(intent), limit, only)
	}
	if err != nil {
		return Found{}, fmt.Errorf("search the catalogue: %w", err)
	}
	for _, h := range hits {
		i, ok := x.find(h.Doc)
		if !ok {
			return Found{}, fmt.Errorf("search the catalogue: its index has %.80q, and the catalogue has not", h.Doc)
		}
		out.Hits = append(out.Hits, Hit{x.entries[i], h.Score})
	}
	return out, nil
}

// find finds an entry by its shown name.
func (x *Index) find(shown string) (int, bool) {
	return slices.BinarySearchFunc(x.entries, shown, func(e Entry, name string) int { return strings.Compare(e.Shown, name) })
}

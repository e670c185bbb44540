package trial

import (
	"context"
	"path/filepath"
	"testing"

	"lyceum/internal/knowledge"
	"lyceum/internal/search"
	"lyceum/internal/search/glove"
)

// many is a catalogue of ten thousand tools.
func many(b *testing.B) *knowledge.Catalogue {
	c := new(knowledge.Catalogue)
	for _, e := range Many(10_000) {
		if err := c.Add(e); err != nil {
			b.Fatal(err)
		}
	}
	return c
}

func opened(b *testing.B, c *knowledge.Catalogue, dir string) (*knowledge.Index, func()) {
	v, err := search.OpenVectorCache(filepath.Join(dir, "vectors.db"))
	if err != nil {
		b.Fatal(err)
	}
	x, err := knowledge.Open(context.Background(), c, knowledge.Options{Embedder: glove.Embedder{}, Vectors: v, Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	return x, func() {
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
		if err := v.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	c := many(b)
	for b.Loop() {
		_, close := opened(b, c, b.TempDir())
		close()
	}
}

func BenchmarkReopen(b *testing.B) {
	c, dir := many(b), b.TempDir()
	_, close := opened(b, c, dir)
	close()
	for b.Loop() {
		_, close := opened(b, c, dir)
		close()
	}
}

func BenchmarkSearch(b *testing.B) {
	x, close := opened(b, many(b), b.TempDir())
	defer close()
	asked := Open()
	for i := 0; b.Loop(); i++ {
		if _, err := x.Search(context.Background(), asked[i%len(asked)].Text, knowledge.Filter{}, 5); err != nil {
			b.Fatal(err)
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lyceum/internal/knowledge"
	"lyceum/internal/knowledge/trial"
	"lyceum/internal/search"
	"lyceum/internal/search/glove"
)

// tools measures finding tools among ten thousand: how long the catalogue takes to be indexed, to
// be opened again and to be searched, and how much less a model is shown than if all were listed.
func (b *bench) tools() error {
	n := 10_000
	fmt.Printf("\ntools: %d in a catalogue, words on disk and vectors of the binary's own\n", n)
	c := new(knowledge.Catalogue)
	all := 0
	for _, e := range trial.Many(n) {
		if err := c.Add(e); err != nil {
			return err
		}
		all += len(e.Shown) + len(e.Description) + len(e.Schema)
	}
	dir := b.fresh()
	defer os.RemoveAll(dir)
	begun := time.Now()
	_, end, err := openTools(c, dir)
	if err != nil {
		return err
	}
	first := time.Since(begun).Seconds()
	if err := end(); err != nil {
		return err
	}
	begun = time.Now()
	x, end, err := openTools(c, dir)
	if err != nil {
		return err
	}
	again := time.Since(begun).Seconds()
	var asked []string
	for _, in := range trial.Open() {
		asked = append(asked, in.Text)
	}
	shown := 0
	middle, high, err := timed(asked, func(intent string) error {
		found, err := x.Search(context.Background(), intent, knowledge.Filter{}, 8)
		for _, h := range found.Hits {
			shown += len(h.Entry.Shown) + len(h.Entry.Description) + len(h.Entry.Schema)
		}
		return err
	})
	if err = errors.Join(err, end()); err != nil {
		return err
	}
	fmt.Printf("  indexed in %.2f s, opened again in %.0f ms, query median %.2f ms, 99th percentile %.2f ms\n", first, again*1e3, middle*1e3, high*1e3)
	b.promise("seconds to index 10,000 tools", first, false, 2)
	b.promise("opened again, of the time to index them", again/first, false, 0.7)
	b.promise("ms for a query, 99th percentile", high*1e3, false, 15)
	b.promise("percent of listing all that a model is shown less with eight", 100-100*float64(shown)/float64(len(asked))/float64(all), true, 95)
	return nil
}

// openTools opens a catalogue with its vectors.
func openTools(c *knowledge.Catalogue, dir string) (*knowledge.Index, func() error, error) {
	v, err := search.OpenVectorCache(filepath.Join(dir, "vectors.db"))
	if err != nil {
		return nil, nil, err
	}
	x, err := knowledge.Open(context.Background(), c, knowledge.Options{Embedder: glove.Embedder{}, Vectors: v, Dir: dir})
	if err != nil {
		return nil, nil, errors.Join(err, v.Close())
	}
	return x, func() error { return errors.Join(x.Close(), v.Close()) }, nil
}

package service

import (
	"context"
	"errors"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/search"
)

// SearchOf answers calls for a search of these documents as the workshop of a contract
// net does.
func SearchOf(docs []search.Document, e search.Embedder) func(context.Context, *event.SearchCall) (*event.SearchResult, error) {
	c := &corpus{rt: &runtime.Runtime{Embedder: e}, docs: docs, read: true}
	return func(ctx context.Context, b *event.SearchCall) (*event.SearchResult, error) {
		return c.search(ctx, b, e.Name())
	}
}

// AcceptOf runs acceptance commands on a tree as the workshop of an architect does.
func AcceptOf(ctx context.Context, q *runtime.Quest, seq uint64, b *event.AcceptanceCall) (*event.TestReport, error) {
	return accept(ctx, q, seq, b, q.Restored(ctx, &b.Tree))
}

// OpenGit opens a repository in a folder with a git that may take so long.
func OpenGit(ctx context.Context, dir string, patience time.Duration) error {
	was := gitPatience
	gitPatience = patience
	defer func() { gitPatience = was }()
	r, err := openRepository(ctx, dir, true)
	return errors.Join(err, r.close())
}

// ReproduceOf runs an entry point as the workshops of labs and studies do.
func ReproduceOf(ctx context.Context, q *runtime.Quest, seq uint64, b *event.ReproductionCall) (*event.ReproductionResult, error) {
	return reproduce(ctx, q, seq, b)
}

// BundleOf makes a paper as the workshop of studies does, with such programs for TeX that may take so long.
func BundleOf(ctx context.Context, q *runtime.Quest, seq uint64, b *event.BundleCall, tex [][]string, patience time.Duration) (*event.BundleResult, error) {
	x := &bundling{q: q, seq: seq, patience: patience}
	for _, e := range tex {
		x.engines = append(x.engines, engine(e))
	}
	r, blobs, err := x.make(ctx, b)
	for _, data := range blobs {
		if _, err := q.Blobs.Put(ctx, data); err != nil {
			return nil, err
		}
	}
	return r, err
}

// Engines are the programs that set LaTeX.
func Engines() (out [][]string) {
	for _, e := range engines {
		out = append(out, e)
	}
	return out
}

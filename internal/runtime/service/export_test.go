package service

import (
	"context"

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

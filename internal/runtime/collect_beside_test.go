package runtime_test

import (
	"context"
	"testing"

	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/event"
)

// beside is a store that is collected beside those who write.
type beside struct{ *blobfs.Store }

func (b beside) Held(ctx context.Context, h event.Hash) (bool, error) { return b.Has(ctx, h) }

func TestALedgerKeepsItsSmallBlobsWhenOthersMayBeWriting(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.run(l.create(plan(t, "drop", "", simple)))
	var small []event.Hash
	for _, e := range l.events("drop") {
		refs, _ := event.Refs(e.Body)
		for _, r := range refs {
			if _, err := l.store.Blob(t.Context(), r.Hash); err == nil {
				small = append(small, r.Hash)
			}
		}
	}
	if len(small) == 0 {
		t.Fatal("the ledger has no small blobs: nothing is proved")
	}
	must(t, l.Clean(t.Context(), "drop", true))
	l.Blobs = beside{l.Blobs.(*blobfs.Store)}
	_, _, err := l.Collect(t.Context())
	must(t, err)
	for _, h := range small {
		if _, err := l.store.Blob(t.Context(), h); err != nil {
			t.Errorf("a small blob after collecting beside others: %v, want that the ledger keeps it", err)
		}
	}
}

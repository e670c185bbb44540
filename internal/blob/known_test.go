package blob_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
)

// putting counts what is put into a store.
type putting struct {
	blob.Store
	puts atomic.Int64
}

func (c *putting) Put(ctx context.Context, data []byte) (event.Ref, error) {
	c.puts.Add(1)
	return c.Store.Put(ctx, data)
}

func (c *putting) Create(ctx context.Context, r io.Reader) (event.Ref, error) {
	c.puts.Add(1)
	return c.Store.Create(ctx, r)
}

// TestWhatWasRestoredIsKnown: a first look at it reads nothing but what has changed.
func TestWhatWasRestoredIsKnown(t *testing.T) {
	t.Parallel()
	store := &putting{Store: &blobtest.Memory{}}
	from, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatalf("open a folder: %v", err)
	}
	defer from.Close()
	for i := range 50 {
		name := fmt.Sprintf("d%d/e", i%7)
		if err := from.MkdirAll(name, 0o755); err != nil {
			t.Fatalf("make a folder: %v", err)
		}
		if err := from.WriteFile(fmt.Sprintf("%s/f%d", name, i), fmt.Append(nil, "file ", i), 0o644); err != nil {
			t.Fatalf("write a file: %v", err)
		}
	}
	tree, _, _, err := blob.Snapshot(t.Context(), store, from, nil)
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	home, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatalf("open a folder: %v", err)
	}
	defer home.Close()
	if err := blob.Restore(t.Context(), store, tree, home); err != nil {
		t.Fatalf("restore: %v", err)
	}
	var index *blob.Index
	// The clock of the file system has to tick once behind the last file.
	for store.puts.Store(1); store.puts.Load() > 0; time.Sleep(time.Millisecond) {
		if index, err = blob.Known(t.Context(), store, tree, home); err != nil {
			t.Fatalf("what is known: %v", err)
		}
		store.puts.Store(0)
		if got, _, _, err := blob.Snapshot(t.Context(), store, home, index); err != nil || got != tree {
			t.Fatalf("a look at what was restored: got %v, %v, want %v", got, err, tree)
		}
	}
	if err := home.WriteFile("d3/e/f3", []byte("FILE 3"), 0o644); err != nil {
		t.Fatalf("change a file: %v", err)
	}
	got, _, _, err := blob.Snapshot(t.Context(), store, home, index)
	if err != nil || got == tree {
		t.Fatalf("a file of the same length was changed: got %v, %v, want another tree", got, err)
	}
	if want := int64(4); store.puts.Load() != want { // the file and the folders above it
		t.Errorf("%d blobs were stored for one change, want %d", store.puts.Load(), want)
	}
}

package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/event"
)

// TestBatch: blobs get their names together, after all of them have reached the disk, and
// what is given up leaves nothing.
func TestBatch(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer s.Close()
	var charged int64
	ctx := blob.WithSpend(t.Context(), func(n int64) error { charged += n; return nil })
	begin := func() (blob.Batch, []event.Ref) {
		t.Helper()
		b, err := s.Batch()
		if err != nil {
			t.Fatalf("begin: %v", err)
		}
		var refs []event.Ref
		for i := range 40 {
			put := b.Put
			if i%2 == 1 {
				put = func(ctx context.Context, data []byte) (event.Ref, error) { return b.Create(ctx, bytes.NewReader(data)) }
			}
			ref, err := put(ctx, bytes.Repeat(fmt.Append(nil, i/4), 1000*i))
			if err != nil {
				t.Fatalf("put: %v", err)
			}
			refs = append(refs, ref)
		}
		return b, refs
	}
	has := func(refs []event.Ref) (n int) {
		t.Helper()
		for _, r := range refs {
			if ok, err := s.Has(t.Context(), r.Hash); err != nil {
				t.Fatalf("has: %v", err)
			} else if ok {
				n++
			}
		}
		return n
	}
	left := func() int {
		t.Helper()
		list, err := os.ReadDir(filepath.Join(s.dir, scratch))
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		return len(list)
	}
	b, refs := begin()
	if n := has(refs); n > 0 || charged <= 0 {
		t.Errorf("%d blobs are there before their content has reached the disk; charged %d", n, charged)
	}
	b.Abort()
	if n := has(refs); n > 0 || left() > 0 || charged != 0 {
		t.Errorf("given up: %d blobs are there, %d drafts, %d bytes charged; want none", n, left(), charged)
	}
	if _, err := b.Put(ctx, []byte("late")); !errors.Is(err, ErrClosed) || left() > 0 {
		t.Errorf("put after the end: got %v, want ErrClosed", err)
	}
	broken, synced := errors.New("broken"), 0
	s.sync = func(*os.File) error { return broken }
	b, refs = begin()
	if err := b.Flush(); !errors.Is(err, broken) || has(refs) > 0 || left() > 0 || charged != 0 {
		t.Errorf("the disk fails: got %v, %d blobs, %d drafts, %d bytes charged; want none", err, has(refs), left(), charged)
	}
	s.sync = func(*os.File) error { synced++; return nil }
	b, refs = begin()
	if err := b.Flush(); err != nil || has(refs) != len(refs) || left() > 0 || synced != 2 || charged <= 0 {
		t.Errorf("flush: got %v, %d blobs, %d drafts, %d flushes; want all blobs after two flushes", err, has(refs), left(), synced)
	}
	for i, r := range refs {
		if data, err := s.Get(t.Context(), r.Hash); err != nil || !bytes.Equal(data, bytes.Repeat(fmt.Append(nil, i/4), 1000*i)) {
			t.Fatalf("get %d: %v", i, err)
		}
	}
	before := charged
	b, _ = begin()
	if err := b.Flush(); err != nil || charged != before {
		t.Errorf("the same again: got %v, %d bytes charged, want %d", err, charged, before)
	}
}

package blob_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
)

// steady is a store that says since when it has lost nothing, and counts what it is asked.
type steady struct {
	blobtest.Memory
	since any
	asked atomic.Int64
}

func (s *steady) Since() any { return s.since }

func (s *steady) Has(ctx context.Context, h event.Hash) (bool, error) {
	s.asked.Add(1)
	return s.Memory.Has(ctx, h)
}

// TestAStoreThatLostNothingIsNotAsked: a look at a home asks nothing about files that nobody has
// changed, unless the store may have lost them.
func TestAStoreThatLostNothingIsNotAsked(t *testing.T) {
	t.Parallel()
	d, s := newFolder(t), &steady{since: 1}
	for i := range 50 {
		d.write(fmt.Sprintf("d%d/f%d", i%5, i), fmt.Sprint(i))
	}
	blob.Settle(d.root)
	was, x := d.snapshot(s, nil)
	look := func(what string, asks bool) {
		t.Helper()
		s.asked.Store(0)
		now, next := d.snapshot(s, x)
		if now != was {
			t.Errorf("%s: got %v, want %v", what, now, was)
		}
		if asked := s.asked.Load(); asks != (asked > 0) {
			t.Errorf("%s: the store was asked %d times, want that it is asked: %t", what, asked, asks)
		}
		x = next
	}
	look("nothing was lost", false)
	s.since = 2
	look("something may be lost", true)
	look("and nothing since", false)
	kept := x
	s.since = nil
	look("a store that does not know", true)
	s.since = 2
	look("an index of a time that nobody knows", true)
	x = new(blob.Index)
	d.must(x.UnmarshalBinary(indexBytes(t, kept)))
	look("an index that was stored", true)
	// What is lost while the store says so is stored again.
	var all []event.Hash
	d.must(blob.Walk(t.Context(), s, was, func(r event.Ref) error {
		all = append(all, r.Hash)
		return nil
	}))
	for _, h := range all {
		s.Forget(h)
	}
	s.since = 3
	look("all is lost", true)
	for _, h := range all {
		if ok, _ := s.Memory.Has(t.Context(), h); !ok {
			t.Errorf("blob %s is still missing", h)
		}
	}
}

// crowd is a store whose blobs wait until several are being put.
type crowd struct {
	blobtest.Memory
	want   int
	mu     sync.Mutex
	inside int
	full   chan struct{}
	puts   map[event.Hash]int
	last   event.Hash
	refuse event.Hash
}

var errRefused = errors.New("refused")

func (c *crowd) Put(ctx context.Context, data []byte) (event.Ref, error) {
	ref := event.RefOf(data)
	c.mu.Lock()
	if c.inside++; c.inside == c.want {
		close(c.full)
	}
	c.puts[ref.Hash]++
	c.last = ref.Hash
	c.mu.Unlock()
	if c.refuse == ref.Hash {
		return event.Ref{}, errRefused
	}
	select {
	case <-c.full:
	case <-ctx.Done():
		return event.Ref{}, ctx.Err()
	}
	return c.Memory.Put(ctx, data)
}

func newCrowd(want int) *crowd {
	return &crowd{want: want, full: make(chan struct{}), puts: map[event.Hash]int{}}
}

// TestBlobsArePutBesideEachOther: with one at a time the store of this test would wait for ever.
func TestBlobsArePutBesideEachOther(t *testing.T) {
	t.Parallel()
	d, s := newFolder(t), newCrowd(4)
	for i := range 20 {
		d.write(fmt.Sprintf("d%d/f%d", i%3, i), fmt.Sprint("same ", i%10))
	}
	ref, _ := d.snapshot(s, nil)
	if s.last != ref.Hash {
		t.Errorf("the last blob is %s, want the tree of all, %s", s.last, ref.Hash)
	}
	if len(s.puts) != 10+3+1 {
		t.Errorf("%d blobs were put, want 14", len(s.puts))
	}
	for h, n := range s.puts {
		if n != 1 {
			t.Errorf("blob %s was put %d times, want once", h, n)
		}
	}
}

// TestABlobThatIsRefusedEndsTheSnapshot: the tree of all is not stored, and the error is the
// store's, with the files that were new.
func TestABlobThatIsRefusedEndsTheSnapshot(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "m", "z", "sub/deep"} {
		d, s := newFolder(t), newCrowd(1)
		for _, n := range []string{"a", "m", "sub/deep", "z"} {
			d.write(n, "file "+n)
		}
		whole, _ := d.snapshot(new(blobtest.Memory), nil)
		s.refuse = event.HashOf([]byte("file " + name))
		_, _, _, err := blob.Snapshot(t.Context(), s, d.root, nil)
		failed, ok := errors.AsType[*blob.StoreError](err)
		if !ok || !errors.Is(err, errRefused) || len(failed.Largest) == 0 {
			t.Errorf("%s is refused: got %v, want the store's error and the new files", name, err)
		}
		if ok, _ := s.Has(t.Context(), whole.Hash); ok {
			t.Errorf("%s is refused, and the tree of all is stored", name)
		}
	}
}

// TestASnapshotThatIsCancelledSaysSo while its blobs are being put.
func TestASnapshotThatIsCancelledSaysSo(t *testing.T) {
	t.Parallel()
	d, s := newFolder(t), newCrowd(1000)
	for i := range 20 {
		d.write(fmt.Sprint(i), fmt.Sprint(i))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, _, _, err := blob.Snapshot(ctx, s, d.root, nil)
		done <- err
	}()
	cancel(os.ErrDeadlineExceeded)
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

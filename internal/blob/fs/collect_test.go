package fs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/event"

	"golang.org/x/sys/unix"
)

// keeping yields the given blobs.
func keeping(refs ...event.Ref) func(func(event.Hash) error) error {
	return func(yield func(event.Hash) error) error {
		for _, r := range refs {
			if err := yield(r.Hash); err != nil {
				return err
			}
		}
		return nil
	}
}

func has(t *testing.T, s *Store, ref event.Ref) bool {
	t.Helper()
	ok, err := s.Has(t.Context(), ref.Hash)
	must(t, err)
	return ok
}

func TestCollect(t *testing.T) {
	t.Parallel()
	t.Run("TakesAllButWhatIsKept", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		kept, gone, gone2 := put(t, s, "kept"), put(t, s, "gone"), put(t, s, "gone too")
		removed, size, err := s.Collect(t.Context(), keeping(kept))
		if removed != 2 || size != gone.Size+gone2.Size || err != nil {
			t.Errorf("removed %d of %d bytes: %v", removed, size, err)
		}
		if !has(t, s, kept) || has(t, s, gone) || has(t, s, gone2) {
			t.Error("took the wrong ones")
		}
	})
	t.Run("IsNotedByIndexesOfWhatWasThere", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("content"), 0o600))
		root, err := os.OpenRoot(dir)
		must(t, err)
		defer root.Close()
		var index *blob.Index
		before := s.Since()
		for i := range 3 {
			time.Sleep(20 * time.Millisecond) // a file that was written just now is read in any case
			ref, x, _, err := blob.Snapshot(t.Context(), s, root, index)
			must(t, err)
			index = x
			if !has(t, s, event.Ref(ref)) || !has(t, s, event.RefOf([]byte("content"))) {
				t.Errorf("look %d: what was found is not stored", i)
			}
			_, _, err = s.Collect(t.Context(), keeping())
			must(t, err)
			if has(t, s, event.Ref(ref)) {
				t.Fatal("nothing was collected")
			}
		}
		if before == nil || s.Since() == before {
			t.Error("since a collection the store claims to have lost nothing")
		}
	})
	t.Run("KeepsAWholeTreeThroughWalk", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		dir := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "a", "b", "c"), []byte("deep"), 0o600))
		root, err := os.OpenRoot(dir)
		must(t, err)
		defer root.Close()
		ref, _, _, err := blob.Snapshot(t.Context(), s, root, nil)
		must(t, err)
		put(t, s, "litter")
		removed, _, err := s.Collect(t.Context(), func(yield func(event.Hash) error) error {
			return blob.Walk(t.Context(), s, ref, func(r event.Ref) error { return yield(r.Hash) })
		})
		if removed != 1 || err != nil {
			t.Errorf("removed %d: %v", removed, err)
		}
		must(t, blob.Restore(t.Context(), s, ref, root))
	})
	t.Run("TakesNothingWhenKeepFails", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		ref := put(t, s, "x")
		unread := errors.New("ledger unreadable")
		removed, _, err := s.Collect(t.Context(), func(func(event.Hash) error) error { return unread })
		if removed != 0 || !errors.Is(err, unread) || !has(t, s, ref) {
			t.Errorf("removed %d: %v", removed, err)
		}
	})
	t.Run("TakesNothingWhenKeepIsCutShortAndSaysNothing", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		ref := put(t, s, "x")
		ctx, cancel := context.WithCancel(t.Context())
		removed, _, err := s.Collect(ctx, func(yield func(event.Hash) error) error {
			cancel()
			_ = yield(event.Hash{})
			return nil
		})
		if removed != 0 || !errors.Is(err, context.Canceled) || !has(t, s, ref) {
			t.Errorf("removed %d: %v", removed, err)
		}
	})
	t.Run("RemovesWhatACrashLeft", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		must(t, os.WriteFile(filepath.Join(s.dir, scratch, "put-1"), nil, 0o600))
		_, _, err := s.Collect(t.Context(), keeping())
		must(t, err)
		if left := files(t, s.dir); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	})
	t.Run("IsRefusedAfterClose", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		must(t, s.Close())
		if _, _, err := s.Collect(t.Context(), keeping()); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("CanPutAgainWhatWasTaken", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		put(t, s, "x")
		_, _, err := s.Collect(t.Context(), keeping())
		must(t, err)
		if ref := put(t, s, "x"); !has(t, s, ref) {
			t.Error("gone")
		}
	})
}

func TestCollectIsBusy(t *testing.T) {
	t.Parallel()
	busy := func(t *testing.T, s *Store) {
		t.Helper()
		asked := false
		_, _, err := s.Collect(t.Context(), func(func(event.Hash) error) error {
			asked = true
			return nil
		})
		if !errors.Is(err, blob.ErrBusy) || asked {
			t.Errorf("got %v, keep asked: %t", err, asked)
		}
	}
	t.Run("WhileAnotherStoreOfThisProcessIsOpen", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		a, b := open(t, dir), open(t, dir)
		ref := put(t, a, "about to be named")
		busy(t, b)
		must(t, a.Close())
		removed, _, err := b.Collect(t.Context(), keeping())
		if removed != 1 || err != nil || has(t, b, ref) {
			t.Errorf("after it closed: removed %d, %v", removed, err)
		}
	})
	t.Run("AndARefusalDoesNotCostTheShare", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		a, b := open(t, dir), open(t, dir)
		// Were the share of b lost on the way, a could collect now.
		busy(t, b)
		busy(t, a)
		must(t, b.Close())
		_, _, err := a.Collect(t.Context(), keeping())
		must(t, err)
	})
	t.Run("AndGoesBackToASharedLock", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		a := open(t, dir)
		_, _, err := a.Collect(t.Context(), keeping())
		must(t, err)
		b := open(t, dir) // Would wait for ever if a still had it alone.
		busy(t, a)
		busy(t, b)
	})
	t.Run("WhileAnotherCollects", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		a := open(t, dir)
		opened := make(chan error, 1)
		_, _, err := a.Collect(t.Context(), func(func(event.Hash) error) error {
			// The gate is shut: who comes now cannot get in before we are done.
			if _, err := a.passGate(unix.LOCK_SH | unix.LOCK_NB); !errors.Is(err, blob.ErrBusy) {
				t.Errorf("the gate is open: %v", err)
			}
			go func() {
				b, err := Open(dir, nil)
				if err == nil {
					err = b.Close()
				}
				opened <- err
			}()
			return nil
		})
		must(t, err)
		must(t, <-opened)
	})
}

// TestCollectAmongWriters lets many put, name and collect at once. Whoever has
// put a blob and still has its store open must find the blob again.
func TestCollectAmongWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 15 {
				s, err := Open(dir, &Options{Volatile: true})
				if err != nil {
					t.Error(err)
					return
				}
				if i%2 == 0 {
					_, _, err := s.Collect(t.Context(), keeping())
					if err != nil && !errors.Is(err, blob.ErrBusy) {
						t.Error(err)
					}
				}
				ref, err := s.Put(t.Context(), []byte{byte(i % 3)})
				if err != nil {
					t.Error(err)
				}
				if ok, err := s.Has(t.Context(), ref.Hash); err != nil || !ok {
					t.Errorf("a blob was taken while its writer had the store open: %v", err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// TestWhoKnowsNothingPromisesNothing: stores that others may collect, and blobs that may come to
// nothing.
func TestWhoKnowsNothingPromisesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	if s.Since() == nil || s.Since() != s.Since() {
		t.Error("an open store does not know that it has lost nothing")
	}
	other := open(t, dir)
	if s.Since() == other.Since() {
		t.Error("two stores vouch for each other")
	}
	b, err := s.Batch()
	must(t, err)
	if b.(blob.Steady).Since() != nil {
		t.Error("a batch vouches for what may come to nothing")
	}
	b.Abort()
	if OpenReadOnly(dir).Since() != nil {
		t.Error("a store that holds no lock vouches for its blobs")
	}
	must(t, s.Close())
	if s.Since() != nil {
		t.Error("a closed store vouches for its blobs")
	}
}

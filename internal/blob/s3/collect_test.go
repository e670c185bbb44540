package s3

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/s3/s3test"
	"lyceum/internal/event"
	"lyceum/internal/need"
)

func mustPut(t *testing.T, s *Store, text string) event.Hash {
	t.Helper()
	ref, err := s.Put(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return ref.Hash
}

func TestCollect(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, server *s3test.Server) {
		s := mustOpen(t, at(server, "collect"))
		named, other := mustPut(t, s, "named"), mustPut(t, s, "other")
		if n, size, err := s.Collect(t.Context(), keeping(named)); n != 0 || size != 0 || err != nil {
			t.Errorf("collecting what was put a moment ago: %d of %d bytes, %v, want none", n, size, err)
		}
		opts := at(server, "collect")
		opts.Grace = -time.Hour // so everything is old
		old := mustOpen(t, opts)
		unread := errors.New("a ledger cannot be read")
		if n, _, err := old.Collect(t.Context(), func(func(event.Hash) error) error { return unread }); n != 0 || !errors.Is(err, unread) {
			t.Errorf("collecting when events cannot be read: %d, %v, want none and the error", n, err)
		}
		if n, size, err := old.Collect(t.Context(), keeping(named)); n != 1 || size != blob.Block || err != nil {
			t.Errorf("collecting one of two old blobs: %d of %d bytes, %v", n, size, err)
		}
		for h, want := range map[event.Hash]bool{named: true, other: false} {
			if ok, err := s.Has(t.Context(), h); ok != want || err != nil {
				t.Errorf("after collecting, %s is there: %t, %v, want %t", h, ok, err, want)
			}
		}
	})
}

func TestOnlyOneCollects(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, server *s3test.Server) {
		s := mustOpen(t, at(server, "one"))
		_, _, err := s.Collect(t.Context(), func(func(event.Hash) error) error {
			if _, _, err := s.Collect(t.Context(), keeping()); !errors.Is(err, blob.ErrBusy) {
				t.Errorf("a collection beside another: %v, want ErrBusy", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Collect(t.Context(), keeping()); err != nil {
			t.Errorf("a collection after another: %v", err)
		}
	})
}

func TestPutRenewsWhatIsOlderThanHalfTheGrace(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, s3test.Strict)
	s := mustOpen(t, at(server, "renew"))
	h := mustPut(t, s, "a blob")
	name := h.String()
	file := filepath.Join(server.Dir, s3test.Bucket, "renew", name[:2], name[2:4], name)
	for hours, renewed := range map[time.Duration]bool{11: false, 13: true} {
		was := time.Now().Add(-hours * time.Hour)
		if err := os.Chtimes(file, was, was); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.Held(t.Context(), h); ok == renewed || err != nil {
			t.Errorf("a blob of %d hours is held: %t, %v", hours, ok, err)
		}
		mustPut(t, s, "a blob")
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.ModTime().After(was.Add(time.Minute)); got != renewed {
			t.Errorf("a blob of %d hours was put again, and is new: %t, want %t", hours, got, renewed)
		}
	}
}

// A writer that meets the list of what goes waits until it is over, and its blob is there then.
func TestWhoPutsWhatIsBeingCollectedWaits(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, server *s3test.Server) {
		opts := at(server, "waits")
		opts.Grace = -time.Hour
		s := mustOpen(t, opts)
		h := mustPut(t, s, "a blob")
		w := &sweep{s: s, list: s.prefix + listed + "by-a-test"}
		if err := w.begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := w.write(t.Context(), []event.Hash{h}); err != nil {
			t.Fatal(err)
		}
		soon, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := s.Put(soon, []byte("a blob")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("put of a blob that is being removed: %v, want that it waits", err)
		}
		done := make(chan error)
		go func() {
			_, err := s.Put(t.Context(), []byte("a blob"))
			done <- err
		}()
		if err := errors.Join(s.remove(t.Context(), s.name(h)), w.end(t.Context()), <-done); err != nil {
			t.Fatal(err)
		}
		if ok, err := s.Has(t.Context(), h); !ok || err != nil {
			t.Errorf("a blob that was put while it was removed is there: %t, %v", ok, err)
		}
	})
}

// events are what a ledger would have: names of blobs, appended within half the grace of a put.
type events struct {
	mu    sync.Mutex
	named map[event.Hash]bool
}

func (e *events) append(h event.Hash, put time.Time, within time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(put) >= within {
		return false
	}
	e.named[h] = true
	return true
}

func (e *events) keep(yield func(event.Hash) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for h := range e.named {
		if err := yield(h); err != nil {
			return err
		}
	}
	return nil
}

func TestNoAcknowledgedEventLacksABlobHoweverOftenOthersCollect(t *testing.T) {
	t.Parallel()
	need.Time(t, "64 writers beside a collector")
	rounds := need.Times(1, 20)
	both(t, func(t *testing.T, server *s3test.Server) {
		opts := at(server, "writers")
		opts.Grace = time.Second
		s := mustOpen(t, opts)
		removed, acknowledged := 0, 0
		for range rounds {
			// Who was named in the round before is named no more, as of a quest that was removed.
			e := &events{named: map[event.Hash]bool{}}
			r, err := writeAndCollect(t, s, e, 8*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			removed, acknowledged = removed+r, acknowledged+len(e.named)
			for h := range e.named {
				if _, err := s.Get(t.Context(), h); err != nil {
					t.Errorf("an event was acknowledged, and its blob is gone: %v", err)
				}
			}
		}
		if removed == 0 || acknowledged == 0 {
			t.Errorf("%d blobs were collected beside %d acknowledged events: nothing is proved", removed, acknowledged)
		}
		t.Logf("%d acknowledged, %d collected", acknowledged, removed)
	})
}

// writeAndCollect has 64 write and one collect for a time.
func writeAndCollect(t *testing.T, s *Store, e *events, d time.Duration) (removed int, err error) {
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	var work sync.WaitGroup
	for range 64 {
		work.Go(func() {
			for ctx.Err() == nil {
				// Few are named at once: the others grow old, until somebody puts and names one.
				text, begun := fmt.Sprintf("blob %d", rand.IntN(600)), time.Now()
				ref, err := s.Put(t.Context(), []byte(text))
				if err != nil {
					t.Error(err)
					return
				}
				if rand.IntN(8) == 0 {
					e.append(ref.Hash, begun, s.opts.Grace/2)
				}
				_ = pause(ctx, 500*time.Millisecond)
			}
		})
	}
	for ctx.Err() == nil && err == nil {
		var n int
		n, _, err = s.Collect(t.Context(), e.keep)
		removed += n
	}
	work.Wait()
	return removed, err
}

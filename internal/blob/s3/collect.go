package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/event"

	"github.com/minio/minio-go/v7"
)

const (
	// swath is how many blobs are removed between two writings of the list of what goes.
	swath = 500
	// sweepers is how many requests of a collection are under way at a time.
	sweepers = 16
	// tooLong is after what time the list of a swath is believed by nobody any more: who wrote it
	// is dead. Whoever lives has stopped removing by half of that.
	tooLong = 10 * time.Minute
)

// Collect implements blob.Collector beside all writers.
//
// A blob goes if keep does not yield it and its last put was the grace before Collect began. Who
// puts a blob that is younger than half of that has half of it for the event, and so the event
// was there when keep read; who puts an older one renews it, and meets the list of what goes.
// Only one collects at a time: another gets blob.ErrBusy. A store where somebody removes an
// object after the request for that was given up can still lose a blob that is put in that very moment.
func (s *Store) Collect(ctx context.Context, keep func(yield func(event.Hash) error) error) (removed int, size int64, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("collect blobs of s3://%s/%s: %w", s.bucket, s.prefix, err)
		}
	}()
	w := &sweep{s: s, list: s.prefix + listed + rand.Text()}
	if err := w.begin(ctx); err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, w.end(ctx)) }()
	marked := map[event.Hash]bool{}
	err = keep(func(h event.Hash) error {
		marked[h] = true
		return ctx.Err()
	})
	// keep may have stopped at our error and swallowed it.
	if err = errors.Join(err, ctx.Err()); err != nil {
		return 0, 0, err
	}
	if err = w.run(ctx, marked); err == nil {
		err = w.abortUploads(ctx)
	}
	if unsure := w.unsure.Load(); unsure != nil && err == nil && w.removed.Load() == 0 {
		err = fmt.Errorf("no blob could be removed: %w", *unsure)
	}
	return int(w.removed.Load()), w.bytes.Load(), err
}

// Spares is how long a blob stays that nobody has put again.
func (s *Store) Spares() time.Duration { return s.opts.Grace }

// listed begins the names of lists of what goes. There is no hash that begins so.
const listed = "going/"

// sweep is one collection.
type sweep struct {
	s      *Store
	list   string    // the name of its list
	began  time.Time // by the store's clock
	before time.Time // what was put since stays

	removed, bytes atomic.Int64
	// unsure is the last error of a removal that may have been made nevertheless.
	unsure atomic.Pointer[error]
}

// begin writes an empty list. Of two that begin at once each sees the other's, or one of them
// does: its own was written before it looked.
func (w *sweep) begin(ctx context.Context) error {
	if err := w.write(ctx, nil); err != nil {
		return err
	}
	lists, err := w.s.lists(ctx)
	for _, l := range lists {
		switch {
		case err != nil:
		case l.name == w.list:
			// Of an age that is too high at most by ticks, so this is early rather than late.
			w.began = l.made
			w.before = l.made.Add(-w.s.opts.Grace - tick)
		case l.age < tooLong:
			err = fmt.Errorf("somebody else collects them at the moment; try again when that is done: %w", blob.ErrBusy)
		default:
			err = w.s.remove(ctx, l.name)
		}
	}
	if err == nil && w.before.IsZero() {
		err = errors.New("the store does not show what was just written to it: it cannot be collected safely")
	}
	if err != nil {
		return errors.Join(err, w.end(ctx))
	}
	return nil
}

// end takes the list back, also when nobody waits any more.
func (w *sweep) end(ctx context.Context) error {
	return w.s.remove(context.WithoutCancel(ctx), w.list)
}

// write says which blobs go.
func (w *sweep) write(ctx context.Context, going []event.Hash) error {
	var b bytes.Buffer
	for _, h := range going {
		b.WriteString(h.String() + "\n")
	}
	return w.s.retry(ctx, int64(b.Len()), func(ctx context.Context, a *answer) error {
		_, err := w.s.core.PutObject(ctx, w.s.bucket, w.list, bytes.NewReader(b.Bytes()), int64(b.Len()), "", event.HashOf(b.Bytes()).String(), w.s.putOptions())
		return err
	})
}

// list is one list of what goes.
type list struct {
	name string
	made time.Time
	age  time.Duration
}

func (s *Store) lists(ctx context.Context) (all []list, err error) {
	var a *answer
	err = s.each(ctx, listed, &a, func(o minio.ObjectInfo) error {
		date, err := a.date()
		all = append(all, list{o.Key, o.LastModified, date.Sub(o.LastModified)})
		return err
	})
	return all, err
}

// condemned reports whether somebody is about to remove a blob.
func (s *Store) condemned(ctx context.Context, h event.Hash) (bool, error) {
	lists, err := s.lists(ctx)
	if err != nil {
		return false, err
	}
	for _, l := range lists {
		if l.age >= tooLong {
			continue
		}
		r := &reader{ctx: ctx, s: s, name: l.name}
		err := r.open()
		if errors.Is(err, blob.ErrNotFound) {
			continue // it is over
		}
		if err != nil {
			return false, err
		}
		text, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return false, err
		}
		if strings.Contains(string(text), h.String()) {
			return true, nil
		}
	}
	return false, nil
}

// each visits the objects below a part of the space. a is the last answer meanwhile. An error of
// a later page is not tried again but returned: whoever lists begins anew.
func (s *Store) each(ctx context.Context, below string, a **answer, visit func(minio.ObjectInfo) error) error {
	var wrong error
	err := s.retry(ctx, 0, func(_ context.Context, heard *answer) error {
		*a = heard
		within, stop := context.WithCancel(heard.within(ctx))
		defer stop()
		begun := false
		for o := range s.core.ListObjectsIter(within, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + below, Recursive: true}) {
			if o.Err != nil {
				if begun {
					wrong = o.Err
					return nil
				}
				return o.Err
			}
			begun = true
			if wrong = visit(o); wrong != nil {
				return nil
			}
		}
		return nil
	})
	return errors.Join(err, wrong)
}

// run removes what is not marked, swath by swath.
func (w *sweep) run(ctx context.Context, marked map[event.Hash]bool) error {
	var going []event.Hash
	var a *answer
	err := w.s.each(ctx, "", &a, func(o minio.ObjectInfo) error {
		h, ours := w.s.hashOf(o.Key)
		if !ours || marked[h] || !o.LastModified.Before(w.before) {
			return nil
		}
		if going = append(going, h); len(going) < swath {
			return nil
		}
		err := w.mow(ctx, going)
		going = going[:0]
		return err
	})
	if err != nil || len(going) == 0 {
		return err
	}
	return w.mow(ctx, going)
}

// mow removes a swath of blobs. They are looked at once more after they were written down: one
// that somebody has put meanwhile stays.
func (w *sweep) mow(ctx context.Context, going []event.Hash) error {
	ctx, stop := context.WithTimeout(ctx, tooLong/2)
	defer stop()
	if err := w.write(ctx, going); err != nil {
		return err
	}
	var work sync.WaitGroup
	var mu sync.Mutex
	var wrong error
	for lane := range slices.Chunk(going, (len(going)+sweepers-1)/sweepers) {
		work.Go(func() {
			for _, h := range lane {
				if err := w.cut(ctx, h); err != nil {
					mu.Lock()
					wrong = errors.Join(wrong, err)
					mu.Unlock()
					return
				}
			}
		})
	}
	work.Wait()
	return wrong
}

// cut removes one blob if it is as old as it was. The request is made once: a second one could
// come after somebody has put the blob anew.
func (w *sweep) cut(ctx context.Context, h event.Hash) error {
	there, err := w.s.stat(ctx, w.s.name(h))
	if errors.Is(err, blob.ErrNotFound) || err == nil && !there.made.Before(w.before) {
		return nil
	}
	if err != nil {
		return err
	}
	err = w.s.once(ctx, 0, func(ctx context.Context, _ *answer) error {
		return w.s.core.RemoveObject(ctx, w.s.bucket, w.s.name(h), minio.RemoveObjectOptions{})
	})
	if err != nil && passing(err) {
		w.unsure.Store(&err)
		return nil // the next collection looks at it again
	}
	if err != nil {
		return fmt.Errorf("remove blob %s: %w", h, err)
	}
	w.removed.Add(1)
	w.bytes.Add(blob.Blocks(there.size))
	return nil
}

// remove removes an object that is nobody's blob.
func (s *Store) remove(ctx context.Context, name string) error {
	err := s.retry(ctx, 0, func(ctx context.Context, _ *answer) error {
		return s.core.RemoveObject(ctx, s.bucket, name, minio.RemoveObjectOptions{})
	})
	if errors.Is(err, blob.ErrNotFound) {
		return nil
	}
	return err
}

// abortUploads ends uploads that somebody began and did not finish. Who is at one still meets an
// error and begins anew.
func (w *sweep) abortUploads(ctx context.Context) error {
	var old []minio.ObjectMultipartInfo
	err := w.s.retry(ctx, 0, func(_ context.Context, _ *answer) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		old = nil
		for u := range w.s.core.ListIncompleteUploads(ctx, w.s.bucket, w.s.prefix, true) {
			if u.Err != nil {
				return u.Err
			}
			// Some tell folders of uploads instead, which have no number.
			if u.UploadID != "" && u.Initiated.Before(w.began.Add(-w.s.opts.Unfinished)) {
				old = append(old, u)
			}
		}
		return nil
	})
	if code(err) == minio.NoSuchUpload || code(err) == "NotImplemented" {
		err = nil // some say so when there are none
	}
	for _, u := range old {
		err = errors.Join(err, w.s.retry(ctx, 0, func(ctx context.Context, _ *answer) error {
			return w.s.core.AbortMultipartUpload(ctx, w.s.bucket, u.Key, u.UploadID)
		}))
	}
	return err
}

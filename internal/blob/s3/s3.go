// Package s3 keeps blobs as objects of an S3 store: space/ab/cd/abcd…, each named by the SHA-256
// of its content.
//
// The store may be lax. Puts carry the sum of the content and the condition that nothing stands
// under the name, but neither is relied on: whatever is read is summed here, and two who put one
// blob put the same bytes. What is relied on: an object that a request was answered for is there
// for the next one, and an object appears whole. A store that writes in place breaks that where
// two put the same blob at once, so those of one Store do it one after the other.
//
// Content of unknown length is spooled to a nameless file first, for its name is its sum. Above
// 64 MiB it goes up in parts. Who is killed leaves at most an unfinished upload, which Collect
// aborts after a day.
//
// An answer of 5xx or 429, and a line that is cut, are tried again with growing pauses for a
// minute; any other refusal is an error at once. A put that is repeated stores the same bytes.
//
// Collect works beside all writers (collect.go): it removes what keep does not yield and nobody
// has put for the grace, by the store's clock. The clock of this machine decides nothing.
package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/event"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"
)

const (
	// partSize is up to which length content is sent at once, and the length of the parts above.
	partSize = 64 << 20
	// Grace is how long a blob stays that no event names.
	Grace = 24 * time.Hour
	// unfinished is how old uploads are that Collect aborts.
	unfinished = 24 * time.Hour
	// tick is by how much a time that the store tells may be behind: seconds are cut off, and
	// some servers look at their clock once a second.
	tick = 2 * time.Second
)

// Store is a part of a bucket. It implements blob.Store.
type Store struct {
	opts   Options
	core   minio.Core
	sse    encrypt.ServerSide
	bucket string
	prefix string // ends with a slash
	part   int64
	began  time.Time
	lines  *http.Transport
	puts   *puts
}

// puts are the blobs that are being put.
type puts struct {
	mu sync.Mutex
	// over is closed when the put is over. mu guards the map.
	over map[event.Hash]chan struct{}
}

// Close lets go of the connections. Readers may finish.
func (s *Store) Close() { s.lines.CloseIdleConnections() }

// placed is what the store says of an object: its size, and how old it is at most, by the
// store's clock.
type placed struct {
	size int64
	age  time.Duration
	made time.Time // seconds are cut off
}

func (s *Store) name(h event.Hash) string {
	hex := h.String()
	return s.prefix + hex[:2] + "/" + hex[2:4] + "/" + hex
}

// hashOf reads a name of an object. Others may have objects in the bucket, too.
func (s *Store) hashOf(name string) (event.Hash, bool) {
	h, err := event.ParseHash(name[strings.LastIndexByte(name, '/')+1:])
	return h, err == nil && s.name(h) == name
}

// where tells a person where an object is.
func (s *Store) where(h event.Hash) string { return "s3://" + s.bucket + "/" + s.name(h) }

// stat looks for an object. It returns blob.ErrNotFound if there is none.
func (s *Store) stat(ctx context.Context, name string) (p placed, err error) {
	err = s.retry(ctx, 0, func(ctx context.Context, a *answer) error {
		info, err := s.core.StatObject(ctx, s.bucket, name, minio.StatObjectOptions{})
		if err != nil {
			return err
		}
		date, err := a.date()
		if err != nil {
			return err
		}
		p = placed{size: info.Size, age: date.Sub(info.LastModified) + tick, made: info.LastModified}
		return nil
	})
	return p, err
}

// Has implements blob.Store.
func (s *Store) Has(ctx context.Context, h event.Hash) (bool, error) {
	_, err := s.stat(ctx, s.name(h))
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for blob %s: %w", h, err)
	}
	return true, nil
}

// Held implements blob.Holder.
func (s *Store) Held(ctx context.Context, h event.Hash) (bool, error) {
	p, err := s.stat(ctx, s.name(h))
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for blob %s: %w", h, err)
	}
	return p.age < s.opts.Grace/2, nil
}

// tenure is a time in which nothing that was held at its begin is collected.
type tenure struct {
	of    *Store
	count int64
}

// Since implements blob.Steady. What is held is younger than half of the grace: for a quarter
// of it nobody needs to ask again, and a quarter is left for the event that names the blob.
func (s *Store) Since() any {
	return tenure{s, int64(now().Sub(s.began) / max(s.opts.Grace/4, 1))}
}

// Put implements blob.Store.
func (s *Store) Put(ctx context.Context, data []byte) (event.Ref, error) {
	ref := event.RefOf(data)
	if err := s.put(ctx, ref, bytes.NewReader(data)); err != nil {
		return event.Ref{}, fmt.Errorf("put blob %s: %w", ref.Hash, err)
	}
	return ref, nil
}

// Create implements blob.Store.
func (s *Store) Create(ctx context.Context, r io.Reader) (event.Ref, error) {
	if err := ctx.Err(); err != nil {
		return event.Ref{}, err
	}
	f, err := os.CreateTemp(s.opts.Spool, "lyceum-blob-*")
	if err != nil {
		return event.Ref{}, fmt.Errorf("put blob: %w", err)
	}
	defer f.Close()
	// Without a name, it goes with the process however that ends.
	if err := os.Remove(f.Name()); err != nil {
		return event.Ref{}, fmt.Errorf("put blob: %w", err)
	}
	ref, err := spool(f, blob.Interruptible(ctx, r))
	if err == nil {
		err = s.put(ctx, ref, f)
	}
	if err != nil {
		return event.Ref{}, fmt.Errorf("put blob: %w", err)
	}
	return ref, nil
}

// Get implements blob.Store.
func (s *Store) Get(ctx context.Context, h event.Hash) ([]byte, error) {
	r, err := s.Open(ctx, h)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", h, err)
	}
	return data, nil
}

// Open implements blob.Store.
func (s *Store) Open(ctx context.Context, h event.Hash) (io.ReadCloser, error) {
	r, err := s.OpenAt(ctx, h, 0)
	if err != nil {
		return nil, err
	}
	return blob.Verify(r, h, s.where(h)), nil
}

// OpenAt implements blob.Ranger.
func (s *Store) OpenAt(ctx context.Context, h event.Hash, from int64) (io.ReadCloser, error) {
	r := &reader{ctx: ctx, s: s, name: s.name(h), at: from}
	if err := r.open(); err != nil {
		return nil, fmt.Errorf("read blob %s: %w", h, err)
	}
	return r, nil
}

// reader reads an object. Where the line is cut it goes on at the same place.
type reader struct {
	ctx  context.Context
	s    *Store
	name string
	at   int64
	body io.ReadCloser
	stop context.CancelFunc
	// stuck is since when nothing has come, if the line was cut since.
	stuck time.Time
}

func (r *reader) open() error {
	return r.s.retry(r.ctx, 0, func(_ context.Context, a *answer) error {
		var opts minio.GetObjectOptions
		if r.at > 0 {
			if err := opts.SetRange(r.at, 0); err != nil {
				return err
			}
		}
		// Not the context of the try: it ends with the try, and reading goes on after it.
		ctx, stop := context.WithCancel(a.within(r.ctx))
		body, _, _, err := r.s.core.GetObject(ctx, r.s.bucket, r.name, opts)
		if a.status == http.StatusRequestedRangeNotSatisfiable && r.at > 0 {
			body, err = io.NopCloser(bytes.NewReader(nil)), nil // the very end
		}
		if err == nil && r.at > 0 && a.header.Get("Content-Range") == "" {
			err = skip(body, r.at) // it does not know ranges
		}
		if err != nil {
			stop()
			return err
		}
		r.body, r.stop = body, stop
		return nil
	})
}

// skip reads over what was read before. The body may be empty: some say so when nothing follows.
func skip(body io.Reader, n int64) error {
	if _, err := io.CopyN(io.Discard, body, n); err != io.EOF {
		return err
	}
	return nil
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	for {
		n, err := r.body.Read(p)
		if r.at += int64(n); n > 0 {
			r.stuck = time.Time{}
		}
		if err == nil || err == io.EOF || n > 0 && passing(err) {
			if err != io.EOF {
				err = nil
			}
			return n, err
		}
		if r.ctx.Err() != nil {
			return n, r.ctx.Err()
		}
		if r.stuck.IsZero() {
			r.stuck = now()
		}
		if !passing(err) || now().Sub(r.stuck) > r.s.opts.Patience {
			return n, err
		}
		_ = r.Close() // it is broken
		if err := r.open(); err != nil {
			return n, err
		}
	}
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.stop()
	return r.body.Close()
}

var (
	_ blob.Store     = (*Store)(nil)
	_ blob.Ranger    = (*Store)(nil)
	_ blob.Steady    = (*Store)(nil)
	_ blob.Holder    = (*Store)(nil)
	_ blob.Collector = (*Store)(nil)
)

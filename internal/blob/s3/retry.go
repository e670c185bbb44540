package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"syscall"
	"time"

	"lyceum/internal/blob"

	"github.com/minio/minio-go/v7"
)

const (
	firstPause, longestPause = 100 * time.Millisecond, 5 * time.Second
	// silent is how long a try may take beside what its bytes need on a slow line.
	silent  = time.Minute
	slowest = 256 << 10 // bytes a second
)

// answer is what is known of the last answer of the store beside what the client tells.
type answer struct {
	status int
	header http.Header
}

type answerKey struct{}

// within is a context in which the answer to a request is kept.
func (a *answer) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, answerKey{}, a)
}

// date is the store's clock at the answer.
func (a *answer) date() (time.Time, error) {
	t, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return t, fmt.Errorf("the store does not say what time it is (Date: %q): ages of blobs cannot be known; use another store", a.header.Get("Date"))
	}
	return t, nil
}

// listening keeps the answers of those who asked for that.
type listening struct{ http.RoundTripper }

func (l listening) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(req)
	if a, ok := req.Context().Value(answerKey{}).(*answer); ok && err == nil {
		a.status, a.header = resp.StatusCode, resp.Header
	}
	return resp, err
}

// retry tries a request that sends so many bytes until it is answered for good, for as long as
// the store's patience, with growing pauses that are never the same for two.
func (s *Store) retry(ctx context.Context, size int64, try func(ctx context.Context, a *answer) error) error {
	until := now().Add(s.opts.Patience)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.once(ctx, size, try)
		if err == nil || !passing(err) {
			return explain(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		wait := pause/2 + rand.N(pause/2)
		if now().Add(wait).After(until) {
			return fmt.Errorf("after trying for %v: %w", s.opts.Patience, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// once makes one try of a request.
func (s *Store) once(ctx context.Context, size int64, try func(ctx context.Context, a *answer) error) error {
	limit := silent + time.Duration(size/slowest)*time.Second
	within, stop := context.WithTimeout(ctx, limit)
	defer stop()
	a := &answer{}
	err := try(a.within(within), a)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// passing reports whether an error may go away by itself.
func passing(err error) bool {
	if refused, ok := errors.AsType[minio.ErrorResponse](err); ok && refused.StatusCode != 0 {
		// A conflict is with another's request, and over when that is.
		return refused.StatusCode >= 500 && refused.StatusCode != http.StatusNotImplemented || refused.StatusCode == http.StatusTooManyRequests || refused.StatusCode == http.StatusConflict
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return !permanent(err)
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, context.DeadlineExceeded)
}

// explain makes what is not there an ErrNotFound.
func explain(err error) error {
	if refused, ok := errors.AsType[minio.ErrorResponse](err); ok && refused.StatusCode == http.StatusNotFound && refused.Code != minio.NoSuchBucket && refused.Code != minio.NoSuchUpload {
		return blob.ErrNotFound
	}
	return err
}

// code is the store's word for why it refused, or "".
func code(err error) string {
	refused, _ := errors.AsType[minio.ErrorResponse](err)
	return refused.Code
}

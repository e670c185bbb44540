package s3

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/event"

	"github.com/minio/minio-go/v7"
)

// atOnce is how many parts of one blob are sent at the same time.
const atOnce = 4

// spool writes what r yields to a file and sums it up.
func spool(f *os.File, r io.Reader) (event.Ref, error) {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), r)
	return event.Ref{Hash: event.Hash(sum.Sum(nil)), Size: n}, err
}

// put stores content unless the store has it and keeps it long enough.
func (s *Store) put(ctx context.Context, ref event.Ref, body io.ReaderAt) error {
	name := s.name(ref.Hash)
	end, err := s.puts.begin(ctx, ref.Hash)
	if err != nil {
		return err
	}
	defer end()
	for {
		there, err := s.stat(ctx, name)
		switch {
		case errors.Is(err, blob.ErrNotFound):
			made, err := s.first(ctx, ref, body)
			if made || err != nil {
				return err
			}
			// Somebody else was first, and may not be done.
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return err
			}
		case err != nil:
			return err
		case there.size == ref.Size && there.age < s.opts.Grace/2:
			return nil
		default:
			// Too old, or not the blob: being put anew is the best that can happen to either.
			return s.renew(ctx, ref, body)
		}
	}
}

// begin waits until nobody else of this Store puts a blob. The next one may after end.
func (p *puts) begin(ctx context.Context, h event.Hash) (end func(), err error) {
	for {
		p.mu.Lock()
		other, busy := p.over[h]
		if !busy {
			mine := make(chan struct{})
			p.over[h] = mine
			p.mu.Unlock()
			return func() {
				p.mu.Lock()
				delete(p.over, h)
				p.mu.Unlock()
				close(mine)
			}, nil
		}
		p.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// first stores what is not there, and charges for it. It reports whether it did.
func (s *Store) first(ctx context.Context, ref event.Ref, body io.ReaderAt) (made bool, err error) {
	cost := blob.Blocks(ref.Size)
	if err := blob.Charge(ctx, cost); err != nil {
		return false, err
	}
	if made, err = s.send(ctx, ref, body, true); !made {
		_ = blob.Charge(ctx, -cost) // giving back is never refused
	}
	return made, err
}

// renew stores what is there once more, so that it is young. A collection may be about to remove
// it: whoever collects writes down what goes (see sweep) before it looks at ages for the last time, and takes
// that back when all of it is gone. So a blob that was put, then is not written down, and then is
// there, is not removed: either it was put before that last look, and is young to it, or what
// was written down then is over.
func (s *Store) renew(ctx context.Context, ref event.Ref, body io.ReaderAt) error {
	for {
		if _, err := s.send(ctx, ref, body, false); err != nil {
			return err
		}
		condemned, err := s.condemned(ctx, ref.Hash)
		if err != nil {
			return err
		}
		if !condemned {
			if _, err := s.stat(ctx, s.name(ref.Hash)); !errors.Is(err, blob.ErrNotFound) {
				return err
			}
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// pause waits for about a time.
func pause(ctx context.Context, about time.Duration) error {
	select {
	case <-time.After(about/2 + rand.N(about)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// send uploads content. With fresh it does so only if nothing is there, as far as the store
// knows such conditions, and reports whether it did.
func (s *Store) send(ctx context.Context, ref event.Ref, body io.ReaderAt, fresh bool) (made bool, err error) {
	if ref.Size > s.part {
		return true, s.sendParts(ctx, ref, body)
	}
	opts := s.putOptions()
	opts.UserMetadata = map[string]string{"X-Amz-Checksum-Sha256": base64.StdEncoding.EncodeToString(ref.Hash[:])}
	if fresh {
		opts.SetMatchETagExcept("*")
	}
	tries, conflict := 0, false
	err = s.retry(ctx, ref.Size, func(ctx context.Context, a *answer) error {
		tries++
		_, err := s.core.PutObject(ctx, s.bucket, s.name(ref.Hash), io.NewSectionReader(body, 0, ref.Size), ref.Size, "", ref.Hash.String(), opts)
		if conflict = fresh && a.status == http.StatusConflict; conflict {
			return nil // somebody else puts it
		}
		if err != nil {
			return err
		}
		return s.confirm(a.header)
	})
	if refused, ok := errors.AsType[minio.ErrorResponse](err); ok && fresh && refused.StatusCode == http.StatusPreconditionFailed {
		// After a line that was cut the one that was first may have been ourselves.
		return tries > 1, nil
	}
	return err == nil && !conflict, err
}

func (s *Store) putOptions() minio.PutObjectOptions {
	// The sum is known, so it is signed instead of the pieces: not every store reads those.
	return minio.PutObjectOptions{ServerSideEncryption: s.sse, ContentType: "application/octet-stream", DisableContentSha256: true}
}

// sendParts uploads content in parts. The object appears when all are there.
func (s *Store) sendParts(ctx context.Context, ref event.Ref, body io.ReaderAt) (err error) {
	name, upload := s.name(ref.Hash), ""
	err = s.retry(ctx, 0, func(ctx context.Context, a *answer) (err error) {
		if upload, err = s.core.NewMultipartUpload(ctx, s.bucket, name, s.putOptions()); err != nil {
			return err
		}
		return s.confirm(a.header)
	})
	if err != nil {
		return err
	}
	parts, err := s.parts(ctx, name, upload, ref.Size, body)
	if err == nil {
		err = s.complete(ctx, name, upload, ref.Size, parts)
	}
	if err != nil {
		// Also when nobody waits any more. One that stays is aborted by Collect.
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer stop()
		_ = s.core.AbortMultipartUpload(ctx, s.bucket, name, upload)
	}
	return err
}

// parts sends all parts, several at a time. The first that cannot be sent ends the others.
func (s *Store) parts(ctx context.Context, name, upload string, size int64, body io.ReaderAt) ([]minio.CompletePart, error) {
	parts := make([]minio.CompletePart, (size+s.part-1)/s.part)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	slots := make(chan struct{}, atOnce)
	var work sync.WaitGroup
	for i := range parts {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		work.Go(func() {
			defer func() { <-slots }()
			from := int64(i) * s.part
			part, err := s.sendPart(ctx, name, upload, i+1, io.NewSectionReader(body, from, min(s.part, size-from)))
			if err != nil {
				stop(fmt.Errorf("part %d of %d: %w", i+1, len(parts), err))
			}
			parts[i] = part
		})
	}
	work.Wait()
	return parts, context.Cause(ctx)
}

func (s *Store) sendPart(ctx context.Context, name, upload string, number int, body *io.SectionReader) (minio.CompletePart, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return minio.CompletePart{}, err
	}
	var part minio.ObjectPart
	err := s.retry(ctx, body.Size(), func(ctx context.Context, _ *answer) (err error) {
		again := io.NewSectionReader(body, 0, body.Size())
		part, err = s.core.PutObjectPart(ctx, s.bucket, name, upload, number, again, body.Size(), minio.PutObjectPartOptions{Sha256Hex: hex.EncodeToString(sum.Sum(nil)), DisableContentSha256: true})
		return err
	})
	return minio.CompletePart{PartNumber: number, ETag: part.ETag}, err
}

// complete makes an object of the parts. The answer may be lost: an upload that is not known then
// has become the object, which is there.
func (s *Store) complete(ctx context.Context, name, upload string, size int64, parts []minio.CompletePart) error {
	err := s.retry(ctx, 0, func(ctx context.Context, _ *answer) error {
		_, err := s.core.CompleteMultipartUpload(ctx, s.bucket, name, upload, parts, minio.PutObjectOptions{})
		return err
	})
	if code(err) == minio.NoSuchUpload {
		if there, unseen := s.stat(ctx, name); unseen == nil && there.size == size {
			return nil
		}
	}
	return err
}

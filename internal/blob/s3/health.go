package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"

	"lyceum/internal/blob"
	"lyceum/internal/event"

	"github.com/minio/minio-go/v7"
)

// Health is what a store does with an object that is written, read and deleted again.
type Health struct {
	// Conditions says that it refuses to replace what is said to be new, Checksums that it refuses content that is not
	// what its sum says. Neither is needed.
	Conditions, Checksums bool
	// Encrypted is what the store says it encrypts with, empty if it says nothing.
	Encrypted string
}

// Examine tries a store out with an object of its own below space/probe/, which is gone afterwards. The error says what
// does not work, and what to do about it.
func Examine(ctx context.Context, opts Options) (*Health, error) {
	s, err := Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	h := new(Health)
	name := s.prefix + "probe/" + rand.Text()
	err = h.try(ctx, s, name)
	if gone := s.remove(ctx, name); gone != nil {
		err = errors.Join(err, fmt.Errorf("delete it: %w", s.advise(gone)))
	} else if _, there := s.stat(ctx, name); err == nil && !errors.Is(there, blob.ErrNotFound) {
		err = errors.Join(errors.New("an object that was deleted is still there: use a store that shows what it has answered for"), there)
	}
	if err != nil {
		return nil, fmt.Errorf("try out bucket %s at %s with an object of its own: %w", s.bucket, s.opts.Endpoint, err)
	}
	return h, nil
}

func (h *Health) try(ctx context.Context, s *Store, name string) error {
	data := []byte("Lyceum was here to see whether this store keeps what it is given.")
	sum, other := event.HashOf(data), event.HashOf(nil)
	header, err := s.probePut(ctx, name, data, sum, true)
	if err != nil {
		return fmt.Errorf("write it: %w", s.advise(err))
	}
	h.Encrypted = header.Get("X-Amz-Server-Side-Encryption")
	var back []byte
	err = s.retry(ctx, 0, func(ctx context.Context, _ *answer) error {
		body, _, _, err := s.core.GetObject(ctx, s.bucket, name, minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		back, err = io.ReadAll(body)
		return errors.Join(err, body.Close())
	})
	if err != nil {
		return fmt.Errorf("read it: %w", s.advise(err))
	}
	if !bytes.Equal(back, data) {
		return errors.New("what is read is not what was written: use another store")
	}
	_, err = s.probePut(ctx, name, data, sum, true)
	h.Conditions = refusal(err)
	_, err = s.probePut(ctx, name, data, other, false)
	h.Checksums = refusal(err)
	return nil
}

// probePut writes an object with the sum of something, as one that is new or not.
func (s *Store) probePut(ctx context.Context, name string, data []byte, sum event.Hash, fresh bool) (header http.Header, err error) {
	opts := s.putOptions()
	opts.UserMetadata = map[string]string{"X-Amz-Checksum-Sha256": base64.StdEncoding.EncodeToString(sum[:])}
	if fresh {
		opts.SetMatchETagExcept("*")
	}
	err = s.retry(ctx, int64(len(data)), func(ctx context.Context, a *answer) error {
		_, err := s.core.PutObject(ctx, s.bucket, name, bytes.NewReader(data), int64(len(data)), "", event.HashOf(data).String(), opts)
		header = a.header
		if err != nil {
			return err
		}
		return s.confirm(a.header)
	})
	return header, err
}

// refusal reports whether an error is the store's word that a request will not do.
func refusal(err error) bool {
	refused, ok := errors.AsType[minio.ErrorResponse](err)
	return ok && refused.StatusCode >= 400 && refused.StatusCode < 500
}

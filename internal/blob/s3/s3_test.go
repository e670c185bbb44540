package s3

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/blob/s3/s3test"
	"lyceum/internal/event"

	"go.uber.org/goleak"
)

// The tests run in parallel and the environment is one: it has the right credentials, and a file
// with wrong ones.
func TestMain(m *testing.M) {
	if endpoint := os.Getenv(writer); endpoint != "" {
		fmt.Fprintln(os.Stderr, write(endpoint))
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "lyceum-s3-")
	if err != nil {
		panic(err)
	}
	wrong := filepath.Join(dir, "credentials")
	err = errors.Join(os.WriteFile(wrong, []byte("[default]\naws_access_key_id = test\naws_secret_access_key = not-this-one\n"), 0o600),
		os.Setenv("AWS_ACCESS_KEY_ID", s3test.Key), os.Setenv("AWS_SECRET_ACCESS_KEY", s3test.Secret),
		os.Setenv("AWS_SHARED_CREDENTIALS_FILE", wrong), os.Setenv("AWS_CONFIG_FILE", filepath.Join(dir, "none")))
	if err != nil {
		panic(err)
	}
	code := m.Run()
	if err := errors.Join(goleak.Find(), os.RemoveAll(dir)); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// at are the options of a space of a server.
func at(s *s3test.Server, space string) Options {
	return Options{Endpoint: s.Endpoint, Bucket: s3test.Bucket, Space: space, PathStyle: true}
}

func mustOpen(t *testing.T, opts Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// both runs a test with each sort of server.
func both(t *testing.T, run func(*testing.T, *s3test.Server)) {
	for _, kind := range []s3test.Kind{s3test.Strict, s3test.Lax} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			run(t, s3test.Start(t, kind))
		})
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, server *s3test.Server) {
		var n atomic.Int64
		blobtest.Exercise(t, func(t *testing.T) blob.Store {
			return mustOpen(t, at(server, fmt.Sprintf("space-%d", n.Add(1))))
		})
	})
}

func TestLargeBlobsGoUpInParts(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, server *s3test.Server) {
		s := mustOpen(t, at(server, "parts"))
		s.part = 5 << 20 // the least that stores take
		data := blobtest.Bytes(23<<20+17, 3)
		ref, err := s.Create(t.Context(), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), ref.Hash); err != nil || !bytes.Equal(got, data) {
			t.Errorf("of %d bytes in five parts came back %d others, or an error: %v", len(data), len(got), err)
		}
		name := ref.Hash.String()
		if _, err := os.Stat(filepath.Join(server.Dir, s3test.Bucket, "parts", name[:2], name[2:4], name)); err != nil {
			t.Errorf("the blob is not at space/ab/cd/sum: %v", err)
		}
	})
}

func TestWhatIsReadIsSummedHere(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, server *s3test.Server) {
		s := mustOpen(t, at(server, "damage"))
		ref, err := s.Put(t.Context(), []byte("right"))
		if err != nil {
			t.Fatal(err)
		}
		name := ref.Hash.String()
		if err := os.WriteFile(filepath.Join(server.Dir, s3test.Bucket, "damage", name[:2], name[2:4], name), []byte("wrong"), 0o600); err != nil {
			t.Fatal(err)
		}
		var damage *blob.DamageError
		if data, err := s.Get(t.Context(), ref.Hash); !errors.As(err, &damage) || damage.Hash != ref.Hash {
			t.Errorf("Get of changed content: %q, %v, want damage of %s", data, err, ref.Hash)
		}
		if _, err := s.Put(t.Context(), []byte("right!")); err != nil {
			t.Fatal(err)
		}
	})
}

func TestThePutSaysItsSumAndThatItIsTheFirst(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, s3test.Strict)
	s := mustOpen(t, at(server, "first"))
	ref := event.RefOf([]byte("one"))
	if made, err := s.send(t.Context(), ref, bytes.NewReader([]byte("one")), true); !made || err != nil {
		t.Fatalf("the first put: %t, %v", made, err)
	}
	if made, err := s.send(t.Context(), ref, bytes.NewReader([]byte("one")), true); made || err != nil {
		t.Errorf("the second put of a blob: %t, %v, want that it was there", made, err)
	}
	other := event.RefOf([]byte("two"))
	if _, err := s.send(t.Context(), other, bytes.NewReader([]byte("2wo")), true); err == nil {
		t.Error("a strict store took content with another sum")
	}
	if ok, err := s.Has(t.Context(), other.Hash); ok || err != nil {
		t.Errorf("what was refused is there: %t, %v", ok, err)
	}
}

// The lax one does not list uploads by their numbers: it ends old ones itself.
func TestAnUploadThatNobodyFinishedIsAborted(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, s3test.Strict)
	s := mustOpen(t, at(server, "unfinished"))
	h := event.HashOf([]byte("never finished"))
	if _, err := s.core.NewMultipartUpload(t.Context(), s.bucket, s.name(h), s.putOptions()); err != nil {
		t.Fatal(err)
	}
	uploads := func() (n int) {
		for u := range s.core.ListIncompleteUploads(t.Context(), s.bucket, s.prefix, true) {
			if u.Err != nil {
				t.Fatalf("list uploads: %v", u.Err)
			}
			n++
		}
		return n
	}
	if _, _, err := s.Collect(t.Context(), keeping()); err != nil || uploads() != 1 {
		t.Errorf("an upload of a moment ago, after a collection: %d, %v, want that it stays", uploads(), err)
	}
	opts := at(server, "unfinished")
	opts.Unfinished = -time.Hour // so every one is old
	if _, _, err := mustOpen(t, opts).Collect(t.Context(), keeping()); err != nil || uploads() != 0 {
		t.Errorf("an upload that is too old, after a collection: %d, %v, want none", uploads(), err)
	}
	if ok, err := s.Has(t.Context(), h); ok || err != nil {
		t.Errorf("an upload without an end is a blob: %t, %v", ok, err)
	}
}

func TestCollectEndsBesideAnUnfinishedUpload(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, at(s3test.Start(t, s3test.Lax), "unfinished"))
	if _, err := s.core.NewMultipartUpload(t.Context(), s.bucket, s.name(event.HashOf(nil)), s.putOptions()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Collect(t.Context(), keeping()); err != nil {
		t.Errorf("a collection beside an upload that a lax store lists as a folder: %v", err)
	}
}

func keeping(hashes ...event.Hash) func(func(event.Hash) error) error {
	return func(yield func(event.Hash) error) error {
		for _, h := range hashes {
			if err := yield(h); err != nil {
				return err
			}
		}
		return nil
	}
}

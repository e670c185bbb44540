package fs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/event"

	"github.com/google/go-cmp/cmp"
)

// older moves the blobs of a store to where stores had them before: two folders down.
func older(t *testing.T, dir string) {
	t.Helper()
	for _, name := range files(t, dir) {
		base := filepath.Base(name)
		deep := filepath.Join(dir, base[:2], base[2:4])
		must(t, os.MkdirAll(deep, 0o700))
		must(t, os.Rename(filepath.Join(dir, name), filepath.Join(deep, base)))
	}
}

// deep are the files of a store that are where they were before.
func deep(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, name := range files(t, dir) {
		if strings.Count(name, "/") == 2 {
			names = append(names, name)
		}
	}
	return names
}

// TestAnOlderStore: blobs two folders down are as good as the others, and stay there until
// they are packed, written anew or collected.
func TestAnOlderStore(t *testing.T) {
	t.Parallel()
	small, tight := "small", strings.Repeat("it is packed at once ", 1000)
	begin := func(t *testing.T) *Store {
		t.Helper()
		s := idle(t, t.TempDir())
		put(t, s, small)
		put(t, s, tight)
		put(t, s, string(text()))
		older(t, s.dir)
		if n := len(deep(t, s.dir)); n != 3 {
			t.Fatalf("%d blobs were moved, want 3", n)
		}
		return s
	}
	t.Run("IsRead", func(t *testing.T) {
		t.Parallel()
		s := begin(t)
		for _, content := range []string{small, tight, string(text())} {
			h := event.HashOf([]byte(content))
			if ok, err := s.Has(t.Context(), h); err != nil || !ok {
				t.Errorf("has: got %t, %v", ok, err)
			}
			if got, err := s.Get(t.Context(), h); err != nil || string(got) != content {
				t.Errorf("get: %d other bytes or an error: %v", len(got), err)
			}
			in, err := s.OpenAt(t.Context(), h, 3)
			must(t, err)
			if got, err := io.ReadAll(in); err != nil || string(got) != content[3:] {
				t.Errorf("read from a place on: %d other bytes or an error: %v", len(got), err)
			}
			must(t, in.Close())
		}
	})
	t.Run("IsListedInOrderWithWhatIsNew", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		for i := range 200 {
			put(t, s, strings.Repeat("x", i))
			if i == 99 {
				older(t, s.dir)
			}
			if i > 150 { // in both places
				name := event.HashOf([]byte(strings.Repeat("x", i))).String()
				other := filepath.Join(s.dir, name[:2], name[2:4], name)
				must(t, os.MkdirAll(filepath.Dir(other), 0o700))
				must(t, os.Link(s.path(event.HashOf([]byte(strings.Repeat("x", i)))), other))
			}
		}
		last, n := event.Hash{}, 0
		for held, err := range s.List(t.Context()) {
			must(t, err)
			if n > 0 && bytes.Compare(last[:], held.Hash[:]) >= 0 {
				t.Errorf("%s comes after %s", held.Hash, last)
			}
			last, n = held.Hash, n+1
		}
		if n != 200 {
			t.Errorf("%d blobs are listed, want 200", n)
		}
	})
	t.Run("IsNotWrittenAgain", func(t *testing.T) {
		t.Parallel()
		s := begin(t)
		var log []string
		s.flush = func(f *os.File) error {
			name, _ := filepath.Rel(s.dir, f.Name())
			log = append(log, name)
			return nil
		}
		h := put(t, s, small).Hash.String()
		if diff := cmp.Diff([]string{h[:2] + "/" + h[2:4], h[:2]}, log); diff != "" {
			t.Errorf("the flushes differ (-want +got):\n%s", diff)
		}
		b, err := s.Batch()
		must(t, err)
		for _, content := range []string{small, tight, string(text())} {
			_, err := b.Put(t.Context(), []byte(content))
			must(t, err)
			_, err = b.Create(t.Context(), strings.NewReader(content))
			must(t, err)
		}
		must(t, b.Flush())
		if all := files(t, s.dir); len(all) != 3 || len(deep(t, s.dir)) != 3 {
			t.Errorf("files: got %q, want the three that were there", all)
		}
	})
	t.Run("IsPacked", func(t *testing.T) {
		t.Parallel()
		s := begin(t)
		must(t, s.Pack(t.Context()))
		expect(t, s, text(), "packed", false)
		if left := deep(t, s.dir); len(left) != 2 {
			t.Errorf("files two folders down: got %q, want two", left)
		}
	})
	t.Run("IsCollected", func(t *testing.T) {
		t.Parallel()
		s := begin(t)
		removed, _, err := s.Collect(t.Context(), func(yield func(event.Hash) error) error { return yield(event.HashOf([]byte(small))) })
		if left := deep(t, s.dir); err != nil || removed != 2 || len(left) != 1 {
			t.Errorf("removed %d, %v, %q is left; want the small one", removed, err, left)
		}
	})
	t.Run("IsMended", func(t *testing.T) {
		t.Parallel()
		for name, write := range map[string]func(*Store, string){
			"ByPut": func(s *Store, content string) { put(t, s, content) },
			"ByABatch": func(s *Store, content string) {
				b, err := s.Batch()
				must(t, err)
				_, err = b.Put(t.Context(), []byte(content))
				must(t, err)
				must(t, b.Flush())
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for _, content := range []string{small, tight} {
					s := begin(t)
					h := event.HashOf([]byte(content))
					// The plain file goes before a packed one.
					hash := h.String()
					must(t, os.WriteFile(filepath.Join(s.dir, hash[:2], hash[2:4], hash), []byte("torn off"), 0o600))
					_, err := s.Get(t.Context(), h)
					if _, ok := errors.AsType[*blob.DamageError](err); !ok {
						t.Fatalf("get what is damaged: got %v", err)
					}
					write(s, content)
					if got, err := s.Get(t.Context(), h); err != nil || string(got) != content {
						t.Errorf("get: %d other bytes or an error: %v", len(got), err)
					}
				}
			})
		}
	})
}

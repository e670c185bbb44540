package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s *Store, content string) event.Ref {
	t.Helper()
	ref, err := s.Put(t.Context(), []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// files returns every file below dir but the locks and marks, relative to it.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	must(t, filepath.WalkDir(dir, func(path string, e iofs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == marks {
			return iofs.SkipDir
		}
		if err == nil && !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, rel)
		}
		return err
	}))
	return names
}

func TestStore(t *testing.T) {
	t.Parallel()
	blobtest.Exercise(t, func(t *testing.T) blob.Store { return open(t, t.TempDir()) })
}

func TestVolatileStore(t *testing.T) {
	t.Parallel()
	blobtest.Exercise(t, func(t *testing.T) blob.Store {
		s, err := Open(t.TempDir(), &Options{Volatile: true})
		must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	})
}

func TestLayout(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home", "blobs")
	s := open(t, dir)
	ref := put(t, s, "hello")
	name := ref.Hash.String()
	if diff := cmp.Diff([]string{filepath.Join(name[:2], name)}, files(t, dir)); diff != "" {
		t.Errorf("the files of the store differ (-want +got):\n%s", diff)
	}
	must(t, filepath.WalkDir(dir, func(path string, e iofs.DirEntry, err error) error {
		must(t, err)
		want := iofs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if info, err := e.Info(); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v: %v", path, info.Mode(), want, err)
		}
		return nil
	}))
}

func TestDamage(t *testing.T) {
	t.Parallel()
	const content = "thirty-two bytes of plain truth."
	check := func(t *testing.T, what string, bad []byte) {
		t.Helper()
		s, err := Open(t.TempDir(), &Options{Volatile: true})
		must(t, err)
		defer s.Close()
		ref := put(t, s, content)
		must(t, os.WriteFile(s.path(ref.Hash), bad, 0o600))
		_, get := s.Get(t.Context(), ref.Hash)
		r, err := s.Open(t.Context(), ref.Hash)
		must(t, err)
		defer r.Close()
		_, read := io.ReadAll(r)
		for _, err := range []error{get, read} {
			var damage *blob.DamageError
			if !errors.As(err, &damage) || *damage != (blob.DamageError{Hash: ref.Hash, Where: s.path(ref.Hash)}) {
				t.Errorf("%s: %v, want damage of %s", what, err, ref.Hash)
			}
		}
	}
	t.Run("IsSeenInEachByte", func(t *testing.T) {
		t.Parallel()
		for i := range content {
			bad := []byte(content)
			bad[i] ^= 0x10
			check(t, fmt.Sprintf("byte %d", i), bad)
		}
	})
	t.Run("IsSeenInMissingAndAddedBytes", func(t *testing.T) {
		t.Parallel()
		check(t, "empty", nil)
		check(t, "one less", []byte(content[1:]))
		check(t, "one more", []byte(content+"."))
	})
	t.Run("OfTheSizeIsHealedByPuttingAgain", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		ref := put(t, s, content)
		must(t, os.Truncate(s.path(ref.Hash), 3))
		put(t, s, content)
		if got, err := s.Get(t.Context(), ref.Hash); err != nil || string(got) != content {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("OfTheContentIsHealedByCreate", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		ref := put(t, s, content)
		must(t, os.WriteFile(s.path(ref.Hash), bytes.ToUpper([]byte(content)), 0o600))
		_, err := s.Create(t.Context(), strings.NewReader(content))
		must(t, err)
		if got, err := s.Get(t.Context(), ref.Hash); err != nil || string(got) != content {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// flushes records what a store flushes, relative to its folder, and whether the
// blob h already had its final name then.
func flushes(s *Store, h event.Hash) *[]string {
	var log []string
	s.flush = func(f *os.File) error {
		name, _ := filepath.Rel(s.dir, f.Name())
		if strings.HasPrefix(name, scratch) {
			name = "content"
		}
		if _, err := os.Lstat(s.path(h)); err == nil {
			name += " after rename"
		}
		log = append(log, name)
		return f.Sync()
	}
	return &log
}

func TestPut(t *testing.T) {
	t.Parallel()
	t.Run("FlushesTheContentAndThenTheFolders", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		h := event.HashOf([]byte("x"))
		log := flushes(s, h)
		put(t, s, "x")
		ab := h.String()[:2]
		want := []string{"content", ab + " after rename", ". after rename"}
		if diff := cmp.Diff(want, *log); diff != "" {
			t.Errorf("the flushes differ (-want +got):\n%s", diff)
		}
	})
	t.Run("FlushesTheFoldersOfWhatAnotherHasWritten", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		put(t, open(t, dir), "x")
		s := open(t, dir)
		h := event.HashOf([]byte("x"))
		log := flushes(s, h)
		put(t, s, "x")
		ab := h.String()[:2]
		if diff := cmp.Diff([]string{ab + " after rename", ". after rename"}, *log); diff != "" {
			t.Errorf("the flushes of new folders differ (-want +got):\n%s", diff)
		}
		*log = nil
		put(t, s, "x")
		if diff := cmp.Diff([]string{ab + " after rename"}, *log); diff != "" {
			t.Errorf("the flushes of a folder that is there differ (-want +got):\n%s", diff)
		}
	})
	t.Run("DoesNotRewriteWhatIsThere", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		ref := put(t, s, "x")
		before, err := os.Stat(s.path(ref.Hash))
		must(t, err)
		put(t, s, "x")
		if after, err := os.Stat(s.path(ref.Hash)); err != nil || !os.SameFile(before, after) {
			t.Errorf("another file: %v", err)
		}
	})
	t.Run("LeavesNothingWhenTheFlushFails", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		broken := errors.New("disk on fire")
		s.flush = func(*os.File) error { return broken }
		if _, err := s.Put(t.Context(), []byte("x")); !errors.Is(err, broken) {
			t.Errorf("got %v, want the flush's error", err)
		}
		if left := files(t, s.dir); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	})
	t.Run("LeavesNothingOfATornStream", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.Create(ctx, io.MultiReader(strings.NewReader("head"), &canceller{cancel}, strings.NewReader("tail")))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if left := files(t, s.dir); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	})
	t.Run("IsRefusedAfterClose", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		must(t, s.Close())
		if _, err := s.Put(t.Context(), nil); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
		must(t, s.Close())
	})
}

// canceller is an empty reader that ends a context in passing.
type canceller struct{ cancel func() }

func (c *canceller) Read([]byte) (int, error) {
	c.cancel()
	return 0, io.EOF
}

func TestOpen(t *testing.T) {
	t.Parallel()
	leftover := func(t *testing.T, dir string) string {
		must(t, os.MkdirAll(filepath.Join(dir, scratch), 0o700))
		name := filepath.Join(dir, scratch, "put-123")
		must(t, os.WriteFile(name, []byte("half a bl"), 0o600))
		return name
	}
	t.Run("RemovesWhatACrashLeft", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		name := leftover(t, dir)
		open(t, dir)
		if _, err := os.Lstat(name); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("still there: %v", err)
		}
	})
	t.Run("LeavesTheFilesOfOthersWhoAreWriting", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		open(t, dir)
		name := leftover(t, dir)
		open(t, dir)
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	})
	t.Run("FindsWhatWasStoredBefore", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := open(t, dir)
		ref := put(t, s, "x")
		must(t, s.Close())
		if got, err := open(t, dir).Get(t.Context(), ref.Hash); err != nil || string(got) != "x" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("SaysWhatItCouldNotOpen", func(t *testing.T) {
		t.Parallel()
		name := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(name, nil, 0o600))
		if _, err := Open(name, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v", err)
		}
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	t.Run("YieldsEveryBlobInOrder", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		var want []Held
		for i := range 100 {
			ref := put(t, s, strings.Repeat("x", i))
			want = append(want, Held{ref.Hash, ref.Size})
		}
		slices.SortFunc(want, func(a, b Held) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
		var got []Held
		for ref, err := range s.List(t.Context()) {
			must(t, err)
			got = append(got, ref)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the list of blobs differs (-want +got):\n%s", diff)
		}
		for range s.List(t.Context()) {
			break // A reader may stop early.
		}
	})
	t.Run("PassesOverWhatIsNotABlob", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		name := event.HashOf(nil).String()
		for _, path := range []string{"ab/cd/notes.txt", "ab/cd/" + name, "README", "zz/zz/" + name[:10], "ab/" + name, name[:2] + "/" + name[:10]} {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(s.dir, path)), 0o700))
			must(t, os.WriteFile(filepath.Join(s.dir, path), nil, 0o600))
		}
		for ref, err := range s.List(t.Context()) {
			t.Errorf("got %v, %v", ref, err)
		}
	})
	t.Run("EndsWithItsContext", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		put(t, s, "x")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		n := 0
		for _, err := range s.List(ctx) {
			if n++; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
		if n != 1 {
			t.Errorf("%d turns", n)
		}
	})
}

package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// deep makes a chain of folders below dir, each in the one before it, with a file in the
// last, and returns the bytes of that file.
func deep(t *testing.T, dir string, depth int, name string) int64 {
	t.Helper()
	at, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range depth {
		if err := unix.Mkdirat(at, name, 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(at, name, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		unix.Close(at)
		if err != nil {
			t.Fatal(err)
		}
		at = next
	}
	fd, err := unix.Openat(at, "file", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	unix.Close(at)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "file")
	defer f.Close()
	const size = 300_000
	if _, err := f.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	return size
}

func count(dir string) (bytes int64, names int, err error) {
	err = Walk(dir, Visitor{Visit: func(_ int, _ string, s *unix.Stat_t) error {
		names++
		if s.Mode&unix.S_IFMT == unix.S_IFREG {
			bytes += s.Size
		}
		return nil
	}})
	return bytes, names, err
}

func TestDeepTreesAreCountedAndRemoved(t *testing.T) {
	t.Parallel()
	// A path of 60 names of 200 letters is longer than any that the kernel takes, and 5000
	// folders are more than a process may usually have open.
	for _, shape := range []struct{ depth, letters int }{{60, 200}, {5000, 1}} {
		dir := filepath.Join(t.TempDir(), "home")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		want := deep(t, dir, shape.depth, strings.Repeat("d", shape.letters))
		bytes, names, err := count(dir)
		if err != nil || bytes != want || names != shape.depth+1 {
			t.Errorf("a tree of %d folders: got %d bytes in %d names, %v, want %d in %d", shape.depth, bytes, names, err, want, shape.depth+1)
		}
		if err := Remove(dir); err != nil {
			t.Errorf("remove a tree of %d folders: %v", shape.depth, err)
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a tree of %d folders was removed and is still there: %v", shape.depth, err)
		}
	}
}

func TestClosedFoldersAreCountedAndClosedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := deep(t, dir, 30, "d")
	var all []string
	for at := filepath.Join(dir, "d"); len(all) < 30; at = filepath.Join(at, "d") {
		all = append(all, at)
	}
	for i := len(all) - 1; i >= 0; i-- {
		if err := os.Chmod(all[i], 0o100*fs.FileMode(i%4)); err != nil {
			t.Fatal(err)
		}
	}
	bytes, _, err := count(dir)
	if err != nil || bytes != want {
		t.Errorf("closed folders: got %d bytes, %v, want %d", bytes, err, want)
	}
	for i, path := range all {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := info.Mode().Perm(), 0o100*fs.FileMode(i%4); got != want {
			t.Errorf("folder %d was left with the mode %v, want %v", i, got, want)
		}
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		if err := os.Chmod(all[i], 0o100*fs.FileMode(i%4)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Remove(filepath.Join(dir, "d")); err != nil {
		t.Errorf("remove closed folders: %v", err)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "keep"), make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(tree, "link")); err != nil {
		t.Fatal(err)
	}
	if bytes, names, err := count(tree); bytes != 0 || names != 1 || err != nil {
		t.Errorf("a link to a folder: got %d bytes in %d names, %v", bytes, names, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{tree, link, filepath.Join(dir, "absent")} {
		if err := Remove(path); err != nil {
			t.Errorf("remove %s: %v", filepath.Base(path), err)
		}
	}
	if _, err := os.Stat(filepath.Join(other, "keep")); err != nil {
		t.Errorf("what a link leads to was removed: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the removal left %v, %v", left, err)
	}
}

// TestAFolderThatIsMovedIsLeft moves a folder while the walk is deep in it: the way up
// leads elsewhere, and the walk goes on where it came from or says that it cannot.
func TestAFolderThatIsMovedIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep(t, dir, 40, "d")
	deep(t, dir, 1, "else")
	chain := func(n int) string { return filepath.Join(dir, strings.Repeat("d/", n)) }
	var other unix.Stat_t
	if err := unix.Stat(filepath.Join(dir, "else"), &other); err != nil {
		t.Fatal(err)
	}
	names, moved := 0, false
	left := func(at int, name string) error {
		var s unix.Stat_t
		if err := unix.Fstat(at, &s); err != nil {
			return err
		}
		if s.Ino == other.Ino && name == "d" {
			t.Error("a folder was left for another than it was entered from: what has its name there would be removed")
		}
		return nil
	}
	err := Walk(dir, Visitor{Leave: left, Visit: func(_ int, name string, _ *unix.Stat_t) error {
		names++
		if names > 44 && !moved {
			return fmt.Errorf("the file at the end was not seen")
		}
		if name == "file" && !moved {
			if _, err := os.Lstat(chain(20)); err == nil {
				moved = true
				return os.Rename(chain(20), filepath.Join(dir, "else", "moved"))
			}
		}
		return nil
	}})
	if err != nil && !errors.Is(err, unix.ESTALE) && !errors.Is(err, unix.ENOENT) {
		t.Errorf("a folder was moved: got %v, want the walk to go on or to say so", err)
	}
	if !moved {
		t.Error("nothing was moved")
	}
}

func BenchmarkUsage(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		sub := filepath.Join(dir, fmt.Sprint(i/100), fmt.Sprint(i%100))
		if err := os.MkdirAll(sub, 0o700); err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(sub, fmt.Sprint("file-", j)), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			if _, n, err := count(dir); err != nil || n < 100_000 {
				b.Fatalf("count 100,000 files: got %d, %v", n, err)
			}
		}
	})
	b.Run("paths", func(b *testing.B) { // as it was counted before
		for b.Loop() {
			n := 0
			_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
				if _, err := d.Info(); err == nil {
					n++
				}
				return nil
			})
			if n < 100_000 {
				b.Fatalf("count 100,000 files: got %d", n)
			}
		}
	})
}

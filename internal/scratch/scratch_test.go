package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestWhatAKilledProcessLeftIsRemoved: nobody holds its lock any more, be it that it died while it made
// or removed the folder, which is empty then. What somebody works with stays, and what is none of ours.
func TestWhatAKilledProcessLeftIsRemoved(t *testing.T) {
	t.Parallel()
	below := t.TempDir()
	first, err := New(below, "x-")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(first.Path, "file")
	dead, empty := filepath.Join(below, "x-dead"), filepath.Join(below, "x-empty")
	strange, other := filepath.Join(below, "x-strange"), filepath.Join(below, "y-dead")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.MkdirAll(filepath.Join(dead, inside, "deep"), 0o700), os.Mkdir(empty, 0o700), os.MkdirAll(filepath.Join(strange, "deep"), 0o700),
		os.MkdirAll(filepath.Join(other, inside), 0o700)); err != nil {
		t.Fatal(err)
	}
	second, err := New(below, "x-")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dead, empty} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("what was left behind is still there: %s: %v", path, err)
		}
	}
	for _, path := range []string{file, strange, other} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("it removed what is not its to remove: %v", err)
		}
	}
	if err := errors.Join(first.Close(), second.Close(), os.RemoveAll(strange), os.RemoveAll(other)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(below); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestManyMakeFoldersAtOnce: each sweeps, and takes what another has just made for one that was left empty.
func TestManyMakeFoldersAtOnce(t *testing.T) {
	t.Parallel()
	below := t.TempDir()
	faults := make(chan error)
	for range 16 {
		go func() {
			for range 50 {
				f, err := New(below, "x-")
				if err == nil {
					err = errors.Join(os.WriteFile(filepath.Join(f.Path, "file"), nil, 0o600), f.Close())
				}
				if err != nil {
					faults <- err
					return
				}
			}
			faults <- nil
		}()
	}
	for range 16 {
		if err := <-faults; err != nil {
			t.Errorf("a folder of many: %v, want that each has its own", err)
		}
	}
}

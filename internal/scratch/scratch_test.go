package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestWhatAKilledProcessLeftIsRemoved: nobody holds its lock any more. What somebody works with
// stays, and so does what somebody is about to lock.
func TestWhatAKilledProcessLeftIsRemoved(t *testing.T) {
	t.Parallel()
	below := t.TempDir()
	first, err := New(below, "x-")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(first.Path, "file")
	dead, young, other := filepath.Join(below, "x-dead"), filepath.Join(below, "x-young"), filepath.Join(below, "y-dead")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.MkdirAll(filepath.Join(dead, inside, "deep"), 0o700), os.Mkdir(young, 0o700),
		os.MkdirAll(filepath.Join(other, inside), 0o700)); err != nil {
		t.Fatal(err)
	}
	second, err := New(below, "x-")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was left behind is still there: %v", err)
	}
	for _, path := range []string{file, young, other} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("it removed what is not its to remove: %v", err)
		}
	}
	if err := errors.Join(first.Close(), second.Close(), os.Remove(young), os.RemoveAll(other)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(below); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

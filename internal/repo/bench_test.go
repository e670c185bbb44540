package repo

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWhatAKilledProcessLeftIsRemoved: nobody holds its lock any more. What somebody works with stays.
func TestWhatAKilledProcessLeftIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	first, err := newBench("sha1")
	if err != nil {
		t.Fatal(err)
	}
	defer first.close()
	left := filepath.Join(os.TempDir(), benchPrefix+"left")
	if err := os.MkdirAll(filepath.Join(left, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	second, err := newBench("sha1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what was left behind is still there")
	}
	if _, err := os.Stat(first.path("git/HEAD")); err != nil {
		t.Errorf("what somebody works with is gone: %v", err)
	}
	if err := second.close(); err != nil {
		t.Error(err)
	}
}

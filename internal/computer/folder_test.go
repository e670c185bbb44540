package computer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheDigestOfAFolderIsKept: another process takes it from the note, as long as the folder
// looks the same; a note that is no good is as none.
func TestTheDigestOfAFolderIsKept(t *testing.T) {
	dir, notes := t.TempDir(), filepath.Join(t.TempDir(), "notes")
	file := filepath.Join(dir, "program")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// next is what a process finds that has just begun.
	next := func() string {
		t.Helper()
		digests.Clear()
		got, err := digestOf(dir, notes)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	write(file, "one")
	first := next()
	list, err := os.ReadDir(notes)
	if err != nil || len(list) != 1 {
		t.Fatalf("the notes are %v, %v, want one", list, err)
	}
	note := filepath.Join(notes, list[0].Name())
	data, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	other := "sha256:" + strings.Repeat("0", 64)
	write(note, strings.Replace(string(data), first, other, 1))
	if got := next(); got != other {
		t.Errorf("the digest is %s: the folder was read again, want what the note says", got)
	}
	for _, bad := range []string{"", "x", strings.Replace(string(data), first, "sha256:x", 1), strings.Repeat("0", 64) + " " + other} {
		write(note, bad)
		if got := next(); got != first {
			t.Errorf("with the note %.80q the digest is %s, want %s", bad, got, first)
		}
	}
	write(file, "two")
	if got := next(); got == first {
		t.Error("the folder has changed, and its digest has not")
	}
}

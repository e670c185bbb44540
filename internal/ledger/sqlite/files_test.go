package sqlite_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lyceum/internal/ledger/sqlite"

	"golang.org/x/sys/unix"
)

// withoutFiles says that this process is the one that may open no more files.
const withoutFiles = "LYCEUM_TEST_WITHOUT_FILES"

// TestNoFileCanBeOpened: SQLite says only that it cannot open a file. That is no fault of the
// ledger, and whoever runs quests has to know it from one.
func TestNoFileCanBeOpened(t *testing.T) {
	if os.Getenv(withoutFiles) == "" {
		t.Parallel()
		cmd := exec.Command("/proc/self/exe", "-test.run", "^TestNoFileCanBeOpened$", "-test.count=1")
		cmd.Env = append(os.Environ(), withoutFiles+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("in a process of its own: %v\n%s", err, out)
		}
		return
	}
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "lyceum.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &all); err != nil {
		t.Fatal(err)
	}
	none := all
	none.Cur = 3
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	_, err = s.Quests(t.Context())
	if back := unix.Setrlimit(unix.RLIMIT_NOFILE, &all); back != nil {
		t.Fatalf("allow files again: %v", back)
	}
	if !errors.Is(err, unix.EMFILE) || errors.Is(err, os.ErrPermission) {
		t.Errorf("a list without files: got %v, want that too many are open", err)
	}
	if _, err := s.Quests(t.Context()); err != nil {
		t.Errorf("a list with files again: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

package service

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
)

func TestAPaperIsNotRunWithoutComputers(t *testing.T) {
	t.Parallel()
	got, err := reproduce(t.Context(), &runtime.Quest{}, 1, &event.ReproductionCall{Entrypoint: "run.sh"})
	if err != nil || got.Status != event.NotRun || got.Reason == "" {
		t.Errorf("without computers: got %+v, %v, want not run, and why", got, err)
	}
}

func TestAnEntryPointIsRunByWhatItsNameSays(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"a.py": {"python3", "./a.py"}, "-c.py": {"python3", "./-c.py"}, "a.sh": {"sh", "./a.sh"}, "a.mjs": {"node", "./a.mjs"}, "a": {"./a"},
	} {
		if got := runner(name); !slices.Equal(got, want) {
			t.Errorf("%s is run as %q, want %q", name, got, want)
		}
	}
}

// What a program has locked is removed all the same, and nothing beside it. As root
// nothing is locked.
func TestALockedFolderIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	beside := filepath.Join(dir, "beside")
	locked := filepath.Join(dir, "home", "a", "b")
	for _, d := range []string{beside, locked} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.Symlink(beside, filepath.Join(locked, "link")), os.Chmod(locked, 0), os.Chmod(filepath.Dir(locked), 0), os.Chmod(beside, 0o500),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := runtime.RemoveTree(filepath.Join(dir, "home")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(beside); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("what is beside it: %v, %v", info, err)
	}
}

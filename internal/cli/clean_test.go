package cli_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAVeryDeepHomeIsRemoved cleans up after an agent that made folders within folders: deeper
// than a path can be long, and than the process may have files open.
func TestAVeryDeepHomeIsRemoved(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{"Workspaces": {"clean", "ask"}, "AllOfIt": {"clean", "ask", "--data", "--yes"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := asked(t)
			agents := filepath.Join(h.dir, "quests", "ask", "agents")
			at, err := unix.Open(filepath.Join(agents, "agent-0"), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			must(t, err)
			below := strings.Repeat("d", 100)
			for range 400 {
				must(t, unix.Mkdirat(at, below, 0o700))
				next, err := unix.Openat(at, below, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
				_ = unix.Close(at)
				must(t, err)
				at = next
			}
			_ = unix.Close(at)
			h.before = []string{"sh", "-c", `ulimit -n 200 && exec "$@"`, "sh"}
			h.ok(flags...)
			if _, err := os.Lstat(agents); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the homes of a quest that was cleaned up: got %v, want none", err)
			}
		})
	}
}

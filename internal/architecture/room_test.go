package architecture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/need"
)

// room runs a script in the room that the tests run in, and returns the room with the
// process ids that it printed first, and how it ends. The room is made in a folder of the
// test's.
func room(t *testing.T, script string) (path string, ids []int, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.Command("bash", "-c", "set -euo pipefail; . scripts/room; "+script)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the script said %q: %v", line, err)
	}
	fields := strings.Fields(line)
	for _, field := range fields[1:] {
		id, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("the script said %q, want a folder and process ids", line)
		}
		ids = append(ids, id)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return fields[0], ids, cmd
}

// gone fails the test if the room or a process is still there.
func gone(t *testing.T, path string, ids []int) {
	t.Helper()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the room %s after the end: got %v, want it gone", path, err)
	}
	for _, id := range ids {
		if !ended(id) {
			t.Errorf("process %d is left", id)
		}
	}
}

// ended waits for a process to go that was killed: on a machine that is busy that takes a while.
func ended(id int) bool {
	for range 3000 {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
		if err != nil || strings.Contains(string(state), ") Z ") {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// lost is a process that nobody waits for, and a file that belongs to nobody.
const lost = `touch "$TMPDIR/left" "$HOME/left"; setsid sleep 1000 >/dev/null 2>&1 & `

func TestTheTestsLeaveNothing(t *testing.T) {
	t.Parallel()
	t.Run("AtTheEnd", func(t *testing.T) {
		t.Parallel()
		path, ids, cmd := room(t, lost+`echo "$room" $!; exit 7`)
		err := cmd.Wait()
		if failed, ok := errors.AsType[*exec.ExitError](err); !ok || failed.ExitCode() != 7 {
			t.Errorf("a script that fails with 7: got %v, want that code after the room is gone", err)
		}
		gone(t, path, ids)
	})
	t.Run("WhenTheyAreStopped", func(t *testing.T) {
		t.Parallel()
		path, ids, cmd := room(t, lost+`echo "$room" $!; sleep 0.1; while :; do sleep 0.05; done`)
		if _, err := os.Stat(filepath.Join(path, "tmp", "left")); err != nil {
			t.Fatalf("a file among the temporary ones is not in the room: %v", err)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Error("a script that is stopped ends as if all was well")
		}
		gone(t, path, ids)
	})
	t.Run("AProcessThatHasNotBegun", func(t *testing.T) {
		t.Parallel()
		// It is a shell that was forked, and has the environment of the one before: as any process
		// is for a moment, which on a busy machine is long.
		path, ids, cmd := room(t, `mkfifo "$HOME/pipe"; (read -r -t 1000 x <>"$HOME/pipe") >/dev/null 2>&1 & echo "$room" $!; exit 0`)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		gone(t, path, ids)
	})
	t.Run("AProcessInASandboxThatHidesWhatIsMounted", func(t *testing.T) {
		t.Parallel()
		// Nothing tells but the file that it writes to.
		need.Program(t, "unshare")
		user := ""
		if os.Geteuid() != 0 {
			user = "-U"
		}
		script := `(cd / && exec setsid env -i ` + need.Program(t, "unshare") + ` -m ` + user + ` ` + need.Program(t, "sleep") + ` 1000) >"$room/boot.log" 2>&1 </dev/null &
			while [ "$(readlink /proc/$!/ns/mnt)" = "$(readlink /proc/self/ns/mnt)" ]; do sleep 0.05; done
			echo "$room" $!; exit 0`
		path, ids, cmd := room(t, script)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		gone(t, path, ids)
	})
	t.Run("AProcessInASandbox", func(t *testing.T) {
		t.Parallel()
		// It has no environment of ours and another file system: only what is mounted tells.
		bwrap := need.Program(t, "bwrap")
		script := `setsid ` + bwrap + ` --unshare-pid --as-pid-1 --clearenv --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
			--bind "$HOME" /home --chdir / --info-fd 9 /usr/bin/sleep 1000 9>"$room/info" >/dev/null 2>&1 &
			while ! grep -qs child-pid "$room/info"; do sleep 0.05; done
			echo "$room" $(grep -o '"child-pid": [0-9]*' "$room/info" | cut -d' ' -f2); exit 0`
		path, ids, cmd := room(t, script)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if len(ids) != 1 {
			t.Fatalf("bubblewrap named %d processes, want 1", len(ids))
		}
		gone(t, path, ids)
	})
}

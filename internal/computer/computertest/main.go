// Package computertest holds what every driver of computers must do, as tests that
// a driver's own test calls: Exercise for what computers are for, Escape for what
// they must prevent. All of it happens in real sandboxes.
package computertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/computer/helper"
	"lyceum/internal/need"
)

// Main is the TestMain of a package that opens computers: its test binary is also
// the helper inside them.
func Main(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == helper.Role {
		os.Exit(helper.Main(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == AttemptRole {
		os.Exit(Attempt(os.Args[2:]))
	}
	need.AtATime(4)
	code := m.Run()
	stopEngines()
	os.Exit(code)
}

// An ordinary user of the host, as far as that is not us already.
const ordinary = 1733

// AsUser runs the calling test again in a process of an ordinary user, and reports
// what it reports. It returns true in that process: the caller then goes on with the
// test. Whoever is no root is an ordinary user already. groups are further groups
// that the user is in.
func AsUser(t *testing.T, groups ...uint32) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	dir, err := os.MkdirTemp("", "lyceum-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// The test binary lies where only root may look, so the user gets a copy.
	program := filepath.Join(dir, "test")
	b, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		// A process that another test starts meanwhile would have the copy open to write, and as
		// long as anybody has, it cannot be run.
		syscall.ForkLock.RLock()
		err = os.WriteFile(program, b, 0o755)
		syscall.ForkLock.RUnlock()
	}
	home := filepath.Join(dir, "home")
	if err == nil {
		err = os.Mkdir(home, 0o700)
	}
	if err == nil {
		err = os.Chown(home, ordinary, ordinary)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run", "^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v", "-test.count=1")
	cmd.Dir = home
	// Such a user has not everything: what only root can do was asked for by root's test.
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home, "USER=ordinary", need.All+"=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary, Groups: groups}}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("as an ordinary user: %v\n%s", err, out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Errorf("as an ordinary user the test did not run:\n%s", out)
	default:
		t.Logf("as an ordinary user:\n%s", out)
	}
	return false
}

package helper

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

// plainUser says that this process is an ordinary user's: root sees everything.
const plainUser = "LYCEUM_TEST_PLAIN_USER"

// TestAProgramThatBeginsCanBeLookedAt starts programs from a process that shows nothing of
// itself, as a helper is.
func TestAProgramThatBeginsCanBeLookedAt(t *testing.T) {
	if os.Geteuid() == 0 && os.Getenv(plainUser) == "" {
		asPlainUser(t)
		return
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	// The more a program has to close when it begins, the longer that takes. What tells that it
	// has begun is closed first.
	var first [2]int
	if err := unix.Pipe2(first[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	for range 900 {
		fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
	}
	_, _ = unix.Close(first[0]), unix.Close(first[1])
	early, hidden := 0, 0
	for range 1000 {
		pid, err := syscall.ForkExec(cat, []string{"cat"}, &syscall.ProcAttr{Files: []uintptr{r.Fd(), w.Fd(), w.Fd()}})
		if err != nil {
			t.Fatal(err)
		}
		dir := "/proc/" + strconv.Itoa(pid)
		if !visible(dir) {
			early++
		}
		settle(pid)
		if !visible(dir) {
			hidden++
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of 1000 programs were looked at too early", early)
	if hidden > 0 {
		t.Errorf("%d of 1000 programs could not be looked at when they had begun", hidden)
	}
}

// asPlainUser runs the calling test again in a process of an ordinary user.
func asPlainUser(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "lyceum-plain-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "test")
	b, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = need.Write(program, b)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run", "^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), plainUser+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1733, Gid: 1733}}
	out, err := cmd.CombinedOutput()
	t.Logf("as an ordinary user:\n%s", out)
	if err != nil {
		t.Errorf("as an ordinary user: %v", err)
	}
}

package confine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

// The test binary plays several parts besides running tests. As helper it applies
// Options and runs a command; as bare it runs the command without; as a probe it is
// that command, does one thing and prints what came of it.
const (
	roleVar    = "CONFINE_TEST_ROLE"
	optionsVar = "CONFINE_TEST_OPTIONS"
)

// copied is a copy of the test binary where any user can execute it, and stranger
// the user that it runs as when root runs the tests: root passes all checks of files.
var copied string

const stranger = 54321

// applied is what Apply told this process, as helper.
var applied Report

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVar); role {
	case "":
		os.Exit(runTests(m))
	case "helper", "bare":
		os.Exit(runHelper(role == "helper"))
	default:
		os.Exit(probe(role, os.Args[1:]))
	}
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "confine")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		panic(err)
	}
	copied = filepath.Join(dir, "confine.test")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(copied, program, 0o755)); err != nil {
		panic(err)
	}
	return m.Run()
}

// runHelper is a helper in small: it runs os.Args[1:] or, if they begin with a role,
// the probe of that name.
func runHelper(confined bool) int {
	if confined {
		var o Options
		if err := json.Unmarshal([]byte(os.Getenv(optionsVar)), &o); err != nil {
			panic(err)
		}
		var err error
		if applied, err = Apply(o); err != nil {
			fmt.Fprintln(os.Stderr, "apply:", err)
			return 99
		}
	}
	os.Unsetenv(optionsVar)
	args := os.Args[1:]
	if f, ok := helperProbes[args[0]]; ok {
		return tell(f(args[1:]))
	}
	cmd := command(args)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		if s := exit.Sys().(syscall.WaitStatus); s.Signaled() {
			fmt.Print(s.Signal())
		}
		return max(exit.ExitCode(), 1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 98
	}
	return 0
}

// command is a program, or this one in the part of a probe.
func command(args []string) *exec.Cmd {
	if _, ok := probes[args[0]]; !ok {
		os.Unsetenv(roleVar)
		return exec.Command(args[0], args[1:]...)
	}
	cmd := exec.Command("/proc/self/exe", args[1:]...)
	cmd.Env = append(os.Environ(), roleVar+"="+args[0])
	return cmd
}

func probe(name string, args []string) int { return tell(probes[name](args)) }

func tell(err error) int {
	if err != nil {
		fmt.Print(err)
		return 1
	}
	fmt.Print("done")
	return 0
}

// sandbox is a folder with a home that the stranger owns, and things beside it.
type sandbox struct {
	dir, home, outside string
	options            Options
}

func newSandbox(t testing.TB) sandbox {
	t.Helper()
	dir, err := os.MkdirTemp("", "confined")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := sandbox{dir: dir, home: filepath.Join(dir, "home"), outside: filepath.Join(dir, "outside")}
	for _, d := range []string{s.home, s.outside} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "file"), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		if os.Getuid() == 0 {
			if err := errors.Join(os.Chown(d, stranger, stranger), os.Chown(filepath.Join(d, "file"), stranger, stranger)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.options = Options{
		Read: []string{"/usr", "/bin", "/lib", "/lib64", "/etc", "/proc", "/sys/fs/cgroup", "/opt", "/no/such/folder",
			"/dev/zero", "/dev/random", "/dev/urandom"},
		Write: []string{s.home, "/dev/null", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"},
	}
	return s
}

// cmd is a helper, or a bare one, with a command to run.
func (s sandbox) cmd(t testing.TB, role string, args ...string) *exec.Cmd {
	t.Helper()
	options, err := json.Marshal(s.options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, copied, args...)
	cmd.Dir = s.home
	cmd.Env = []string{roleVar + "=" + role, optionsVar + "=" + string(options), "HOME=" + s.home, "TMPDIR=" + s.home,
		"PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	}
	return cmd
}

// run is what such a command wrote to stdout. Its exit code does not matter: probes
// print what came of it.
func (s sandbox) run(t testing.TB, role string, args ...string) string {
	t.Helper()
	cmd := s.cmd(t, role, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() >= 98) {
		t.Fatalf("the program could not be started, %v: %v\n%s", args, err, &stderr)
	}
	if stderr.Len() > 0 {
		t.Logf("%v: %s", args, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// bystander is a process of the same user outside of any domain, by its pid.
func (s sandbox) bystander(t *testing.T) int {
	t.Helper()
	cmd := s.cmd(t, "wait")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// landlock skips where the kernel has less than the test is about.
func landlock(t *testing.T, abi int) {
	t.Helper()
	have, err := landlockVersion()
	if err != nil {
		t.Fatal(err)
	}
	if have < abi {
		need.Elsewhere(t, "this kernel has version %d of Landlock and the test needs %d: boot a newer one, with landlock among lsm=", have, abi)
	}
}

func errnoOf(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

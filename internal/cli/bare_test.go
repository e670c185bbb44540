package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/computer/namespaces"
	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

// ordinary is a user of no importance.
const ordinary = 1733

// unboxed runs a command where no sandbox works: no user namespace can be made, and of
// programs there are only those beside lyceum. It is a program of its own, for scripts.
func unboxed() {
	if err := runUnboxed(os.Args[1:]); err != nil {
		if failed, ok := err.(*exec.ExitError); ok {
			os.Exit(failed.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "unboxed:", err)
		os.Exit(99)
	}
}

func runUnboxed(args []string) error {
	if args[0] != "--inside" {
		cmd := exec.Command(os.Args[0], append([]string{"--inside"}, args...)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: ordinary, HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: ordinary, HostID: os.Getegid(), Size: 1}},
			Credential:  &syscall.Credential{Uid: ordinary, Gid: ordinary, NoSetGroups: true},
			AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE},
		}
		return cmd.Run()
	}
	path, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		return err
	}
	if err := os.Setenv("PATH", filepath.Dir(path)); err != nil {
		return err
	}
	// The thread's rights are those of the program that it executes.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	return syscall.Exec(path, args[1:], os.Environ())
}

// TestALabRunsOnABareMachine is the lab of the README where nothing is installed but
// lyceum: neither bubblewrap nor an engine is found. It is as root, and as somebody else.
func TestALabRunsOnABareMachine(t *testing.T) {
	t.Parallel()
	need.Programs(t, "sh", "awk", "sort") // of the machine, inside
	if err := namespaces.New(namespaces.Options{}).Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	for name, user := range map[string]int{"AsRoot": 0, "AsAnOrdinaryUser": ordinary} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if user != os.Geteuid() {
				if user == 0 || os.Geteuid() != 0 {
					need.Root(t, "be more than one user")
				}
			}
			dir := public(t)
			must(t, os.CopyFS(filepath.Join(dir, "lab"), os.DirFS("../../examples/lab-number")))
			must(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o700))
			must(t, os.Mkdir(filepath.Join(dir, "home"), 0o700))
			for _, own := range []string{"tmp", "home"} {
				must(t, os.Chown(filepath.Join(dir, own), user, user))
			}
			program, err := os.ReadFile("/proc/self/exe")
			must(t, err)
			must(t, need.Write(filepath.Join(dir, "lyceum"), program))
			lyceum := func(args ...string) string {
				t.Helper()
				cmd := exec.Command(filepath.Join(dir, "lyceum"), args...)
				cmd.Dir = dir
				cmd.Env = []string{"PATH=" + dir, "HOME=" + dir, "LYCEUM_HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + filepath.Join(dir, "tmp"), "DOCKER_HOST=unix:///nowhere/docker.sock"}
				cmd.SysProcAttr = &syscall.SysProcAttr{}
				if user != os.Geteuid() {
					cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}
				}
				var out, errOut bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errOut
				if err := cmd.Run(); err != nil {
					t.Fatalf("lyceum %s: %v\n%s%s", strings.Join(args, " "), err, &out, &errOut)
				}
				return out.String()
			}
			if out := lyceum("run", "lab/quest.yaml"); !strings.Contains(out, "Answer: 121581") {
				t.Errorf("the lab's answer: got %s, want 121581", out)
			}
			trace := lyceum("trace", "lab-number", "--jsonl")
			for _, want := range []string{`"driver":"namespaces"`, `"type":"cli.exit"`, `"type":"reproduction.result"`} {
				if !strings.Contains(trace, want) {
					t.Errorf("the trace of a lab on a bare machine has no %s", want)
				}
			}
			if out := lyceum("replay", "lab-number"); !strings.Contains(out, "identical") {
				t.Errorf("the replay: got %s, want it identical", out)
			}
		})
	}
}

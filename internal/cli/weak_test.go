package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"lyceum/internal/computer/cgroup"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

// blinded runs a program where the kernel makes no pairs of sockets, so that nothing can be found
// out about what waits in them. It is a program of its own, since such a filter stays for ever.
func blinded() {
	runtime.LockOSThread() // the filter is the thread's, until the program is another
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SOCKETPAIR, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	if err == nil {
		err = syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "blinded:", err)
	os.Exit(99)
}

// TestALimitOnMemoryThatNobodyCanHoldIsRefusedWithWhatToDo is for an ordinary user without control
// groups, on a kernel that does not show all that a watchdog must see.
func TestALimitOnMemoryThatNobodyCanHoldIsRefusedWithWhatToDo(t *testing.T) {
	t.Parallel()
	if err := namespaces.New(namespaces.Options{}).Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	if os.Geteuid() != 0 && cgroup.Find("/sys/fs/cgroup", "/proc/self/cgroup").Has(cgroup.Memory) {
		need.Root(t, "be a user without control groups")
	}
	dir := public(t)
	user := os.Geteuid()
	if user == 0 {
		user = ordinary
	}
	must(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o700))
	must(t, os.Chown(filepath.Join(dir, "tmp"), user, user))
	must(t, writeFolder(dir, map[string]string{
		"quest.yaml": "name: blind\nproblem: What does it say?\nmodel: script:plan.yaml\ncomputer: namespaces\n",
		"plan.yaml":  "rules:\n  - on: {turn: 1}\n    call: [{tool: exec, args: {command: echo seen}}]\n  - on: {tool: exec, result: seen}\n    say: It says seen.\n",
	}))
	self, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	program := filepath.Join(dir, "lyceum")
	must(t, need.Write(program, self))
	lyceum := func(args ...string) (string, error) {
		cmd := &exec.Cmd{Path: program, Args: append([]string{"blinded", program}, args...), Dir: dir}
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LYCEUM_HOME=" + filepath.Join(dir, "tmp", "home"), "TMPDIR=" + filepath.Join(dir, "tmp")}
		if user != os.Geteuid() {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	said, err := lyceum("run", "quest.yaml")
	t.Log(said)
	for _, want := range []string{"this kernel does not show sockets", "systemd-run --user --scope lyceum", "--weak-limits", "weak_limits: true in config.yaml"} {
		if err == nil || !strings.Contains(said, want) {
			t.Errorf("a run whose limit on memory nobody can hold: %v, %s\nwant it refused, and in what a person reads %q", err, said, want)
		}
	}
	if said, err = lyceum("run", "blind", "--weak-limits"); err != nil || !strings.Contains(said, "It says seen.") {
		t.Errorf("the same run with --weak-limits: %v, %s\nwant its answer", err, said)
	}
}

package confine

// No race detector: what it tries are processes that confine themselves.

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

func TestApplyReportsWhatHolds(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	if got := s.run(t, "helper", "status"); got != "done" {
		t.Errorf("the state of a confined process: got %q, want all in order", got)
	}
	abi, err := landlockVersion()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.run(t, "helper", "report"), fmt.Sprint(Report{Seccomp: true, Landlock: abi}); got != want {
		t.Errorf("reports %s, want %s", got, want)
	}
}

// TestOlderLandlockIsAskedOnlyWhatItKnows: a right that the kernel has not heard of
// makes it refuse the ruleset.
func TestOlderLandlockIsAskedOnlyWhatItKnows(t *testing.T) {
	t.Parallel()
	const first = 1<<13 - 1
	for abi, want := range map[int]uint64{1: first, 2: 1<<14 - 1, 3: 1<<15 - 1, 4: 1<<15 - 1, 5: 1<<16 - 1, 6: 1<<16 - 1, 7: 1<<16 - 1} {
		got := handled(abi)
		if got.Handled_access_fs != want || got.Handled_access_net != 0 || got.Scoped != map[bool]uint64{true: 3}[abi >= 6] {
			t.Errorf("version %d: %+v, want rights %#x", abi, got, want)
		}
	}
}

// TestCommandsAreRefused compares each refusal with what the kernel says without us,
// which shows that the refusal is ours.
func TestCommandsAreRefused(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	for _, name := range []string{"add_key", "keyctl", "request_key", "userfaultfd", "io_uring_setup", "name_to_handle_at", "open_tree",
		"unshare user", "setns", "clone user", "personality", "socket vsock", "socket alg", "socket packet", "socket raw",
		"socket netfilter", "socketpair vsock", "ioctl sti", "ioctl sti high bits", "ioctl linux", "ioctl setd", "ioctl flags", "ioctl project"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, want := s.run(t, "helper", name), unix.EPERM.Error(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got := s.run(t, "bare", name); got == unix.EPERM.Error() {
				// Not a fault: some kernels refuse this to everybody.
				t.Logf("this kernel refuses it anyway")
			}
		})
	}
	if got, want := s.run(t, "helper", "clone3"), unix.ENOSYS.Error(); got != want {
		t.Errorf("clone3: got %q, want %q", got, want)
	}
	if got, want := s.run(t, "helper", "ioctl winsz"), unix.EBADF.Error(); got != want {
		t.Errorf("a harmless ioctl: got %q, want %q", got, want)
	}
}

func TestForeignSystemCallsKill(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		need.Elsewhere(t, "int 0x80 is of amd64: run the tests on such a machine")
	}
	s := newSandbox(t)
	// eax is the call; exit 1 if it fails, which is its sign bit, 0 if it works.
	exit := []byte{0xc1, 0xe8, 31, 0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05}
	i386 := append([]byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80}, exit...)   // getpid by int 0x80
	x32 := append([]byte{0xb8, 39, 0, 0, 0x40, 0x0f, 0x05}, exit...) // getpid of x32
	native := append([]byte{0xb8, 39, 0, 0, 0, 0x0f, 0x05}, exit...) // getpid
	for name, code := range map[string][]byte{"i386": i386, "x32": x32, "native": native} {
		if err := need.Write(filepath.Join(s.home, name), elf(code)); err != nil {
			t.Fatal(err)
		}
	}
	code := func(role, name string) (int, string) {
		cmd := s.cmd(t, role, filepath.Join(s.home, name))
		out, _ := cmd.Output()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	if c, out := code("helper", "native"); c != 0 {
		t.Fatalf("the program itself does not work: %d %s", c, out)
	}
	if c, out := code("helper", "i386"); c != 1 || out != syscall.SIGSYS.String() {
		t.Errorf("int 0x80 ends with %d, %q, want %q", c, out, syscall.SIGSYS)
	}
	if c, out := code("bare", "i386"); c != 0 {
		t.Logf("this kernel has no int 0x80 for anybody: %d %s", c, out)
	}
	if c, out := code("helper", "x32"); c != 1 || out != "" {
		t.Errorf("an x32 call ends with %d, %q", c, out)
	}
}

// elf is the smallest program with that code.
func elf(code []byte) []byte {
	const base, header = 0x400000, 64 + 56
	b := []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	u16, u32, u64 := binary.LittleEndian.AppendUint16, binary.LittleEndian.AppendUint32, binary.LittleEndian.AppendUint64
	b = u32(u16(u16(b, 2), 62), 1)           // executable, x86-64, version
	b = u64(u64(u64(b, base+header), 64), 0) // entry, program headers, no sections
	b = u16(u16(u16(u32(b, 0), 64), 56), 1)  // flags, sizes, one program header
	b = u16(u16(u16(b, 0), 0), 0)            // sections
	b = u64(u32(u32(b, 1), 5), 0)            // load, read and execute, from 0
	b = u64(u64(b, base), base)              // where
	size := uint64(header + len(code))
	b = u64(u64(u64(b, size), size), 0x1000) // how much, alignment
	return append(b, code...)
}

func TestFilesOutsideAreOutOfReach(t *testing.T) {
	t.Parallel()
	landlock(t, 3)
	s := newSandbox(t)
	in, out := filepath.Join(s.home, "file"), filepath.Join(s.outside, "file")
	readable := filepath.Join(s.dir, "readable")
	if err := os.Mkdir(readable, 0o777); err != nil {
		t.Fatal(err)
	}
	theirs := filepath.Join(readable, "file")
	if err := os.WriteFile(theirs, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(s.outside, "script")
	if err := need.Write(script, []byte("#!/bin/sh\n")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{readable, theirs, script} {
		if err := os.Chmod(path, 0o777); err != nil { // past the umask
			t.Fatal(err)
		}
	}
	if err := os.Symlink(out, filepath.Join(s.home, "link")); err != nil {
		t.Fatal(err)
	}
	s.options.Read = append(s.options.Read, readable)
	const refused = "permission denied"
	for _, c := range []struct{ want, bare, args string }{
		{refused, "done", "read " + out},
		{refused, "done", "read " + s.home + "/link"},
		{refused, "done", "read " + s.home + "/../outside/file"},
		{refused, "done", "list " + s.outside},
		{refused, "done", "execute " + script},
		{refused, "done", "write " + out},
		{refused, "done", "truncate " + out},
		{refused, "done", "write " + s.outside + "/new"},
		{refused, "done", "write " + theirs},
		{refused, "done", "truncate " + theirs},
		{refused, "done", "write " + readable + "/new"},
		{"done", "", "read " + theirs},
		{"done", "", "list " + readable},
		{"done", "", "write " + s.home + "/new"},
		{"done", "", "rename " + s.home + "/new " + s.home + "/sub/newer"},
		{"done", "", "truncate " + in},
		{"done", "", "write /dev/null"},
		{"done", "", "read /proc/self/status"},
	} {
		if err := os.MkdirAll(filepath.Join(s.home, "sub"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(s.home, "sub"), 0o777); err != nil {
			t.Fatal(err)
		}
		if got := s.run(t, "helper", strings.Fields(c.args)...); got != c.want {
			t.Errorf("%s: got %q, want %q", c.args, got, c.want)
		}
		if c.bare != "" {
			if got := s.run(t, "bare", strings.Fields(c.args)...); got != c.bare {
				t.Errorf("%s without Landlock: got %q, want %q", c.args, got, c.bare)
			}
		}
	}
}

func TestSocketsAndProcessesOutsideAreOutOfReach(t *testing.T) {
	t.Parallel()
	landlock(t, 6)
	s := newSandbox(t)
	name := fmt.Sprintf("@confine-%d", os.Getpid())
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	bystander := strconv.Itoa(s.bystander(t))
	for _, args := range [][]string{{"connect", name}, {"signal", bystander}} {
		if got, want := s.run(t, "helper", args...), unix.EPERM.Error(); got != want {
			t.Errorf("%v: got %q, want %q", args, got, want)
		}
		if got := s.run(t, "bare", args...); got != "done" {
			t.Errorf("%v without Landlock: got %q", args, got)
		}
	}
}

func TestLoopbackWorks(t *testing.T) {
	t.Parallel()
	if got := newSandbox(t).run(t, "helper", "loopback"); got != "done" {
		t.Errorf("the loopback: got %q, want it usable", got)
	}
}

func TestCommandsCanBeSignalledByHelperAndEachOther(t *testing.T) {
	t.Parallel()
	if got := newSandbox(t).run(t, "helper", "kill each other"); got != "done" {
		t.Errorf("processes that signal each other: got %q, want done", got)
	}
}

func TestHelperIsClosedToItsCommands(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	for name, want := range map[string]error{"helper's memory": unix.EACCES, "helper's environment": unix.EACCES,
		"helper's files": unix.EACCES, "helper's program": unix.EACCES, "trace helper": unix.EPERM, "peek helper": unix.EPERM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := s.run(t, "helper", name); got != want.Error() {
				t.Errorf("got %q, want %q", got, want)
			}
			if got := s.run(t, "bare", name); got != "done" {
				t.Errorf("without Apply it does not work either: %q", got)
			}
		})
	}
}

func TestCommandsAreOpenToDebuggers(t *testing.T) {
	t.Parallel()
	if got := newSandbox(t).run(t, "helper", "dumpable"); got != "done" {
		t.Errorf("a process that others may not read: got %q, want done", got)
	}
}

func TestEveryThreadIsConfined(t *testing.T) {
	t.Parallel()
	if got := newSandbox(t).run(t, "helper", "threads"); got != "done" {
		t.Errorf("threads: got %q, want all of them confined", got)
	}
}

func TestTheSecondStartIsTheSameProcess(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	t.Run("ItsPid", func(t *testing.T) {
		t.Parallel()
		cmd := s.cmd(t, "helper", "pid")
		out, _ := cmd.Output()
		if got, want := string(out), strconv.Itoa(cmd.Process.Pid); got != want {
			t.Errorf("pid is %s, want %s", got, want)
		}
	})
	t.Run("ItsFiles", func(t *testing.T) {
		t.Parallel()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		cmd := s.cmd(t, "helper", "inherited")
		cmd.ExtraFiles = []*os.File{r}
		if _, err := w.WriteString("from before"); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if out, _ := cmd.Output(); string(out) != "from before" {
			t.Errorf("got %q", out)
		}
	})
	t.Run("WithoutTheMarker", func(t *testing.T) {
		t.Parallel()
		if got := s.run(t, "helper", "own environment"); got != "" {
			t.Errorf("the helper sees %q", got)
		}
		if got := s.run(t, "helper", "environment"); strings.Contains(got, marker) || !strings.Contains(got, "HOME=") {
			t.Errorf("a command sees %s", got)
		}
	})
}

func TestApplyFailsAloud(t *testing.T) {
	t.Parallel()
	landlock(t, 1)
	t.Run("OnARelativePath", func(t *testing.T) {
		t.Parallel()
		s := newSandbox(t)
		s.options.Read = append(s.options.Read, "usr")
		out, _ := s.cmd(t, "helper", "dumpable").CombinedOutput()
		if !strings.Contains(string(out), `"usr"`) || strings.Contains(string(out), "done") {
			t.Errorf("got %s", out)
		}
	})
	t.Run("OnAForgedMarker", func(t *testing.T) {
		t.Parallel()
		cmd := newSandbox(t).cmd(t, "helper", "dumpable")
		cmd.Env = append(cmd.Env, marker+"=x")
		if out, _ := cmd.CombinedOutput(); !strings.Contains(string(out), marker) || strings.Contains(string(out), "done") {
			t.Errorf("got %s", out)
		}
	})
}

func TestProgramsWork(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, program, script, want string }{
		{"Shell", "sh", `echo one > a && ln -s a b && mkdir d && mv a d/ && cat d/a | tr o 0 && (sleep 0 & wait) && kill -0 $$ &&
			: < /dev/zero > /dev/null && trap 'exit 0' TERM && kill -TERM $$`, "0ne"},
		{"Terminal", "script", `script -qec 'tty >/dev/null && stty size >/dev/null && echo tty' /dev/null`, "tty"},
		{"Python", "python3", `exec /usr/bin/python3 -c '
import multiprocessing, os, socket, sqlite3, ssl, subprocess, tempfile, threading
with multiprocessing.Pool(2) as p: total = sum(p.map(abs, [-1, 2]))
t = threading.Thread(target=lambda: None); t.start(); t.join()
subprocess.run(["true"], check=True)
a, b = socket.socketpair(); a.send(b"x"); b.recv(1)
socket.create_server(("127.0.0.1", 0))
sqlite3.connect("x.db").execute("create table t (a)")
tempfile.TemporaryFile()
print(total)'`, "3"},
		{"Git", "git", `git init -q r && cd r && git config user.email a@b && git config user.name a && echo x > f &&
			git add f && git commit -qm one && git clone -q . ../c && git -C ../c gc -q && git -C ../c log --format=%s`, "one"},
		{"Node", "node", `node -e 'require("child_process").execSync("true");
			require("fs").writeFileSync("n", "x"); new (require("worker_threads").Worker)("0", {eval: true});
			require("http").createServer().listen(0, "127.0.0.1", function () { this.close(); console.log("node") })'`, "node"},
		{"GCC", "gcc", `echo 'int main(){return 0;}' > a.c && gcc a.c -o a.exe && ./a.exe && echo built`, "built"},
		{"Go", "go", `mkdir g && cd g && echo 'module g' > go.mod && echo 'package main
			func main() { println("hello") }' > g.go && CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS= go build -o g . 2>&1 && ./g 2>&1`, "hello"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			if c.name == "Go" {
				need.Time(t, "building with an empty cache")
				if _, err := os.Stat("/usr/local/go/bin/go"); err != nil {
					need.Missing(t, "the sandbox has Go only where it is in /usr/local/go: install it there")
				}
			} else {
				need.Program(t, c.program)
			}
			if got := s.run(t, "helper", "/bin/sh", "-c", c.script); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// BenchmarkSystemCall is what a call costs under the filter and without it.
func BenchmarkSystemCall(b *testing.B) {
	s := newSandbox(b)
	for _, call := range []string{"getpid", "ioctl", "keyctl"} {
		for _, role := range []string{"helper", "bare"} {
			b.Run(call+"/"+role, func(b *testing.B) {
				took, err := strconv.Atoi(s.run(b, role, "time", call, strconv.Itoa(b.N)))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(took)/float64(b.N), "ns/op")
			})
		}
	}
}

// BenchmarkApply is what a start costs with it and without, command included.
func BenchmarkApply(b *testing.B) {
	s := newSandbox(b)
	for _, role := range []string{"helper", "bare"} {
		b.Run(role, func(b *testing.B) {
			for b.Loop() {
				s.run(b, role, "pid")
			}
		})
	}
}

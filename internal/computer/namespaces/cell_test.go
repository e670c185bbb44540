package namespaces

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/cell"
	"lyceum/internal/need"
)

// looks is what a computer says of itself, a line for each thing.
const looks = `
import os
def flags(path):
    f = os.statvfs(path).f_flag
    return " ".join(n for n, b in (("ro", os.ST_RDONLY), ("nosuid", os.ST_NOSUID), ("nodev", os.ST_NODEV), ("noexec", os.ST_NOEXEC)) if f & b)
for p in "/ /usr /etc/passwd /etc/ssl/certs /home/agent /tmp /proc /proc/sys /proc/keys /dev /dev/null /dev/pts /dev/shm".split():
    if os.path.exists(p): print(p, flags(p), sep=": ")
for line in open("/proc/self/status"):
    if line.split(":")[0] in ("Groups", "NoNewPrivs", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "Seccomp"):
        print(line.replace("\t", " ").strip())
for p in ("/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/hostname", "/proc/self/setgroups"):
    print(p, open(p).read().strip(), sep=": ")
for n in "user mnt pid net ipc uts cgroup".split():
    print(os.readlink("/proc/self/ns/" + n))
print("ids:", os.getuid(), os.getgid())
print("sys:", os.path.exists("/sys"))
first = open("/proc/1/stat").read().split(")")[1].split()
print("parent and session of the first:", first[1], first[3])
for p in ("/tmp", "/dev/shm"):
    v = os.statvfs(p)
    print(p, "holds", v.f_blocks * v.f_frsize >> 20, "MiB in", v.f_files, "files")
`

// domains says how many domains of Landlock a process can still enter. The kernel has a most for
// that, and those that it is in count.
const domains = `
import ctypes
call = ctypes.CDLL(None).syscall
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
devices = ctypes.c_uint64(1 << 6)
rules = call(444, ctypes.byref(devices), ctypes.c_size_t(8), 0)
n = 0
while rules >= 0 and call(446, rules, 0) == 0: n += 1
print(n)
`

// TestEveryWallOfACell looks at each by itself. Many stand behind another, and no attempt to
// get out would show that one is missing.
func TestEveryWallOfACell(t *testing.T) {
	t.Parallel()
	need.Program(t, "python3")
	d := New(Options{})
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	b := boot(t)
	c, err := computer.Open(t.Context(), d, computer.Place{Home: b.Home, Dir: b.Dir}, computer.Spec{}, computer.Options{})
	if err != nil {
		t.Fatalf("open a computer: %v", err)
	}
	defer c.Stop(t.Context())
	r, err := c.Run(t.Context(), computer.Command{ID: "looks", Args: []string{"python3", "-c", looks}})
	if err != nil || r.Exit != 0 {
		t.Fatalf("look around: %v, exit %d: %s", err, r.Exit, r.Stderr.Head)
	}
	said := string(r.Stdout.Head)
	for _, want := range []string{
		"/: ro nosuid nodev", "/usr: ro nosuid nodev", "/etc/passwd: ro nosuid nodev", "/home/agent: nosuid nodev", "/tmp: nosuid nodev",
		"/proc: nosuid nodev noexec", "/proc/sys: ro nosuid nodev noexec", "/dev: ro nosuid nodev noexec",
		"/dev/null: ro nosuid noexec", "/dev/pts: nosuid noexec", "/dev/shm: nosuid nodev",
		"NoNewPrivs: 1", "Seccomp: 2", "CapInh: 0000000000000000", "CapPrm: 0000000000000000", "CapEff: 0000000000000000", "CapBnd: 0000000000000000", "CapAmb: 0000000000000000",
		"/proc/sys/user/max_user_namespaces: 0", "/proc/sys/kernel/hostname: lyceum", "/proc/self/setgroups: deny",
		"ids: 1000 1000", "sys: False", "parent and session of the first: 0 1",
		"/tmp holds 1024 MiB in 262144 files", "/dev/shm holds 512 MiB in 131072 files",
	} {
		if !strings.Contains(said, want+"\n") {
			t.Errorf("a wall of a cell: want %q in what it says of itself:\n%s", want, said)
		}
	}
	for _, name := range []string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"} {
		host, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil || strings.Contains(said, host+"\n") || !strings.Contains(said, "\n"+name+":[") {
			t.Errorf("the namespace %s of a computer: want another than the host's, %s %v, in\n%s", name, host, err, said)
		}
	}
	if _, err := os.Stat("/etc/ssl/certs"); err == nil && !strings.Contains(said, "/etc/ssl/certs: ro nosuid nodev noexec\n") {
		t.Errorf("a folder of /etc: want it closed, in\n%s", said)
	}
	t.Run("Landlock", func(t *testing.T) {
		here, err := exec.CommandContext(t.Context(), "python3", "-c", domains).Output()
		if err != nil {
			t.Fatalf("enter domains of Landlock in this process: %v", err)
		}
		most, err := strconv.Atoi(strings.TrimSpace(string(here)))
		if err != nil {
			t.Fatalf("how many domains this process can enter: got %q, want a number", here)
		}
		if most == 0 {
			need.Elsewhere(t, "this kernel has no Landlock")
		}
		r, err := c.Run(t.Context(), computer.Command{ID: "domains", Args: []string{"python3", "-c", domains}})
		if got := strings.TrimSpace(string(r.Stdout.Head)); err != nil || got != strconv.Itoa(most-1) {
			t.Errorf("how many domains of Landlock a program of a cell can enter, and here are %d: got %q (%v) %s, want one less, which it is in", most, got, err, r.Stderr.Head)
		}
	})
	if os.Geteuid() == 0 && !strings.Contains(said, "Groups: \n") && !strings.Contains(said, "Groups:\n") {
		t.Errorf("groups of a computer that root made: want none, in\n%s", said)
	}
}

// boot is what a driver is given to start a computer.
func boot(t *testing.T) *computer.Boot {
	t.Helper()
	dir := t.TempDir()
	b := &computer.Boot{Name: "lyceum-test", Dir: filepath.Join(dir, "computer"), Home: filepath.Join(dir, "home"), Spec: computer.Spec{Limits: computer.Limits{}.OrDefault()}}
	for _, d := range []string{b.Dir, b.Home} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// half starts a computer that waits at its gate, and hands over what then happens.
func half(t *testing.T, then func(cmd *exec.Cmd, gate, report *os.File)) *exec.Cmd {
	t.Helper()
	d := New(Options{})
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	b := boot(t)
	l, err := d.machine.Launch(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	cmd, err := launch{l}.command()
	if err != nil {
		t.Fatal(err)
	}
	gateInside, gate, err := l.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	report, reportInside, err := l.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{cell.Listener - 3: gateInside, cell.Program - 3: l.Self, cell.Gate - 3: gateInside, cell.Report - 3: reportInside}
	l.Start(cmd, func(started error) {
		gateInside.Close()
		reportInside.Close()
		if started != nil {
			t.Errorf("start a computer: %v", started)
			return
		}
		then(cmd, gate, report)
	})
	return cmd
}

// ends waits for the end of a process, which must come.
func ends(t *testing.T, cmd *exec.Cmd, what string) {
	t.Helper()
	late := time.AfterFunc(20*time.Second, func() {
		t.Errorf("%s: the computer that waits at its gate is still there", what)
		_ = cmd.Process.Kill()
	})
	_ = cmd.Wait()
	late.Stop()
}

// TestACellEndsWithLyceum is what becomes of a computer that is being made when Lyceum goes,
// between any two steps: it waits at the gate, which is the last of them.
func TestACellEndsWithLyceum(t *testing.T) {
	t.Parallel()
	t.Run("ByItsGate", func(t *testing.T) {
		t.Parallel()
		cmd := half(t, func(cmd *exec.Cmd, gate, report *os.File) {
			gate.Close()
			if said, _ := io.ReadAll(report); string(said) != "wait for Lyceum: EOF" {
				t.Errorf("a gate that nobody can open any more: got %q, want that it waited for Lyceum", said)
			}
			ends(t, cmd, "the gate is gone")
		})
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("a computer whose gate is gone: got %v, want an exit with 1", cmd.ProcessState)
		}
	})
	t.Run("ByASignal", func(t *testing.T) {
		t.Parallel()
		need.Root(t, "have a thread that ends, as Launch.Start does for it")
		// Its parent is the thread that started it, and the gate stays.
		cmd := half(t, func(*exec.Cmd, *os.File, *os.File) {})
		ends(t, cmd, "the parent is gone")
	})
}

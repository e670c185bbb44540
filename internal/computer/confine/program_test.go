package confine

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/need"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "write numbers.txt anew")

// call is a system call as a filter sees it.
type call struct {
	arch, nr uint32
	args     [6]uint64
}

// run does what the kernel does with a program, and counts its steps.
func run(t *testing.T, p program, c call) (action uint32, steps int) {
	t.Helper()
	data := make([]byte, 64)
	binary.LittleEndian.PutUint32(data[0:], c.nr)
	binary.LittleEndian.PutUint32(data[4:], c.arch)
	for i, a := range c.args {
		binary.LittleEndian.PutUint64(data[16+8*i:], a)
	}
	var acc uint32
	for pc := 0; pc < len(p); pc++ {
		steps++
		in := p[pc]
		to := map[bool]int{true: int(in.Jt), false: int(in.Jf)}
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			acc = binary.LittleEndian.Uint32(data[in.K:])
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			acc &= in.K
		case unix.BPF_JMP | unix.BPF_JA:
			pc += int(in.K)
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			pc += to[acc == in.K]
		case unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K:
			pc += to[acc > in.K]
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			pc += to[acc >= in.K]
		case unix.BPF_RET | unix.BPF_K:
			return in.K, steps
		default:
			t.Fatalf("instruction %d has code %#x", pc, in.Code)
		}
	}
	t.Fatal("the program ran off its end")
	return 0, 0
}

// audits are the architectures as the kernel numbers them.
var audits = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// machine asks the filter of an architecture.
type machine struct {
	program program
	table   map[string]uint32
	audit   uint32
}

func machineOf(t *testing.T, arch string) machine {
	t.Helper()
	p, err := Filter(arch)
	if err != nil {
		t.Fatal(err)
	}
	audit, table, err := architecture(arch)
	if err != nil {
		t.Fatal(err)
	}
	if audit != audits[arch] {
		t.Fatalf("%s is architecture %#x, want %#x", arch, audit, audits[arch])
	}
	return machine{p, table, audit}
}

func (m machine) ask(t *testing.T, name string, args ...uint64) uint32 {
	t.Helper()
	nr, ok := m.table[name]
	if !ok {
		t.Fatalf("no system call %s", name)
	}
	c := call{arch: m.audit, nr: nr}
	copy(c.args[:], args)
	action, _ := run(t, m.program, c)
	return action
}

func eachArch(t *testing.T, f func(t *testing.T, m machine)) {
	for arch := range audits {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			f(t, machineOf(t, arch))
		})
	}
}

func TestFilterAllowsWhatProgramsNeed(t *testing.T) {
	t.Parallel()
	eachArch(t, func(t *testing.T, m machine) {
		for _, name := range []string{"read", "write", "openat", "execve", "mmap", "futex", "wait4", "ptrace", "process_vm_readv",
			"seccomp", "landlock_restrict_self", "prctl", "memfd_create", "pidfd_open", "connect", "statx", "rseq", "exit_group"} {
			if a := m.ask(t, name); a != retAllow {
				t.Errorf("%s gets %#x", name, a)
			}
		}
	})
}

func TestFilterRefuses(t *testing.T) {
	t.Parallel()
	eachArch(t, func(t *testing.T, m machine) {
		names := append(slices.Clone(refused), "acct", "swapon", "settimeofday", "clock_settime", "syslog", "vhangup",
			"fanotify_init", "lookup_dcookie", "pidfd_getfd", "kcmp", "quotactl", "sethostname", "nfsservctl")
		seen := 0
		for _, name := range names {
			if _, ok := m.table[name]; !ok {
				continue
			}
			seen++
			if a := m.ask(t, name); a != retPerm {
				t.Errorf("%s gets %#x", name, a)
			}
		}
		if seen < len(names)-4 {
			t.Errorf("only %d of %d names are system calls here", seen, len(names))
		}
	})
}

// TestFilterIsDockersList holds the program against the list it was made of, call by
// call and without the search tree.
func TestFilterIsDockersList(t *testing.T) {
	t.Parallel()
	for arch := range audits {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			m := machineOf(t, arch)
			want := map[string]bool{}
			for _, s := range seccomp.DefaultProfile().Syscalls {
				if s.Action == specs.ActAllow && len(s.Args) == 0 && applies(s, arch, seccomp.KernelVersion{Kernel: 7}) &&
					(s.Includes == nil || len(s.Includes.Caps) == 0) {
					for _, name := range s.Names {
						want[name] = !slices.Contains(refused, name) && name != "socketpair" && name != "fallocate" && name != "openat2"
					}
				}
			}
			allowed := 0
			for name := range m.table {
				if m.ask(t, name) == retAllow != (want[name] || name == "clone" || name == "personality") {
					t.Errorf("%s gets %#x", name, m.ask(t, name))
				}
				if want[name] {
					allowed++
				}
			}
			if allowed < 250 {
				t.Errorf("only %d calls are allowed", allowed)
			}
		})
	}
}

func TestFilterLooksAtArguments(t *testing.T) {
	t.Parallel()
	const (
		high    = 1 << 32
		flags   = unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
		minus1  = math.MaxUint64
		sctp    = unix.IPPROTO_SCTP
		negated = 0xffffffff00000000
	)
	cases := []struct {
		name string
		args []uint64
		want uint32
	}{
		{"socket", []uint64{unix.AF_UNIX, unix.SOCK_STREAM | flags}, retAllow},
		{"socket", []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, retAllow},
		{"socket", []uint64{unix.AF_INET, unix.SOCK_STREAM | flags, unix.IPPROTO_TCP}, retAllow},
		{"socket", []uint64{unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, retAllow},
		{"socket", []uint64{unix.AF_INET, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC, 0}, retAllow},
		{"socket", []uint64{unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_ICMPV6}, retAllow},
		{"socket", []uint64{unix.AF_INET, unix.SOCK_STREAM, sctp}, retPerm},
		{"socket", []uint64{unix.AF_INET, unix.SOCK_SEQPACKET, sctp}, retPerm},
		{"socket", []uint64{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}, retPerm},
		{"socket", []uint64{unix.AF_INET, unix.SOCK_RAW | flags, unix.IPPROTO_ICMP}, retPerm},
		{"socket", []uint64{unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6}, retPerm},
		{"socket", []uint64{unix.AF_INET | high, unix.SOCK_RAW | high, unix.IPPROTO_ICMP}, retPerm},
		{"socket", []uint64{unix.AF_INET, unix.SOCK_PACKET, 0}, retPerm},
		{"socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW | flags, unix.NETLINK_ROUTE}, retAllow},
		{"socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER}, retPerm},
		{"socket", []uint64{unix.AF_NETLINK, unix.SOCK_DGRAM, unix.NETLINK_AUDIT | high}, retPerm},
		{"socket", []uint64{unix.AF_VSOCK, unix.SOCK_STREAM}, retPerm},
		{"socket", []uint64{unix.AF_VSOCK | high, unix.SOCK_STREAM}, retPerm},
		{"socket", []uint64{unix.AF_PACKET, unix.SOCK_DGRAM}, retPerm},
		{"socket", []uint64{unix.AF_ALG, unix.SOCK_SEQPACKET}, retPerm},
		{"socket", []uint64{unix.AF_BLUETOOTH, unix.SOCK_STREAM}, retPerm},
		{"socket", []uint64{minus1, unix.SOCK_STREAM}, retPerm},
		{"socket", []uint64{unix.AF_INET | 0x100, unix.SOCK_STREAM}, retPerm},
		{"socket", []uint64{unix.AF_NETLINK, unix.SOCK_RAW, 0x100}, retPerm},
		{"socketpair", []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, retAllow},
		{"socketpair", []uint64{unix.AF_TIPC, unix.SOCK_SEQPACKET}, retPerm},
		{"socketpair", []uint64{unix.AF_VSOCK, unix.SOCK_STREAM}, retPerm},
		{"ioctl", []uint64{0, unix.TCGETS}, retAllow},
		{"ioctl", []uint64{0, unix.TIOCGWINSZ}, retAllow},
		{"ioctl", []uint64{0, unix.TIOCINQ}, retAllow},
		{"ioctl", []uint64{0, unix.TIOCGPTN}, retAllow},
		{"ioctl", []uint64{0, unix.TIOCGPTN | negated}, retAllow}, // as musl calls it
		{"ioctl", []uint64{0, unix.TIOCSTI}, retPerm},
		{"ioctl", []uint64{0, unix.TIOCSTI | high}, retPerm},
		{"ioctl", []uint64{0, unix.TIOCSTI | negated}, retPerm},
		{"ioctl", []uint64{0, unix.TIOCSTI + 1}, retAllow},
		{"ioctl", []uint64{0, unix.TIOCSTI - 1}, retAllow},
		{"ioctl", []uint64{0, unix.TIOCLINUX}, retPerm},
		{"ioctl", []uint64{0, unix.TIOCLINUX | 5<<32}, retPerm},
		{"ioctl", []uint64{0, unix.TIOCSETD}, retPerm},
		{"ioctl", []uint64{0, unix.FS_IOC_SETFLAGS}, retPerm},
		{"ioctl", []uint64{0, unix.FS_IOC_SETFLAGS | negated}, retPerm},
		{"ioctl", []uint64{0, unix.FS_IOC_GETFLAGS}, retAllow},
		{"ioctl", []uint64{0, 0x401c5820}, retPerm}, // FS_IOC_FSSETXATTR
		{"ioctl", []uint64{0, 0x801c581f}, retAllow},
		{"clone", []uint64{uint64(unix.SIGCHLD)}, retAllow},
		{"clone", []uint64{unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PIDFD | uint64(unix.SIGCHLD)}, retAllow},
		{"clone", []uint64{unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND | unix.CLONE_SETTLS | unix.CLONE_FILES | unix.CLONE_FS}, retAllow},
		{"clone", []uint64{unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND | unix.CLONE_SETTLS | unix.CLONE_FS}, retPerm},
		{"clone", []uint64{unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND | unix.CLONE_SETTLS | unix.CLONE_FILES}, retPerm},
		{"clone", []uint64{unix.CLONE_THREAD | unix.CLONE_FILES | unix.CLONE_FS | unix.CLONE_NEWNS}, retPerm},
		{"close_range", []uint64{3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC}, retAllow},
		{"close_range", []uint64{3, math.MaxUint32, unix.CLOSE_RANGE_UNSHARE}, retPerm},
		{"close_range", []uint64{3, math.MaxUint32, unix.CLOSE_RANGE_UNSHARE | unix.CLOSE_RANGE_CLOEXEC}, retPerm},
		{"prctl", []uint64{unix.PR_SET_DUMPABLE, 1}, retAllow},
		{"prctl", []uint64{unix.PR_SET_DUMPABLE, 0}, retPerm},
		{"prctl", []uint64{unix.PR_SET_DUMPABLE | high, 0}, retPerm},
		{"prctl", []uint64{unix.PR_SET_DUMPABLE, 1 | high}, retPerm},
		{"prctl", []uint64{unix.PR_GET_DUMPABLE, 0}, retAllow},
		{"prctl", []uint64{unix.PR_SET_NAME, 0}, retAllow},
		{"prctl", []uint64{unix.PR_SET_NO_NEW_PRIVS, 1}, retAllow},
		{"memfd_secret", nil, retPerm},
		{"clone", []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, retPerm},
		{"clone", []uint64{unix.CLONE_NEWNS}, retPerm},
		{"clone", []uint64{unix.CLONE_NEWPID | high}, retPerm},
		{"clone", []uint64{unix.CLONE_NEWNET}, retPerm},
		{"clone", []uint64{unix.CLONE_NEWIPC}, retPerm},
		{"clone", []uint64{unix.CLONE_NEWUTS}, retPerm},
		{"clone", []uint64{unix.CLONE_NEWCGROUP}, retPerm},
		{"clone3", nil, retNoSys},
		{"personality", []uint64{0}, retAllow},
		{"personality", []uint64{8}, retAllow},
		{"personality", []uint64{0xffffffff}, retAllow},
		{"personality", []uint64{0x40000}, retPerm}, // ADDR_NO_RANDOMIZE
		{"personality", []uint64{8 | high}, retPerm},
	}
	eachArch(t, func(t *testing.T, m machine) {
		for _, c := range cases {
			if a := m.ask(t, c.name, c.args...); a != c.want {
				t.Errorf("%s%#x gets %#x, want %#x", c.name, c.args, a, c.want)
			}
		}
	})
}

func TestFilterKillsForeignArchitectures(t *testing.T) {
	t.Parallel()
	eachArch(t, func(t *testing.T, m machine) {
		foreign := []uint32{unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, unix.AUDIT_ARCH_RISCV64, 0, m.audit ^ 1}
		foreign = append(foreign, audits["amd64"], audits["arm64"])
		for _, arch := range foreign {
			if arch == m.audit {
				continue
			}
			for nr := range uint32(600) {
				if a, steps := run(t, m.program, call{arch: arch, nr: nr}); a != retKill || steps != 3 {
					t.Fatalf("call %d of architecture %#x gets %#x after %d steps", nr, arch, a, steps)
				}
			}
		}
	})
}

func TestFilterKnowsNoX32AndNoNewerCalls(t *testing.T) {
	t.Parallel()
	eachArch(t, func(t *testing.T, m machine) {
		for nr := range uint32(1000) {
			if a, _ := run(t, m.program, call{arch: m.audit, nr: nr | 0x40000000}); a != retNoSys {
				t.Fatalf("x32 call %d gets %#x", nr, a)
			}
		}
		for _, nr := range []uint32{472, 512, 520, 547, 1 << 20, math.MaxInt32, math.MaxUint32} {
			if a, _ := run(t, m.program, call{arch: m.audit, nr: nr}); a != retNoSys {
				t.Errorf("call %d gets %#x", nr, a)
			}
		}
	})
}

func TestFilterOfAnOldKernelHasNoPtrace(t *testing.T) {
	t.Parallel()
	m := machineOf(t, "amd64")
	for version, want := range map[seccomp.KernelVersion]uint32{{Kernel: 4, Major: 7}: retPerm, {Kernel: 4, Major: 8}: retAllow, {Kernel: 5}: retAllow} {
		var err error
		if m.program, err = compile(allowlist(), "amd64", version); err != nil {
			t.Fatal(err)
		}
		if a := m.ask(t, "ptrace"); a != want {
			t.Errorf("ptrace on %v gets %#x", version, a)
		}
	}
}

// TestFilterKeepsProcessesToThemselves: limits and priorities are a process's own to set, and no
// file is made that gives its owner's rights to whoever runs it.
func TestFilterKeepsProcessesToThemselves(t *testing.T) {
	t.Parallel()
	const noSupport, noCall = unix.SECCOMP_RET_ERRNO | uint32(unix.EOPNOTSUPP), unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	const cut = 0xffffffff00000000 // bits that the kernel does not look at
	for _, c := range []struct {
		name string
		args []uint64
		want uint32
	}{
		{"prlimit64", []uint64{0, 7, 0x1000}, retAllow},
		{"prlimit64", []uint64{1, 7, 0}, retAllow},
		{"prlimit64", []uint64{1, 7, 0x1000}, retPerm},
		{"prlimit64", []uint64{1, 7, 0x100000000}, retPerm},
		{"setpriority", []uint64{0, 0, 5}, retAllow},
		{"setpriority", []uint64{0, 1, 5}, retPerm},
		{"ioprio_set", []uint64{1, 1, 5}, retPerm},
		{"sched_setscheduler", []uint64{1}, retPerm},
		{"sched_setattr", []uint64{0}, retAllow},
		{"sched_setattr", []uint64{1}, retPerm},
		{"sched_setparam", []uint64{1}, retPerm},
		{"sched_setaffinity", []uint64{0}, retPerm},
		{"sched_getaffinity", []uint64{1}, retAllow},
		{"chmod", []uint64{0, 0o755}, retAllow},
		{"chmod", []uint64{0, 0o4755}, retPerm},
		{"fchmod", []uint64{0, 0o2755}, retPerm},
		{"fchmod", []uint64{0, cut | 0o6755}, retPerm},
		{"fchmodat", []uint64{0, 0, 0o1777}, retAllow},
		{"fchmodat", []uint64{0, 0, 0o4000}, retPerm},
		{"mknodat", []uint64{0, 0, unix.S_IFREG | 0o4755}, retPerm},
		{"open", []uint64{0, unix.O_RDONLY, 0o4755}, retAllow},
		{"open", []uint64{0, unix.O_CREAT, 0o4755}, retPerm},
		{"creat", []uint64{0, 0o4755}, retPerm},
		{"openat", []uint64{0, 0, unix.O_RDONLY, 0o6000}, retAllow},
		{"openat", []uint64{0, 0, unix.O_CREAT | unix.O_WRONLY, 0o644}, retAllow},
		{"openat", []uint64{0, 0, unix.O_CREAT | unix.O_WRONLY, 0o4755}, retPerm},
		{"openat", []uint64{0, 0, unix.O_TMPFILE | unix.O_RDWR, 0o4755}, retPerm},
		{"openat2", nil, noCall},
		{"fallocate", nil, noSupport},
	} {
		eachArch(t, func(t *testing.T, m machine) {
			if _, ok := m.table[c.name]; !ok {
				return // not a call of this architecture
			}
			if got := m.ask(t, c.name, c.args...); got != c.want {
				t.Errorf("%s%x gets %#x, want %#x", c.name, c.args, got, c.want)
			}
		})
	}
}

func TestFilterIsShort(t *testing.T) {
	t.Parallel()
	eachArch(t, func(t *testing.T, m machine) {
		worst, total := 0, 0
		for _, nr := range m.table {
			_, steps := run(t, m.program, call{arch: m.audit, nr: nr})
			worst, total = max(worst, steps), total+steps
		}
		_, tcgets := run(t, m.program, call{arch: m.audit, nr: m.table["ioctl"], args: [6]uint64{0, unix.TCGETS}})
		t.Logf("%d instructions; steps: mean %.1f, ioctl(TCGETS) %d", len(m.program), float64(total)/float64(len(m.table)), tcgets)
		if len(m.program) > 1000 || total > 16*len(m.table) {
			t.Errorf("%d instructions, %d steps for %d calls", len(m.program), total, len(m.table))
		}
	})
}

func TestFilterOfAnotherMachineIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := Filter("riscv64"); err == nil || !strings.Contains(err.Error(), "riscv64") {
		t.Errorf("got %v", err)
	}
}

func TestConditionsCompareAllBits(t *testing.T) {
	t.Parallel()
	values := []uint64{0, 1, 5, 1 << 31, math.MaxUint32, 1 << 32, 1<<32 | 5, 5<<32 | 1, 1 << 63, math.MaxUint64}
	ops := map[specs.LinuxSeccompOperator]func(a, v uint64) bool{
		specs.OpEqualTo:      func(a, v uint64) bool { return a == v },
		specs.OpNotEqual:     func(a, v uint64) bool { return a != v },
		specs.OpGreaterThan:  func(a, v uint64) bool { return a > v },
		specs.OpGreaterEqual: func(a, v uint64) bool { return a >= v },
		specs.OpLessThan:     func(a, v uint64) bool { return a < v },
		specs.OpLessEqual:    func(a, v uint64) bool { return a <= v },
	}
	check := func(want bool, a uint64, c specs.LinuxSeccompArg) {
		// A second condition, always true, shows that matches go on where they should.
		rule, err := compileRule(allow("x", c, masked(0, 0, 0)))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := run(t, append(rule, ret(retPerm)), call{args: [6]uint64{0, 0, 0, 0, 0, a}})
		if got == retAllow != want {
			t.Errorf("the filter decides wrongly on %#x %s %#x, %#x: %v", a, c.Op, c.Value, c.ValueTwo, !want)
		}
	}
	for _, a := range values {
		for _, v := range values {
			for op, holds := range ops {
				check(holds(a, v), a, specs.LinuxSeccompArg{Index: 5, Op: op, Value: v})
			}
			for _, mask := range values {
				check(a&mask == v&mask, a, specs.LinuxSeccompArg{Index: 5, Op: specs.OpMaskedEqual, Value: mask, ValueTwo: v})
			}
		}
	}
}

func TestRulesThatAreNotUnderstoodAreErrors(t *testing.T) {
	t.Parallel()
	trace := allow("read")
	trace.Action = specs.ActTrace
	for _, s := range []*seccomp.Syscall{trace, allow("read", specs.LinuxSeccompArg{Op: "SCMP_CMP_NEW"}), allow("read", equal32(6, 0))} {
		list := &seccomp.Seccomp{Syscalls: []*seccomp.Syscall{s}}
		if _, err := compile(list, "amd64", seccomp.KernelVersion{Kernel: 6}); err == nil {
			t.Errorf("%+v compiles", s.LinuxSyscall)
		}
	}
}

// TestSearchJumpsFar: a condition that is long makes conditional jumps too short.
func TestSearchJumpsFar(t *testing.T) {
	t.Parallel()
	long := slices.Repeat(program{load(0)}, 400)
	p := search([]span{{0, append(slices.Clone(long), ret(1))}, {10, program{ret(2)}}, {20, append(long, ret(3))}, {30, program{ret(4)}}})
	for nr, want := range map[uint32]uint32{0: 1, 9: 1, 10: 2, 19: 2, 20: 3, 30: 4, math.MaxUint32: 4} {
		if got, _ := run(t, append(program{load(0)}, p...), call{nr: nr}); got != want {
			t.Errorf("%d leads to %d, want %d", nr, got, want)
		}
	}
}

func TestExceptLeavesOutTheValuesAndNothingElse(t *testing.T) {
	t.Parallel()
	values := slices.Concat(terminal, projects)
	cubes := except(values)
	covers := func(n uint32) bool {
		return slices.ContainsFunc(cubes, func(c cube) bool { return n&c.mask == c.value })
	}
	for n := range uint32(1 << 16) {
		for _, n := range []uint32{n, n << 16, n<<16 | unix.TIOCSTI, n | 0x80040000, n | projects[0]&^0xffff, n | projects[1]&^0xffff} {
			if covers(n) == slices.Contains(values, n) {
				t.Fatalf("%#x: covered is %v", n, covers(n))
			}
		}
	}
}

func TestProfileIsTheSameList(t *testing.T) {
	t.Parallel()
	text, err := Profile()
	if err != nil {
		t.Fatal(err)
	}
	// What an engine makes of it for a container that has been given capabilities.
	caps := []string{"CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_DAC_READ_SEARCH", "CAP_BPF"}
	spec := &specs.Spec{Process: &specs.Process{Capabilities: &specs.LinuxCapabilities{Bounding: caps}}}
	loaded, err := seccomp.LoadProfile(string(text), spec)
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded.Architectures) != 1 {
		t.Errorf("architectures are %v, want only the native one", loaded.Architectures)
	}
	if loaded.DefaultAction != specs.ActErrno {
		t.Errorf("the default is %s", loaded.DefaultAction)
	}
	list := &seccomp.Seccomp{}
	for _, s := range loaded.Syscalls {
		// runc takes several conditions on one argument as alternatives.
		seen := map[uint]bool{}
		for _, a := range s.Args {
			if seen[a.Index] {
				t.Errorf("%v has two conditions on argument %d", s.Names, a.Index)
			}
			seen[a.Index] = true
		}
		list.Syscalls = append(list.Syscalls, &seccomp.Syscall{LinuxSyscall: s})
	}
	arch := map[specs.Arch]string{specs.ArchX86_64: "amd64", specs.ArchAARCH64: "arm64"}[loaded.Architectures[0]]
	got, err := compile(list, arch, seccomp.KernelVersion{Kernel: 7})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Filter(arch)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the numbers of system calls differ (-want +got):\n%s", diff)
	}
}

// TestNumbersAreThoseOfTheLibrary: run with -update when golang.org/x/sys knows more.
func TestNumbersAreThoseOfTheLibrary(t *testing.T) {
	t.Parallel()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		need.Missing(t, "go list does not run here (%v), and finds the library's source: put go into the PATH", err)
	}
	constant := regexp.MustCompile(`(?m)^\s+SYS_(\w+)\s+= (\d+)$`)
	table := map[string][2]string{}
	for column, arch := range []string{"amd64", "arm64"} {
		name := filepath.Join(strings.TrimSpace(string(dir)), "unix", "zsysnum_linux_"+arch+".go")
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range constant.FindAllStringSubmatch(string(source), -1) {
			row := table[strings.ToLower(match[1])]
			row[column] = match[2]
			table[strings.ToLower(match[1])] = row
		}
	}
	var lines []string
	for name, row := range table {
		for i := range row {
			if row[i] == "" {
				row[i] = "-"
			}
		}
		lines = append(lines, fmt.Sprintf("%s %s %s\n", name, row[0], row[1]))
	}
	slices.Sort(lines)
	want := strings.Join(lines, "")
	if *update {
		if err := os.WriteFile("numbers.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, numbers); diff != "" {
		t.Errorf("numbers.txt (-library +file), run with -update:\n%s", diff)
	}
}

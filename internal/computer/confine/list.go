package confine

import (
	"encoding/json"
	"math"
	"math/bits"
	"slices"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// refused are never allowed, whatever Docker's list says, now or in a version to
// come: they have been ways out of sandboxes, and programs do without them.
var refused = []string{
	"add_key", "keyctl", "request_key", // keyrings are not in any namespace
	"userfaultfd", "perf_event_open", "bpf",
	"io_uring_setup", "io_uring_enter", "io_uring_register", // does calls past the filter
	"name_to_handle_at", "open_by_handle_at", // reaches files past the mounts
	"mount", "umount", "umount2", "mount_setattr", "move_mount", "pivot_root", "chroot",
	"open_tree", "open_tree_attr", "fsopen", "fsconfig", "fsmount", "fspick",
	"setns", "unshare", // clone with a new namespace is refused by its flags, clone3 altogether
	"memfd_secret",      // memory that nothing counts once it is unmapped
	"sched_setaffinity", // where there are no control groups, it is what limits processors
	"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot",
}

// replaced have rules of our own.
var replaced = []string{
	"socket", "socketpair", "ioctl", "prctl", "clone", "close_range",
	"prlimit64", "setpriority", "ioprio_set", "sched_setscheduler", "sched_setparam", "sched_setattr",
	"chmod", "fchmod", "fchmodat", "fchmodat2", "open", "openat", "openat2", "creat", "mknod", "mknodat", "fallocate",
}

// terminal are the commands of ioctl by which a program types into a terminal that
// others read (TIOCSTI, TIOCLINUX), or loads a line discipline into the kernel.
var terminal = []uint32{unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSETD}

// projects are those by which the owner of a file takes it out of the project that it counts for (FS_IOC_SETFLAGS,
// FS_IOC_FSSETXATTR). In a user namespace the kernel refuses that itself; containers have none.
var projects = []uint32{unix.FS_IOC_SETFLAGS, 0x401c5820}

// allowlist is Docker's list as it is for a process without capabilities, and ours.
// Rules for one call are alternatives; the conditions of a rule must all hold.
func allowlist() *seccomp.Seccomp {
	p := seccomp.DefaultProfile()
	// No other architectures beside the native one, such as i386 on amd64.
	p.ArchMap = []seccomp.Architecture{{Arch: specs.ArchX86_64}, {Arch: specs.ArchAARCH64}}
	var kept []*seccomp.Syscall
	for _, s := range p.Syscalls {
		if s.Includes != nil && len(s.Includes.Caps) > 0 {
			continue
		}
		if s.Excludes != nil {
			s.Excludes.Caps = nil
		}
		s.Names = slices.DeleteFunc(s.Names, func(name string) bool {
			return slices.Contains(refused, name) || slices.Contains(replaced, name)
		})
		if len(s.Names) > 0 {
			kept = append(kept, s)
		}
	}
	p.Syscalls = append(kept, sockets()...)
	p.Syscalls = append(p.Syscalls, allow("socketpair", equal32(0, unix.AF_UNIX)))
	p.Syscalls = append(p.Syscalls, selfish()...)
	p.Syscalls = append(p.Syscalls, plainModes()...)
	p.Syscalls = append(p.Syscalls, visible()...)
	p.Syscalls = append(p.Syscalls,
		// Room that is taken without being written is taken faster than anybody looks.
		deny("fallocate", unix.EOPNOTSUPP),
		// Its mode stands in memory, where a filter cannot look; programs then use openat.
		deny("openat2", unix.ENOSYS))
	for _, c := range except(slices.Concat(terminal, projects)) {
		p.Syscalls = append(p.Syscalls, allow("ioctl", masked(1, c.mask, c.value)))
	}
	return p
}

// Profile is the filter's list in the form that a Docker engine takes with
// --security-opt seccomp=. Calls of other architectures are killed there too.
func Profile() ([]byte, error) { return json.MarshalIndent(allowlist(), "", "\t") }

// sockets are those of families, types and protocols that programs have a use for.
// The others are little tested code in the kernel, some of which is loaded just by
// asking for it.
func sockets() []*seccomp.Syscall {
	const anyProtocol = math.MaxUint32
	kinds := []struct {
		families, types []uint32
		protocols       []uint32
	}{
		{[]uint32{unix.AF_UNIX}, []uint32{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_SEQPACKET}, []uint32{anyProtocol}},
		{[]uint32{unix.AF_INET, unix.AF_INET6}, []uint32{unix.SOCK_STREAM}, []uint32{0, unix.IPPROTO_TCP, unix.IPPROTO_MPTCP}},
		{[]uint32{unix.AF_INET}, []uint32{unix.SOCK_DGRAM}, []uint32{0, unix.IPPROTO_UDP, unix.IPPROTO_ICMP}},
		{[]uint32{unix.AF_INET6}, []uint32{unix.SOCK_DGRAM}, []uint32{0, unix.IPPROTO_UDP, unix.IPPROTO_ICMPV6}},
		// Raw is netlink's usual type, and means nothing there.
		{[]uint32{unix.AF_NETLINK}, []uint32{unix.SOCK_RAW, unix.SOCK_DGRAM}, []uint32{unix.NETLINK_ROUTE}},
	}
	// The type shares its argument with flags such as SOCK_CLOEXEC.
	const typeMask = 0xf
	var list []*seccomp.Syscall
	for _, k := range kinds {
		for _, family := range k.families {
			for _, kind := range k.types {
				for _, protocol := range k.protocols {
					args := []specs.LinuxSeccompArg{equal32(0, family), masked(1, typeMask, kind)}
					if protocol != anyProtocol {
						args = append(args, equal32(2, protocol))
					}
					list = append(list, allow("socket", args...))
				}
			}
		}
	}
	return list
}

// selfish are the calls by which a process sets limits or priorities: its own, not the
// helper's, which has the same user.
func selfish() []*seccomp.Syscall {
	list := []*seccomp.Syscall{
		allow("prlimit64", equal32(0, 0)),
		allow("prlimit64", specs.LinuxSeccompArg{Index: 2, Op: specs.OpEqualTo, Value: 0}), // it only asks
		allow("setpriority", equal32(1, 0)),
		allow("ioprio_set", equal32(1, 0)),
	}
	for _, name := range []string{"sched_setscheduler", "sched_setparam", "sched_setattr"} {
		list = append(list, allow(name, equal32(0, 0)))
	}
	return list
}

// plainModes are the calls that give a file its mode: one by which whoever runs it
// gets its owner's rights has no place in a home that the host can see.
func plainModes() []*seccomp.Syscall {
	const setID = unix.S_ISUID | unix.S_ISGID
	const makes = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY
	var list []*seccomp.Syscall
	for _, c := range []struct {
		name string
		mode uint // which argument
	}{{"chmod", 1}, {"fchmod", 1}, {"fchmodat", 2}, {"fchmodat2", 2}, {"creat", 1}, {"mknod", 1}, {"mknodat", 2}, {"open", 2}, {"openat", 3}} {
		list = append(list, allow(c.name, masked(c.mode, setID, 0)))
	}
	// Where nothing is made, the mode is not looked at, and may be anything.
	return append(list, allow("open", masked(1, makes, 0)), allow("openat", masked(2, makes, 0)))
}

// visible keeps what a process holds where the helper can see it, which counts by /proc. A
// process that cannot be dumped shows nothing there, and a thread that has files or a
// working directory of its own is not looked at by itself.
func visible() []*seccomp.Syscall {
	const spaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
		unix.CLONE_NEWPID | unix.CLONE_NEWNET
	const thread = unix.CLONE_THREAD | unix.CLONE_FILES | unix.CLONE_FS
	list := []*seccomp.Syscall{
		allow("clone", masked(0, spaces|unix.CLONE_THREAD, 0)),
		allow("clone", masked(0, spaces|thread, thread)),
		allow("close_range", masked(2, unix.CLOSE_RANGE_UNSHARE, 0)),
		allow("prctl", equal32(0, unix.PR_SET_DUMPABLE), specs.LinuxSeccompArg{Index: 1, Op: specs.OpEqualTo, Value: 1}),
	}
	for _, c := range except([]uint32{unix.PR_SET_DUMPABLE}) {
		list = append(list, allow("prctl", masked(0, c.mask, c.value)))
	}
	return list
}

func deny(name string, errno unix.Errno) *seccomp.Syscall {
	code := uint(errno)
	return &seccomp.Syscall{LinuxSyscall: specs.LinuxSyscall{Names: []string{name}, Action: specs.ActErrno, ErrnoRet: &code}}
}

func allow(name string, args ...specs.LinuxSeccompArg) *seccomp.Syscall {
	return &seccomp.Syscall{LinuxSyscall: specs.LinuxSyscall{Names: []string{name}, Action: specs.ActAllow, Args: args}}
}

func masked(index uint, mask, value uint32) specs.LinuxSeccompArg {
	return specs.LinuxSeccompArg{Index: index, Op: specs.OpMaskedEqual, Value: uint64(mask), ValueTwo: uint64(value)}
}

// equal32 looks at the lower half only, as the kernel does with an int: a condition
// on the whole would miss a value with some bit set above.
func equal32(index uint, value uint32) specs.LinuxSeccompArg {
	return masked(index, math.MaxUint32, value)
}

// cube is the set of all numbers that equal value in the bits of mask.
type cube struct{ mask, value uint32 }

// except covers every number that is not among the values, and none of them. Engines
// know no "differs in these bits", and a rule that refuses cannot stand beside one
// that allows the same call; so the complement is spelled out. Cubes near the values
// come first, for most commands of ioctl are near them, and the first match ends it.
func except(values []uint32) []cube {
	cubes := exceptBelow(values, cube{}, 1<<31)
	slices.SortStableFunc(cubes, func(a, b cube) int {
		return bits.OnesCount32(b.mask) - bits.OnesCount32(a.mask)
	})
	return cubes
}

// exceptBelow splits a cube by its highest open bit until a part has none of the
// values, or is one.
func exceptBelow(values []uint32, at cube, bit uint32) []cube {
	if len(values) == 0 {
		return []cube{at}
	}
	if bit == 0 {
		return nil
	}
	var zero, one []uint32
	for _, v := range values {
		if v&bit == 0 {
			zero = append(zero, v)
		} else {
			one = append(one, v)
		}
	}
	return slices.Concat(
		exceptBelow(zero, cube{at.mask | bit, at.value}, bit>>1),
		exceptBelow(one, cube{at.mask | bit, at.value | bit}, bit>>1))
}

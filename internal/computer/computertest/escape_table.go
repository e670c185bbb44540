package computertest

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lyceum/internal/computer"

	"golang.org/x/sys/unix"
)

// proof is where a program is run to show that it succeeds where nothing prevents it.
type proof struct {
	where stage
	// why there is none.
	why string
}

type stage int

const (
	// nowhere: it would harm the host, or cannot succeed on it.
	nowhere stage = iota
	// bare is the host, as whoever runs the test.
	bare
	// asRoot is the host too, for what only root can do there.
	asRoot
	// weak is a sandbox without walls: namespaces of its own with all capabilities in
	// them, and no filter.
	weak
)

var (
	onHost   = proof{where: bare}
	byRoot   = proof{where: asRoot}
	unwalled = proof{where: weak}
)

func none(why string) proof { return proof{why: why} }

// fixed are arguments that are the same for every target.
func fixed(args ...string) func(*target) []string {
	return func(*target) []string { return args }
}

// first is the first process inside, and the canary on the host.
func first(role string) func(*target) []string {
	return func(g *target) []string {
		if g.inside {
			return []string{role, "1"}
		}
		return []string{role, strconv.Itoa(g.process.Process.Pid)}
	}
}

func userFiles(names ...string) func(*target) []string {
	return func(g *target) []string {
		args := []string{"read"}
		for _, n := range names {
			args = append(args, filepath.Join(g.user, n))
		}
		return args
	}
}

// aSocket is one of a kind that programs have no use for.
func aSocket(family, kind, protocol int) func(*target) []string {
	return fixed("socket", strconv.Itoa(family), strconv.Itoa(kind), strconv.Itoa(protocol))
}

// table lists the attempts that leave the computer as it is. It is long because there
// are many.
func table() []attempt {
	list := []attempt{
		// Files.
		{name: "SSHKeys", want: "a user's keys are read", args: userFiles(".ssh/id_ed25519", ".ssh"), proof: onHost},
		{name: "CloudKeys", want: "a user's cloud keys are read", args: userFiles(".aws/credentials", ".config/gcloud", ".netrc"), proof: onHost},
		{name: "UsersHome", want: "a user's home is read", args: userFiles("", "."), proof: onHost},
		{name: "Database", want: "Lyceum's own data are read", args: userFiles(".lyceum/lyceum.db", ".lyceum/config.yaml"), proof: onHost},
		{name: "Shadow", want: "the host's passwords are read", args: fixed("open", "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/sudoers"), proof: byRoot},
		{name: "RootsHome", want: "root's home is read", args: fixed("open", "/root", "/root/.ssh", "/root/.bashrc"), proof: byRoot},
		{name: "HostsEtc", want: "settings of the host are read", args: fixed("open", "/etc/machine-id", "/etc/fstab", "/etc/ssh", "/etc/NetworkManager", "/var/lib/dpkg", "/var/lib/systemd", "/var/log", "/sys/class", "/boot", "/srv", "/mnt", "/media"), proof: onHost},
		{name: "AnotherAgentsHome", want: "the home of another agent is read", args: others(func(g *target) computer.Place { return g.victim }, true), proof: onHost},
		{name: "AnotherComputersFolder", want: "another computer's socket and logs are found", args: others(func(g *target) computer.Place { return g.victim }, false), proof: onHost},
		{name: "OwnComputersFolder", want: "its own socket and logs are found", args: func(g *target) []string {
			return []string{"open", g.own.Dir, filepath.Join(g.own.Dir, "computer.json"), filepath.Join(g.own.Dir, "lock"), filepath.Dir(g.own.Home)}
		}, proof: onHost},
		{name: "AnythingOfThatName", want: "a file of the host shows up anywhere", args: func(g *target) []string {
			from := "/"
			if !g.inside {
				from = g.user
			}
			return []string{"walk", from, backwards(g.name)}
		}, proof: onHost},
		{name: "WritesElsewhere", want: "something but the home, /tmp and /dev/shm is written to", args: func(g *target) []string {
			if !g.inside {
				return []string{"writable", g.user}
			}
			return []string{"writable", "/", computer.HomeDir, "/tmp", "/dev/shm", "/proc", "/usr/share", "/usr/lib", "/usr/src", "/usr/include"}
		}, proof: onHost},
		{name: "WritesToTheToolchain", want: "a program of the host is opened for writing", args: func(g *target) []string {
			if !g.inside {
				return []string{"open-write", filepath.Join(g.user, ".netrc")}
			}
			return []string{"open-write", "/usr/bin/env", "/bin/sh", "/usr/bin/python3", "/etc/passwd", "/etc/hosts", "/usr", "/usr/local/bin"}
		}, proof: onHost},
		{name: "HardLinks", want: "a file outside of the home gets a name in it", args: func(g *target) []string {
			if !g.inside {
				return []string{"hard-links", filepath.Join(g.user, ".netrc")}
			}
			return []string{"hard-links", "/usr/bin/env", "/bin/sh", "/etc/passwd", "/etc/hosts", "/proc/1/exe", "/proc/version"}
		}, proof: onHost},

		// The first process, and /proc.
		{name: "ReadsTheFirstProcess", want: "the helper's memory, files, root or environment are read", args: first("peek"), proof: onHost},
		{name: "TracesTheFirstProcess", want: "the helper is traced", args: first("trace"), proof: onHost},
		{name: "TakesItsDescriptors", want: "a descriptor of the helper is taken", args: first("take-descriptor"), proof: onHost},
		{name: "WritesToTheFirstProcess", want: "the helper's memory or program is written to", args: first("write-memory"), proof: onHost},
		{name: "ThroughItsRoot", want: "the host is reached by links in /proc", args: func(g *target) []string {
			pid := "1"
			if !g.inside {
				pid = "self"
			}
			file := filepath.Join(g.user, ".netrc")
			return []string{"read", "/proc/" + pid + "/root" + file, "/proc/" + pid + "/cwd" + file, "/proc/self/root" + file, "/proc/self/cwd/../../../../../.." + file, "/proc/self/task/1/root" + file}
		}, proof: onHost},
		{name: "SeesProcesses", want: "a process of the host is seen", args: func(g *target) []string { return []string{"processes", backwards(g.called)} }, proof: onHost},
		{name: "MountTable", want: "a table of mounts tells where on the host the home is", args: func(g *target) []string {
			where := "/proc"
			if g.inside {
				where = filepath.Base(filepath.Dir(g.own.Home))
			}
			return []string{"mount-table", backwards(where)}
		}, proof: onHost},
		{name: "SignalsProcesses", want: "a process of the host is ended", args: func(g *target) []string {
			return []string{"signal", strconv.Itoa(g.process.Process.Pid)}
		}, proof: onHost},
		{name: "KernelSettings", want: "a setting of the host's kernel is changed", args: fixed("open-write", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname", "/proc/sys/vm/overcommit_memory", "/proc/sys/fs/file-max", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/kernel/pid_max", "/proc/irq/default_smp_affinity", "/proc/sysrq-trigger", "/proc/mtrr", "/proc/bus/pci/devices", "/sys/kernel/uevent_helper", "/sys/power/state"), proof: byRoot},
		{name: "KernelMemory", want: "the kernel's memory, keys or addresses are read", args: fixed("open", "/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/kmsg", "/proc/timer_list", "/proc/sched_debug", "/proc/kpagecount", "/proc/vmallocinfo", "/sys/kernel/debug", "/sys/firmware"), proof: byRoot},
		{name: "OOMScores", want: "it is spared when memory runs out, or the helper is not", args: fixed("oom"), proof: none("whoever runs the test may have no right to it either")},

		// What it comes with.
		{name: "Environment", want: "a variable of Lyceum's is seen", args: fixed("environ"), proof: onHost},
		{name: "Descriptors", want: "a file that Lyceum had open is inherited", args: fixed("descriptors"), proof: onHost},
		{name: "Privileges", want: "it has a capability, or can gain one", args: fixed("privileges"), proof: onHost},
		{name: "SetuidPrograms", want: "a program of the system lends its rights", args: fixed("setuid-system"), proof: byRoot},
		{name: "Terminal", want: "the terminal of whoever runs Lyceum is opened", args: fixed("terminal"), proof: none("a test has no terminal to lose")},
		{name: "TypesIntoTheTerminal", want: "something is typed for others", args: fixed("type"), terminal: true, proof: none("kernels differ in whether anybody may")},
		{name: "CoreDumps", want: "core dumps are written where the host says", args: fixed("core"), proof: none("the limit may be zero on the host already")},
		{name: "Priority", want: "it gets ahead of the host's processes", args: fixed("priority"), proof: byRoot},

		// Network.
		{name: "Interfaces", want: "an interface of the host is seen", args: fixed("interfaces"), proof: none("the host may have no network")},
		{name: "CloudMetadata", want: "the cloud's metadata are reached", args: hosts("dial", "169.254.169.254:80", "[fd00:ec2::254]:80", "100.100.100.200:80"), proof: onHost},
		{name: "HostsLoopback", want: "a server of the host is reached", args: func(g *target) []string {
			if !g.inside {
				return []string{"dial", g.tcp}
			}
			_, port, _ := net.SplitHostPort(g.tcp)
			return []string{"dial", g.tcp, "[::1]:" + port, "10.0.2.2:" + port, "172.17.0.1:" + port, "192.168.0.1:" + port}
		}, proof: onHost},
		{name: "HostsLoopbackUDP", want: "a packet reaches the host", args: func(g *target) []string { return []string{"send", g.udp} }, proof: onHost},
		{name: "NameServers", want: "a question reaches a name server", args: hosts("send", append(nameServers(), "8.8.8.8:53", "1.1.1.1:53", "[2001:4860:4860::8888]:53")...), proof: none("the host may have no network")},
		{name: "AbstractSockets", want: "a socket of the host is reached", args: func(g *target) []string {
			return []string{"connect", g.abstract, "@/tmp/.X11-unix/X0", "@/tmp/dbus", "@/containerd-shim"}
		}, proof: onHost},
		{name: "SocketsInFolders", want: "the engine, the bus, or Lyceum itself is reached", args: func(g *target) []string {
			args := []string{"connect", filepath.Join(g.user, "docker.sock"), filepath.Join(g.user, "bus"), "/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket", "/run/systemd/private", "/run/user/1000/bus", "/run/podman/podman.sock", "/tmp/.X11-unix/X0"}
			if g.inside {
				args = append(args, g.own.Dir+"/socket", g.victim.Dir+"/socket", g.own.Dir+"/bootstrap", "/run/lyceum", "/lyceum")
			}
			return args
		}, proof: onHost},
		{name: "RawSockets", want: "packets are made by hand", args: aSocket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP), proof: unwalled},
		{name: "RawSockets6", want: "packets are made by hand", args: aSocket(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6), proof: unwalled},
		{name: "PacketSockets", want: "what others send is read", args: aSocket(unix.AF_PACKET, unix.SOCK_RAW, 0x0300), proof: unwalled},
		{name: "NetfilterSockets", want: "the firewall's part of the kernel is spoken to", args: aSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER), proof: none("kernels differ in what they have")},
		{name: "VirtualMachineSockets", want: "the machine below the host is spoken to", args: aSocket(unix.AF_VSOCK, unix.SOCK_STREAM, 0), proof: none("kernels differ in what they have")},
		{name: "CryptoSockets", want: "the kernel's ciphers are spoken to", args: aSocket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0), proof: none("kernels differ in what they have")},
		{name: "OtherSockets", want: "a family of sockets that nobody needs is there", args: aSocket(unix.AF_BLUETOOTH, unix.SOCK_RAW, 1), proof: none("kernels differ in what they have")},
		{name: "NewInterface", want: "the network is changed", args: fixed("link-add"), proof: none("kernels differ in what kinds they have")},

		// Mounts, namespaces, devices.
		{name: "Mounts", want: "something is mounted", args: fixed("mount"), proof: unwalled},
		{name: "Unmounts", want: "what covers something is taken away", args: umountArgs, proof: unwalled},
		{name: "NewMountCalls", want: "something is mounted by the newer calls", args: fixed("new-mount"), proof: unwalled},
		{name: "PivotRoot", want: "the root is changed", args: fixed("pivot"), proof: unwalled},
		{name: "Chroot", want: "the root is changed, and left", args: fixed("chroot"), proof: unwalled},
		{name: "Namespaces", want: "a namespace is made or entered", args: fixed("namespaces"), proof: unwalled},
		{name: "Devices", want: "a device is made, or one of the host's is there", args: fixed("mknod"), proof: byRoot},
		{name: "ControlGroups", want: "its limits are changed, or the host's", args: fixed("cgroup"), proof: byRoot},
		{name: "ReleaseAgent", want: "control groups are mounted", args: fixed("release-agent"), proof: none("mounting them could change those of the host")},

		// Other ways to call the kernel.
		{name: "Int80", want: "the filter is bypassed by calls of another architecture", args: fixed("int80"), dies: true, proof: none("kernels differ in whether they have it")},
		{name: "X32", want: "the filter is bypassed by other numbers", args: fixed("x32"), dies: true, proof: none("kernels differ in whether they have it")},
	}
	for name, where := range map[string]proof{
		"keyctl": onHost, "add_key": onHost, "request_key": onHost, "bpf": byRoot, "perf": byRoot, "userfaultfd": byRoot, "io_uring": byRoot, "kexec": byRoot,
		"reboot": byRoot, "swapon": byRoot, "swapoff": byRoot, "module": byRoot, "remove module": byRoot, "clock": byRoot, "hostname": unwalled,
		"domain name": unwalled, "accounting": byRoot, "kernel log": byRoot, "file handle": byRoot, "name handle": onHost,
		"personality": onHost, "fanotify": byRoot, "clone3": onHost,
	} {
		list = append(list, attempt{name: "Call" + title(name), want: "the kernel heeds the call " + name, args: fixed("call", name), proof: where})
	}
	return list
}

// title makes a name of words.
func title(s string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '_' }) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// others are the files of another computer.
func others(which func(*target) computer.Place, home bool) func(*target) []string {
	return func(g *target) []string {
		p, read := which(g), "read"
		if !g.inside {
			return []string{read, g.user}
		}
		dir := p.Dir
		if home {
			dir = p.Home
		}
		return []string{read, dir, filepath.Join(dir, "document-"+g.name), filepath.Join(dir, "computer.json"), filepath.Dir(dir), "/home", "/home/agent/..", "/tmp/home"}
	}
}

// hosts are addresses elsewhere, for which the host's own listener stands in when it
// is to be proved that they would be noticed.
func hosts(role string, addresses ...string) func(*target) []string {
	return func(g *target) []string {
		if !g.inside {
			return []string{role, g.tcp}
		}
		return append([]string{role}, addresses...)
	}
}

// nameServers are those of the host.
func nameServers() (out []string) {
	b, _ := os.ReadFile("/etc/resolv.conf")
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "nameserver" && !strings.HasPrefix(f[1], "127.") {
			out = append(out, net.JoinHostPort(f[1], "53"))
		}
	}
	return out
}

func umountArgs(g *target) []string {
	if !g.inside {
		return []string{"umount", "place"}
	}
	return []string{"umount", "/proc/sys", "/proc/keys", "/proc/kcore", "/proc", "/dev", "/dev/shm", "/tmp", computer.HomeDir, "/usr", "/etc/passwd", "/"}
}

package computertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mounts and namespaces.

func mounts([]string) {
	_ = os.Mkdir("place", 0o700)
	outcome("mount a tmpfs", unix.Mount("none", "place", "tmpfs", 0, ""))
	outcome("mount a proc", unix.Mount("none", "place", "proc", 0, ""))
	outcome("bind a folder", unix.Mount("/usr", "place", "", unix.MS_BIND, ""))
	outcome("cover /usr", unix.Mount("place", "/usr", "", unix.MS_BIND, ""))
	outcome("make / writable", unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	outcome("make /usr writable", unix.Mount("", "/usr", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	outcome("make /proc/sys writable", unix.Mount("", "/proc/sys", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
}

// umounts takes away what covers something, one by one and lazily.
func umounts(args []string) {
	for _, path := range args {
		if path == "place" {
			// Nothing else can be taken away where all is inherited.
			_ = os.Mkdir(path, 0o700)
			_ = unix.Mount("none", path, "tmpfs", 0, "")
		}
		outcome("umount "+path, unix.Unmount(path, unix.MNT_DETACH))
	}
}

func newMounts([]string) {
	fd, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	outcome("open a file system", err)
	if err == nil {
		err = unix.FsconfigCreate(fd)
		outcome("configure a file system", err)
		fd, err = unix.Fsmount(fd, 0, 0)
		outcome("make a mount", err)
		_ = os.Mkdir("place", 0o700)
		outcome("attach a mount", unix.MoveMount(fd, "", unix.AT_FDCWD, "place", unix.MOVE_MOUNT_F_EMPTY_PATH))
	}
	_, err = unix.OpenTree(unix.AT_FDCWD, "/usr", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	outcome("copy a mount", err)
	outcome("change a mount", unix.MountSetattr(unix.AT_FDCWD, "/usr", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}))
}

func pivot([]string) {
	_ = os.MkdirAll("place/old", 0o700)
	if err := unix.Mount("none", "place", "tmpfs", 0, ""); err == nil {
		_ = os.Mkdir("place/old", 0o700)
	}
	outcome("change the root", unix.PivotRoot("place", "place/old"))
}

// chroot is the way out of a chroot: a second one, with a folder kept open.
func chroot([]string) {
	top, err := os.Open(".")
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = os.Mkdir("place", 0o700)
	outcome("chroot", unix.Chroot("place"))
	_ = top.Chdir()
	for range 32 {
		_ = unix.Chdir("..")
	}
	if err := unix.Chroot("."); err == nil {
		won("chroot out")
	}
}

func namespaces([]string) {
	for name, flag := range map[string]int{
		"user": unix.CLONE_NEWUSER, "mount": unix.CLONE_NEWNS, "pid": unix.CLONE_NEWPID, "net": unix.CLONE_NEWNET, "ipc": unix.CLONE_NEWIPC,
		"uts": unix.CLONE_NEWUTS, "cgroup": unix.CLONE_NEWCGROUP, "time": unix.CLONE_NEWTIME,
	} {
		cloneInto(name, uintptr(flag))
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // the thread ends with this
			// A process with threads cannot leave its user namespace; EINVAL says that
			// nothing else was in the way.
			err := unix.Unshare(flag)
			if flag == unix.CLONE_NEWUSER && err == unix.EINVAL {
				err = nil
			}
			done <- err
		}()
		outcome("unshare "+name, <-done)
	}
	for _, pid := range []string{"1", "self"} {
		for _, kind := range []string{"mnt", "net", "uts", "ipc", "cgroup"} {
			fd, err := unix.Open("/proc/"+pid+"/ns/"+kind, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				fmt.Println(pid, kind, err)
				continue
			}
			done := make(chan error)
			go func() {
				runtime.LockOSThread()
				done <- unix.Setns(fd, 0)
			}()
			outcome("enter "+kind+" of "+pid, <-done)
		}
	}
}

// cloneInto starts a process in a new namespace.
func cloneInto(name string, flag uintptr) {
	if flag == unix.CLONE_NEWTIME {
		return // its bit means a signal here
	}
	cmd := exec.Command("/proc/self/exe", AttemptRole, "whoami")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flag}
	outcome("clone into "+name, cmd.Run())
}

func mknod([]string) {
	outcome("make a device", unix.Mknod("null", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))))
	outcome("make a disk", unix.Mknod("disk", unix.S_IFBLK|0o600, int(unix.Mkdev(8, 0))))
	_ = os.Remove("null")
	_ = os.Remove("disk")
	for _, name := range []string{"/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/loop-control", "/dev/vda", "/dev/sda", "/dev/userfaultfd", "/dev/console", "/dev/tty0", "/dev/vcs", "/dev/uinput"} {
		if f, err := os.OpenFile(name, os.O_RDWR, 0); err == nil {
			f.Close()
			won("open %s", name)
		}
	}
}

func cgroups([]string) {
	for _, pattern := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*", "/sys/fs/cgroup/*/*"} {
		dirs, _ := filepath.Glob(pattern)
		for _, dir := range dirs {
			for _, name := range []string{"release_agent", "cgroup.procs", "devices.allow", "memory.limit_in_bytes", "memory.max"} {
				if f, err := os.OpenFile(dir+"/"+name, os.O_WRONLY, 0); err == nil {
					f.Close()
					won("open for writing %s/%s", dir, name)
				}
			}
		}
	}
}

// releaseAgent mounts control groups to get at the program that the host runs when
// one becomes empty.
func releaseAgent([]string) {
	_ = os.Mkdir("groups", 0o700)
	for _, kind := range []string{"cgroup", "cgroup2"} {
		for _, options := range []string{"memory", "rdma", "pids", ""} {
			if err := unix.Mount("none", "groups", kind, 0, options); err == nil {
				won("mount %s", kind)
				_ = unix.Unmount("groups", unix.MNT_DETACH)
			}
		}
	}
}

// Other processes.

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func trace(pid string) {
	runtime.LockOSThread()
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(number(pid)), 0, 0, 0, 0)
	outcome("trace "+pid, failed(e))
	if e == 0 {
		return // our end lets go of it
	}
	outcome("attach to "+pid, unix.PtraceAttach(number(pid)))
}

func failed(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

// peek reads a process's memory by a call, and by its file.
func peek(pid string) {
	word := make([]byte, 8)
	local := []unix.Iovec{{Base: &word[0], Len: 8}}
	// The address may be wrong there. That it is looked at is enough.
	_, err := unix.ProcessVMReadv(number(pid), local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
	if err == unix.EFAULT {
		err = nil
	}
	outcome("read the memory of "+pid, err)
	for _, name := range []string{"mem", "environ", "maps", "auxv", "syscall", "stack"} {
		f, err := os.Open("/proc/" + pid + "/" + name)
		if err == nil {
			if name != "mem" {
				_, err = f.Read(word)
			}
			f.Close()
		}
		outcome("open "+name+" of "+pid, err)
	}
	for _, name := range []string{"exe", "cwd", "root"} {
		_, err := os.Readlink("/proc/" + pid + "/" + name)
		outcome("read the link "+name+" of "+pid, err)
	}
	for _, name := range []string{"fd", "map_files", "fdinfo", "root", "cwd"} {
		entries, err := os.ReadDir("/proc/" + pid + "/" + name)
		if err == nil && len(entries) == 0 {
			continue
		}
		outcome("list "+name+" of "+pid, err)
	}
}

func takeDescriptor(pid string) {
	fd, err := unix.PidfdOpen(number(pid), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := range 8 {
		_, err := unix.PidfdGetfd(fd, n, 0)
		outcome(fmt.Sprintf("take descriptor %d of %s", n, pid), err)
	}
}

func writeMemory(pid string) {
	for _, name := range []string{"mem", "exe", "oom_score_adj", "clear_refs", "coredump_filter"} {
		f, err := os.OpenFile("/proc/"+pid+"/"+name, os.O_WRONLY, 0)
		if err == nil {
			f.Close()
		}
		outcome("open for writing "+name+" of "+pid, err)
	}
}

// signalAll sends a process what would end it.
func signalAll(pid string) {
	for _, s := range []unix.Signal{unix.SIGTERM, unix.SIGKILL} {
		outcome("signal "+pid, unix.Kill(number(pid), s))
	}
	if fd, err := unix.PidfdOpen(number(pid), 0); err == nil {
		outcome("signal by descriptor "+pid, unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0))
	}
}

// queueSignals sends the first process every signal in every way there is: the
// language's runtime takes those that seem to come from the kernel for its own faults.
func queueSignals([]string) {
	threads, _ := filepath.Glob("/proc/1/task/*")
	pidfd, pidfdErr := unix.PidfdOpen(1, 0)
	sent := 0
	for s := 1; s <= 64; s++ {
		try := func(err error) {
			if err == nil {
				sent++
			}
		}
		try(unix.Kill(1, unix.Signal(s)))
		for _, t := range threads {
			try(unix.Tgkill(1, number(filepath.Base(t)), unix.Signal(s)))
		}
		for _, code := range []int32{-1, -2, -3, -4, -5, -60} {
			// struct siginfo: number, errno, code.
			var info [128]byte
			*(*int32)(unsafe.Pointer(&info[0])), *(*int32)(unsafe.Pointer(&info[8])) = int32(s), code
			p := uintptr(unsafe.Pointer(&info[0]))
			_, _, e := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, 1, uintptr(s), p)
			try(failed(e))
			_, _, e = unix.Syscall6(unix.SYS_RT_TGSIGQUEUEINFO, 1, 1, uintptr(s), p, 0, 0)
			try(failed(e))
			if pidfdErr == nil {
				_, _, e = unix.Syscall6(unix.SYS_PIDFD_SEND_SIGNAL, uintptr(pidfd), uintptr(s), p, 0, 0, 0)
				try(failed(e))
			}
			runtime.KeepAlive(&info)
		}
	}
	fmt.Println("sent:", sent)
}

// ioSignals lets the kernel send them, as news of a pipe.
func ioSignals(args []string) {
	sent := 0
	for s := 1; s <= 64; s++ {
		if len(args) > 0 && number(args[0]) != s {
			continue
		}
		p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, e1 := unix.FcntlInt(uintptr(p[0]), unix.F_SETOWN, 1)
		_, e2 := unix.FcntlInt(uintptr(p[0]), unix.F_SETSIG, s)
		_, e3 := unix.FcntlInt(uintptr(p[0]), unix.F_SETFL, unix.O_ASYNC|unix.O_NONBLOCK)
		if _, err := unix.Write(p[1], []byte("x")); err == nil && e1 == nil && e2 == nil && e3 == nil {
			sent++
		}
		unix.Close(p[0])
		unix.Close(p[1])
	}
	fmt.Println("sent:", sent)
}

// stopStorm stops every process that it can see, again and again: one that is caught
// between fork and exec holds its parent up.
func stopStorm(args []string) {
	fmt.Println("storming")
	d, _ := time.ParseDuration(args[0])
	for until := time.Now().Add(d); time.Now().Before(until); {
		_ = unix.Kill(-1, unix.SIGSTOP)
	}
}

// limitOthers takes from the first process what it needs to work.
func limitOthers([]string) {
	for name, resource := range map[string]int{
		"open files": unix.RLIMIT_NOFILE, "real time": unix.RLIMIT_RTTIME, "processes": unix.RLIMIT_NPROC, "memory": unix.RLIMIT_AS,
		"stack": unix.RLIMIT_STACK, "processor time": unix.RLIMIT_CPU,
	} {
		outcome("limit the first process's "+name, unix.Prlimit(1, resource, &unix.Rlimit{Cur: 1, Max: 1}, nil))
	}
}

// slowOthers lets the first process run last.
func slowOthers([]string) {
	outcome("be nice for the first process", unix.Setpriority(unix.PRIO_PROCESS, 1, 19))
	var param [1]int32
	_, _, e := unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, 1, unix.SCHED_IDLE, uintptr(unsafe.Pointer(&param)))
	outcome("idle for the first process", failed(e))
	var one unix.CPUSet
	one.Set(0)
	outcome("move the first process", unix.SchedSetaffinity(1, &one))
}

// Calls with arguments with which nothing happens: an error that is not of missing
// rights says that the way was open.
var calls = map[string]struct {
	number  uintptr
	args    [4]uintptr
	blocked []unix.Errno // besides EPERM
}{
	"keyctl":        {unix.SYS_KEYCTL, [4]uintptr{unix.KEYCTL_GET_KEYRING_ID, ^uintptr(2), 0}, nil}, // the session's
	"add_key":       {unix.SYS_ADD_KEY, [4]uintptr{}, nil},
	"request_key":   {unix.SYS_REQUEST_KEY, [4]uintptr{}, nil},
	"bpf":           {unix.SYS_BPF, [4]uintptr{0x7777}, nil},
	"perf":          {unix.SYS_PERF_EVENT_OPEN, [4]uintptr{}, []unix.Errno{unix.EACCES}},
	"userfaultfd":   {unix.SYS_USERFAULTFD, [4]uintptr{1}, nil},
	"io_uring":      {unix.SYS_IO_URING_SETUP, [4]uintptr{0}, nil},
	"kexec":         {unix.SYS_KEXEC_LOAD, [4]uintptr{0, 99, 0, 0}, nil},
	"reboot":        {unix.SYS_REBOOT, [4]uintptr{1, 2, 3, 4}, nil},
	"swapon":        {unix.SYS_SWAPON, [4]uintptr{}, nil},
	"swapoff":       {unix.SYS_SWAPOFF, [4]uintptr{}, nil},
	"module":        {unix.SYS_INIT_MODULE, [4]uintptr{}, nil},
	"remove module": {unix.SYS_DELETE_MODULE, [4]uintptr{}, nil},
	"hostname":      {unix.SYS_SETHOSTNAME, [4]uintptr{0, 99999}, nil},
	"domain name":   {unix.SYS_SETDOMAINNAME, [4]uintptr{0, 99999}, nil},
	"accounting":    {unix.SYS_ACCT, [4]uintptr{1}, nil},
	"kernel log":    {unix.SYS_SYSLOG, [4]uintptr{10}, nil},
	"file handle":   {unix.SYS_OPEN_BY_HANDLE_AT, [4]uintptr{}, nil},
	"name handle":   {unix.SYS_NAME_TO_HANDLE_AT, [4]uintptr{}, nil},
	"personality":   {unix.SYS_PERSONALITY, [4]uintptr{0x0400000}, nil},
	"fanotify":      {unix.SYS_FANOTIFY_INIT, [4]uintptr{}, nil},
	"clone3":        {unix.SYS_CLONE3, [4]uintptr{}, []unix.Errno{unix.ENOSYS}},
}

func call(name string) {
	if name == "clock" {
		// The length of a tick cannot be zero. Who may not change it is told that first.
		_, err := unix.Adjtimex(&unix.Timex{Modes: unix.ADJ_TICK})
		if err != unix.EPERM {
			won("set the clock: %v", err)
		}
		return
	}
	c, ok := calls[name]
	if !ok {
		won("nothing is known of the call %s", name)
		return
	}
	_, _, e := unix.Syscall6(c.number, c.args[0], c.args[1], c.args[2], c.args[3], 0, 0)
	if e == unix.EPERM || slices.Contains(c.blocked, e) {
		fmt.Println(name, e)
		return
	}
	won("call %s: %v", name, e)
}

// Terminals.

func typeInto([]string) {
	for _, b := range []byte("echo typed\n") {
		if err := unix.IoctlSetPointerInt(0, unix.TIOCSTI, int(b)); err != nil {
			fmt.Println("type:", err)
			return
		}
	}
	won("type into the terminal")
}

func openTerminal([]string) {
	for _, name := range []string{"/dev/tty", "/dev/console", "/dev/tty1"} {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		outcome("open "+name, err)
	}
}

// core asks for core dumps, which are written where the host says.
func core([]string) {
	outcome("ask for core dumps", unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: 4096, Max: 4096}))
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	fmt.Printf("core_pattern: %q %v\n", pattern, err)
}

// Priorities.

func priority([]string) {
	outcome("be more important", unix.Setpriority(unix.PRIO_PROCESS, 0, -5))
	for name, policy := range map[string]uintptr{"FIFO": unix.SCHED_FIFO, "RR": unix.SCHED_RR} {
		param := [1]int32{1}
		_, _, e := unix.Syscall(unix.SYS_SCHED_SETSCHEDULER, 0, policy, uintptr(unsafe.Pointer(&param)))
		outcome("be scheduled by "+name, failed(e))
	}
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_DEADLINE, Runtime: 10_000_000, Deadline: 20_000_000, Period: 20_000_000}
	outcome("be scheduled by deadline", unix.SchedSetAttr(0, &attr, 0))
	for _, resource := range []int{unix.RLIMIT_RTPRIO, unix.RLIMIT_NICE} {
		var l unix.Rlimit
		if err := unix.Getrlimit(resource, &l); err != nil || l.Max != 0 {
			won("have the limit %d at %d", resource, l.Max)
		}
	}
	_, _, e := unix.Syscall(unix.SYS_IOPRIO_SET, 1, 0, 1<<13|4)
	outcome("have the disk first", failed(e))
}

// affinity takes all processors, where args[0] is how many there should be.
func affinity(args []string) {
	var all, had, got unix.CPUSet
	_ = unix.SchedGetaffinity(0, &had)
	fmt.Println("had:", had.Count())
	for i := range 1024 {
		all.Set(i)
	}
	err := unix.SchedSetaffinity(0, &all)
	if unix.SchedGetaffinity(0, &got) == nil && got.Count() > number(args[0]) {
		won("use %d processors", got.Count())
	}
	fmt.Println("affinity:", got.Count(), err)
}

func oom([]string) {
	for _, path := range []string{"/proc/self/oom_score_adj", "/proc/self/oom_adj", "/proc/1/oom_score_adj"} {
		value := "-17"
		if strings.HasPrefix(path, "/proc/1/") {
			value = "1000"
		}
		outcome("write "+path, os.WriteFile(path, []byte(value), 0))
	}
}

// exhaustInotify uses up what a user may have of something, which is counted over
// all that the user does.
func exhaustInotify([]string) {
	n := 0
	for ; n < 4000; n++ {
		if _, err := unix.InotifyInit1(unix.IN_CLOEXEC); err != nil {
			fmt.Println(err)
			break
		}
	}
	fmt.Println("exhausted:", n)
	rest()
}

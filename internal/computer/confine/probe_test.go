package confine

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

func sys(nr uintptr, args ...uintptr) func([]string) error {
	return func([]string) error {
		var a [6]uintptr
		copy(a[:], args)
		_, _, e := unix.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		return errnoOf(e)
	}
}

const nowhere = ^uintptr(0) // no file, no command, no address

// probes are what commands try. Calls have arguments with which nothing happens, so
// that the kernel's answer differs from the filter's.
var probes = map[string]func(args []string) error{
	"add_key":             sys(unix.SYS_ADD_KEY),
	"keyctl":              sys(unix.SYS_KEYCTL, 0x7777),
	"request_key":         sys(unix.SYS_REQUEST_KEY),
	"userfaultfd":         sys(unix.SYS_USERFAULTFD, 0x7777),
	"io_uring_setup":      sys(unix.SYS_IO_URING_SETUP, 0),
	"name_to_handle_at":   sys(unix.SYS_NAME_TO_HANDLE_AT, nowhere),
	"open_tree":           sys(unix.SYS_OPEN_TREE, nowhere, 0, 0),
	"unshare user":        sys(unix.SYS_UNSHARE, unix.CLONE_NEWUSER|unix.CLONE_SIGHAND<<40),
	"setns":               sys(unix.SYS_SETNS, nowhere, 0),
	"clone3":              sys(unix.SYS_CLONE3, 0, 0),
	"clone user":          sys(unix.SYS_CLONE, unix.CLONE_NEWUSER|unix.CLONE_FS),
	"personality":         sys(unix.SYS_PERSONALITY, 0x40000),
	"socket vsock":        sys(unix.SYS_SOCKET, unix.AF_VSOCK, 77),
	"socket alg":          sys(unix.SYS_SOCKET, unix.AF_ALG, 77),
	"socket packet":       sys(unix.SYS_SOCKET, unix.AF_PACKET, 77),
	"socket raw":          sys(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, 0x7777),
	"socket netfilter":    sys(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER),
	"socketpair vsock":    sys(unix.SYS_SOCKETPAIR, unix.AF_VSOCK, 77),
	"ioctl sti":           sys(unix.SYS_IOCTL, nowhere, unix.TIOCSTI),
	"ioctl sti high bits": sys(unix.SYS_IOCTL, nowhere, unix.TIOCSTI|1<<32),
	"ioctl linux":         sys(unix.SYS_IOCTL, nowhere, unix.TIOCLINUX),
	"ioctl setd":          sys(unix.SYS_IOCTL, nowhere, unix.TIOCSETD),
	"ioctl flags":         sys(unix.SYS_IOCTL, nowhere, unix.FS_IOC_SETFLAGS),
	"ioctl project":       sys(unix.SYS_IOCTL, nowhere, 0x401c5820),
	"ioctl winsz":         sys(unix.SYS_IOCTL, nowhere, unix.TIOCGWINSZ),

	"read":  func(args []string) error { _, err := os.ReadFile(args[0]); return plain(err) },
	"list":  func(args []string) error { _, err := os.ReadDir(args[0]); return plain(err) },
	"write": func(args []string) error { return plain(os.WriteFile(args[0], []byte("new"), 0o600)) },
	"truncate": func(args []string) error {
		return plain(os.Truncate(args[0], 0))
	},
	"rename": func(args []string) error { return plain(os.Rename(args[0], args[1])) },
	"execute": func(args []string) error {
		return plain(exec.Command(args[0]).Run())
	},
	"connect": func(args []string) error {
		c, err := net.Dial("unix", args[0])
		if err == nil {
			c.Close()
		}
		return plain(err)
	},
	"loopback": func([]string) error { return loopback() },
	"signal": func(args []string) error {
		pid, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		return unix.Kill(pid, 0)
	},
	"wait": func([]string) error {
		fmt.Print(".")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	},
	"helper's memory": func([]string) error {
		f, err := os.OpenFile(helperFile("mem"), os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return plain(err)
	},
	"helper's environment": func([]string) error { _, err := os.ReadFile(helperFile("environ")); return plain(err) },
	"helper's files":       func([]string) error { _, err := os.ReadDir(helperFile("fd")); return plain(err) },
	"helper's program":     func([]string) error { _, err := os.Readlink(helperFile("exe")); return plain(err) },
	"trace helper": func([]string) error {
		runtime.LockOSThread()
		_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(os.Getppid()), 0, 0, 0, 0)
		return errnoOf(e)
	},
	"peek helper": func([]string) error {
		// The address is that of our own data; both are the same program.
		word := make([]byte, 8)
		local := []unix.Iovec{{Base: &word[0], Len: 8}}
		remote := []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&copied)), Len: 8}}
		_, err := unix.ProcessVMReadv(os.Getppid(), local, remote, 0)
		return err
	},
	"dumpable": func([]string) error {
		v, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		if err == nil && v != 1 {
			err = fmt.Errorf("dumpable is %d", v)
		}
		return err
	},
	"environment": func([]string) error { return errors.New(strings.Join(os.Environ(), "\n")) },
	"status": func([]string) error {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return err
		}
		return checkStatus(status)
	},
}

// helperProbes run inside the helper itself, once it is confined.
var helperProbes = map[string]func(args []string) error{
	"threads":         func([]string) error { return threads() },
	"kill each other": func([]string) error { return killEachOther() },
	"inherited":       func([]string) error { return inherited() },
	"own environment": func([]string) error { return errors.New(os.Getenv(marker)) },
	"pid":             func([]string) error { return errors.New(strconv.Itoa(os.Getpid())) },
	"report":          func([]string) error { return errors.New(fmt.Sprint(applied)) },
	"time":            func(args []string) error { return timeOf(timed[args[0]], args[1]) },
}

// plain is the errno inside an error, whose text does not depend on paths.
func plain(err error) error {
	if e := unix.Errno(0); errors.As(err, &e) {
		return e
	}
	return err
}

func helperFile(name string) string {
	return filepath.Join("/proc", strconv.Itoa(os.Getppid()), name)
}

func checkStatus(status []byte) error {
	for _, want := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
		if !strings.Contains(string(status), want) {
			return fmt.Errorf("no %q in %s", want, status)
		}
	}
	return nil
}

// threads looks at each thread of the helper, and makes some more first.
func threads() error {
	var up sync.WaitGroup
	hold := make(chan struct{})
	defer close(hold)
	for range 4 {
		up.Add(1)
		go func() {
			runtime.LockOSThread()
			up.Done()
			<-hold
		}()
	}
	up.Wait()
	tasks, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		return err
	}
	if len(tasks) < 5 {
		return fmt.Errorf("only %d threads", len(tasks))
	}
	for _, task := range tasks {
		status, err := os.ReadFile(task)
		if err != nil {
			return err
		}
		if err := checkStatus(status); err != nil {
			return err
		}
	}
	return nil
}

// killEachOther starts two commands from two threads. The helper signals the first
// and so does the second.
func killEachOther() error {
	type started struct {
		cmd *exec.Cmd
		in  io.Closer
		err error
	}
	first := make(chan started)
	hold := make(chan struct{})
	defer close(hold)
	go func() {
		runtime.LockOSThread()
		cmd := command([]string{"wait"})
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		first <- started{cmd, in, err}
		<-hold // the thread stays taken, so the second command gets another
	}()
	a := <-first
	if a.err != nil {
		return a.err
	}
	defer a.cmd.Wait()
	defer a.in.Close()
	runtime.LockOSThread()
	if err := a.cmd.Process.Signal(unix.SIGCONT); err != nil {
		return fmt.Errorf("helper: %w", err)
	}
	out, err := command([]string{"signal", strconv.Itoa(a.cmd.Process.Pid)}).Output()
	if err != nil {
		return fmt.Errorf("other command: %s", out)
	}
	return nil
}

// inherited reads the file that the helper was started with.
func inherited() error {
	text, err := io.ReadAll(os.NewFile(3, "inherited"))
	if err != nil {
		return err
	}
	return errors.New(string(text))
}

func loopback() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	return c.Close()
}

var timed = map[string]func([]string) error{
	"getpid": sys(unix.SYS_GETPID), "ioctl": sys(unix.SYS_IOCTL, nowhere, unix.TCGETS), "keyctl": sys(unix.SYS_KEYCTL, 0x7777),
}

func timeOf(f func([]string) error, rounds string) error {
	n, err := strconv.Atoi(rounds)
	if err != nil {
		return err
	}
	var begin, end unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &begin)
	for range n {
		f(nil)
	}
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &end)
	return fmt.Errorf("%d", end.Nano()-begin.Nano())
}

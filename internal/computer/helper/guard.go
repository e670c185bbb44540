package helper

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"lyceum/internal/computer/link"

	"golang.org/x/sys/unix"
)

// What commands could do to the helper, or take past it.

// ignoreFaults gives the signals of a program's own faults back to the kernel. Any
// process can send them so that they look like faults, and the language's runtime
// would end this one for it. The first process of a computer does not get what it
// does not handle, whoever inside sends it; a real fault ends it all the same.
//
// The kernel forgets about that when a thread happens to have the signal blocked,
// unless it is one of those that dump core. So the others that the runtime does not
// handle, or dies of, are ignored. Commands inherit this; nobody uses these.
func ignoreFaults() error {
	if os.Getpid() != 1 {
		return nil // here they would end it
	}
	const toDefault, toIgnore = 0, 1
	set := func(handler uint64, signals ...syscall.Signal) error {
		for _, s := range signals {
			// The kernel's struct sigaction: the handler, no flags, no mask.
			action := [8]uint64{handler}
			_, _, e := unix.Syscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
			if e != 0 {
				return fmt.Errorf("leave %v to the kernel: %w", s, e)
			}
		}
		return nil
	}
	return errors.Join(
		set(toDefault, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSYS),
		set(toIgnore, syscall.SIGSTKFLT, 32, 34))
}

// prepareThreads makes the threads that this process will come to need. The runtime
// keeps those it has, and ends the process when it cannot make another: commands that
// use up the computer's processes would end it. They count as processes.
func prepareThreads() {
	const threads = 12
	var all sync.WaitGroup
	ready, hold := make(chan struct{}, threads), make(chan struct{})
	for range threads {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready <- struct{}{}
			<-hold
		})
	}
	for range threads {
		<-ready
	}
	close(hold)
	all.Wait()
}

// accept waits for a connection, also while there are too many.
func accept(l net.Listener) (net.Conn, error) {
	for {
		c, err := l.Accept()
		switch {
		case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.ENOMEM):
			time.Sleep(10 * time.Millisecond)
		default:
			return c, err
		}
	}
}

// startLimit is how long a process may take from fork to exec.
const startLimit = 2 * time.Second

// hurry keeps a process that is being started from being held up for ever, until the
// returned function is called. Until its exec it shares our memory and one of our
// threads waits for it in the kernel; whoever stops it by a signal just then would
// stop us. It is woken up, and killed if that does not help.
//
// The language's runtime cannot collect garbage while that thread waits: everything
// would wait with it, this included.
func (h *helper) hurry(mark uint64) (done func()) {
	percent := debug.SetGCPercent(-1)
	quit := make(chan struct{})
	began := now()
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			s := syscall.SIGCONT
			if now().Sub(began) > startLimit {
				s = syscall.SIGKILL
			}
			for _, pid := range pids() {
				if m, ok := markOf(pid); ok && m == mark {
					_ = syscall.Kill(pid, s)
				}
			}
		}
	}()
	return func() {
		close(quit)
		debug.SetGCPercent(percent)
	}
}

// room is what the disk under the home has left. A file system that does not count
// files says that there are none.
type room struct{ bytes, files, allBytes, allFiles int64 }

// room is what the disk has left under the home. A folder with a quota tells of that instead; a file in it tells
// of the disk.
func (h *helper) room() room {
	var s unix.Statfs_t
	var err error
	if h.config.Quota {
		err = unix.Fstatfs(h.aside, &s)
	} else {
		err = unix.Statfs(h.config.Home, &s)
	}
	if err != nil {
		return room{bytes: math.MaxInt64, files: math.MaxInt64}
	}
	return room{int64(s.Bavail) * s.Bsize, int64(s.Ffree), int64(s.Blocks) * s.Bsize, int64(s.Files)}
}

// lookAside makes a file without a name in the home, if that has a quota; -1 if it has none, or nothing in it can be
// written to, so that nothing in it takes room.
func lookAside(c link.Config) int {
	if !c.Quota {
		return -1
	}
	for _, dir := range c.Write {
		if dir != c.Home && !strings.HasPrefix(dir, c.Home+"/") {
			continue
		}
		if fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600); err == nil {
			return fd
		}
	}
	return -1
}

// tight reports whether that is less than the host needs.
func (r room) tight() bool {
	return r.bytes < hostReserve && r.allBytes > 4*hostReserve || r.files < r.allFiles/50
}

// segments are the lines of a table of shared memory, queues or semaphores.
func segments(kind string) (out [][]string) {
	b, _ := os.ReadFile("/proc/sysvipc/" + kind)
	for i, line := range strings.Split(string(b), "\n") {
		if f := strings.Fields(line); i > 0 && len(f) > 2 {
			out = append(out, f)
		}
	}
	return out
}

// sweep removes what commands have left in the kernel, where it belongs to nobody and
// takes memory for as long as the computer is up. It waits for the last command.
func (h *helper) sweep() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.running()) > 0 {
		return
	}
	for kind, call := range map[string]uintptr{"shm": unix.SYS_SHMCTL, "msg": unix.SYS_MSGCTL, "sem": unix.SYS_SEMCTL} {
		for _, f := range segments(kind) {
			id, _ := strconv.Atoi(f[1])
			if kind == "sem" {
				_, _, _ = unix.Syscall(call, uintptr(id), 0, unix.IPC_RMID)
			} else {
				_, _, _ = unix.Syscall(call, uintptr(id), unix.IPC_RMID, 0)
			}
		}
	}
}

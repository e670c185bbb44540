// Package confine is what the first process of a sandbox does to itself before it
// starts any command, so that every command inherits it and none can undo it.
//
// There are two layers below the namespaces. The seccomp filter is Docker's list of
// allowed system calls, as for a process without capabilities, and somewhat
// narrower; what it does not list is refused, and so is every call by way of another
// architecture. Landlock then says which files can be reached, and that nobody
// signals or talks to what is outside. The filter is a must. Landlock is used where
// the kernel has it.
//
// If Apply fails, the process may be confined by half and must end: it is then no
// place to start commands from.
package confine

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/moby/profiles/seccomp"
	"golang.org/x/sys/unix"
)

// Options says what stays reachable. Paths are absolute; one that does not exist is
// left out. They must be such that no command can put a link in their place.
type Options struct {
	// Read are the files and trees that can be read and executed.
	Read []string
	// Write are those that can be written as well, and whose devices obey ioctl.
	Write []string
}

// Report is what holds from now on.
type Report struct {
	Seccomp bool
	// Landlock is the version of its interface that was used, 0 if the kernel has
	// none.
	Landlock int
}

// marker carries the Report's Landlock over the exec. Whoever sets it from outside
// starts the helper anyway and could leave out all of this.
const marker = "LYCEUM_CONFINED_BY_LANDLOCK"

// Apply confines this process and all that it will start.
//
// Where there is Landlock it executes the program again, once, with the same
// arguments, environment and process id. So it must be called first in main, before
// anything is read or opened: inherited files stay, those opened since are closed.
// The reason is that Landlock confines one thread. Were it asked to by each thread of
// a Go program, each would be in a domain of its own, and commands that happened to
// start from different threads could neither be signalled by the helper nor signal
// each other. A program that begins in a domain has only that one.
func Apply(o Options) (Report, error) {
	abi, done, err := confinedBefore()
	if err != nil {
		return Report{}, err
	}
	if !done {
		if abi, err = landlockVersion(); err != nil {
			return Report{}, err
		}
		if abi > 0 {
			return Report{}, restart(o, abi)
		}
	}
	// A command runs under the same user as the helper. Without this it could read
	// the helper's memory and files through /proc, or trace it. Exec makes a command
	// itself traceable again, so debuggers work.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return Report{}, fmt.Errorf("close the helper's /proc to its commands: %w", err)
	}
	if err := filterAllThreads(); err != nil {
		return Report{}, err
	}
	return Report{Seccomp: true, Landlock: abi}, nil
}

// confinedBefore reports whether this is the second time around, and takes the
// marker away so that no command sees it.
func confinedBefore() (abi int, done bool, err error) {
	value, done := os.LookupEnv(marker)
	if !done {
		return 0, false, nil
	}
	if err := os.Unsetenv(marker); err != nil {
		return 0, false, err
	}
	abi, err = strconv.Atoi(value)
	if err != nil || abi < 1 {
		return 0, false, fmt.Errorf("%s=%q is not a version of Landlock: start the helper without it", marker, value)
	}
	return abi, true, nil
}

// restart returns only if it fails.
func restart(o Options, abi int) error {
	return execute(o, abi, "/proc/self/exe", os.Args, os.Environ())
}

// Execute puts the calling thread, which must be locked, into the domain that Apply would
// begin anew for, and executes a program in it that calls Apply: so it need not. It
// returns only if it fails; the thread must then not be used for anything else.
func Execute(o Options, program string, args, env []string) error {
	abi, err := landlockVersion()
	if err != nil {
		return err
	}
	return execute(o, abi, program, args, env)
}

// execute is on a thread that nobody else gets if it fails, for it is never unlocked.
func execute(o Options, abi int, program string, args, env []string) error {
	runtime.LockOSThread()
	self, err := unix.Open(program, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("find the helper's own program: %w; the sandbox needs /proc", err)
	}
	defer unix.Close(self)
	if err := noNewPrivileges(); err != nil {
		return err
	}
	if abi > 0 {
		if err := restrict(o, abi, self); err != nil {
			return err
		}
		env = append(slices.Clone(env), marker+"="+strconv.Itoa(abi))
	}
	err = syscall.Exec(program, args, env)
	return fmt.Errorf("start the helper inside its Landlock domain: %w", err)
}

func noNewPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up gaining privileges: %w", err)
	}
	return nil
}

// filterAllThreads installs the filter for each thread there is; later ones inherit
// it. The same call gives all of them no_new_privs.
func filterAllThreads() error {
	kernel, err := runningKernel()
	if err != nil {
		return err
	}
	program, err := compile(allowlist(), runtime.GOARCH, kernel)
	if err != nil {
		return err
	}
	// Both are attributes of the thread, until the filter carries them to the rest.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := noNewPrivileges(); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	switch {
	case errno != 0:
		return fmt.Errorf("install the seccomp filter: %w; the kernel needs CONFIG_SECCOMP_FILTER", errno)
	case thread != 0:
		return fmt.Errorf("install the seccomp filter: thread %d has another one", thread)
	}
	return nil
}

func runningKernel() (seccomp.KernelVersion, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return seccomp.KernelVersion{}, fmt.Errorf("ask for the kernel's version: %w", err)
	}
	var v seccomp.KernelVersion
	release := unix.ByteSliceToString(u.Release[:])
	if _, err := fmt.Sscanf(release, "%d.%d", &v.Kernel, &v.Major); err != nil {
		return v, fmt.Errorf("the kernel calls itself %q, which is no version", release)
	}
	return v, nil
}

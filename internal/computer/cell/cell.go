// Package cell is how the first process of a computer by namespaces makes the cell it
// is in, before it becomes the helper.
//
// The driver starts this program again in new namespaces: user, mount, process, network,
// IPC, name. The process begins with a user of its own there and some capabilities, which
// hold in these namespaces and nowhere else; the mounts it begins with are a copy of the
// host's. Enter then
//
//   - takes what the computer is to show of the host, each piece a mount that nothing is
//     attached to yet, with the flags it is to have;
//   - makes an empty file system its root, lets go of the host's, and attaches the pieces:
//     from then on there is no path to anything else;
//   - waits at the gate, until Lyceum has put it into its control group;
//   - leaves for a mount namespace with nothing in it, and keeps its root: so no table of
//     mounts, which has the paths that homes have on the host, can be read by anybody
//     inside, and none of the mounts can be changed or lend rights. If folders of the home
//     are only to be read, the home is mounted there once more, out of reach, with them: the
//     kernel refuses to move or remove what something is mounted on only in the namespace of
//     whoever asks;
//   - gives up all capabilities and the right to get any, and becomes the helper.
//
// When Lyceum dies meanwhile the process does so too: the kernel sends it a signal, and
// the gate ends. If anything fails, it says what at the report and ends.
//
// One thing of Lyceum's is inherited and stays: the session's keyring. To leave it would
// take a new one for each computer, of which a user may have few; the helper's filter
// refuses every call that could use it.
package cell

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"

	"lyceum/internal/computer/confine"

	"golang.org/x/sys/unix"
)

// Word is the helper's first argument where it has to make its cell first. The home follows,
// for whoever lists processes, and a Plan as JSON.
const Word = "cell"

// The descriptors that the process begins with. The first two are the helper's.
const (
	Listener = 3 + iota
	Program
	Gate
	Report
)

// Capabilities are what Enter needs of them, in the user namespace that it is in.
var Capabilities = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT, unix.CAP_SYS_RESOURCE, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}

// Main does it all. It returns only if that fails.
func Main(args []string) error {
	err := errors.New("the cell of a computer is made by Lyceum, not by hand")
	if len(args) == 3 && args[0] == Word && os.Getpid() == 1 {
		var p Plan
		if err = json.Unmarshal([]byte(args[2]), &p); err == nil {
			err = p.enter()
		}
	}
	_, _ = io.WriteString(os.NewFile(Report, "report"), err.Error())
	return err
}

func (p *Plan) enter() error {
	// Rights, the domain and the last two namespaces are this thread's, and go with it to
	// the program that it executes.
	runtime.LockOSThread()
	// What is passed on is named below; the rest ends with this program.
	if err := unix.CloseRange(Listener, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("keep inherited files to ourselves: %w", err)
	}
	unix.Umask(0)
	if err := unix.Sethostname([]byte(Hostname)); err != nil {
		return fmt.Errorf("name the computer: %w", err)
	}
	if !p.Open {
		if err := raiseLoopback(); err != nil {
			return fmt.Errorf("raise the loopback interface: %w", err)
		}
	}
	if err := p.layOut(); err != nil {
		return err
	}
	if err := waitAtGate(); err != nil {
		return err
	}
	kept, err := withdraw(p.divided())
	if err != nil {
		return fmt.Errorf("hide the table of mounts: %w", err)
	}
	if err := giveUp(); err != nil {
		return err
	}
	// The computer goes on when Lyceum does not, from here on.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("outlive Lyceum: %w", err)
	}
	for _, fd := range []int{Listener, kept} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("pass a file to the helper: %w", err)
		}
	}
	unix.Umask(0o022)
	return confine.Execute(confine.Options{Read: p.Read, Write: p.Write}, fmt.Sprintf("/proc/self/fd/%d", Program), p.Args, nil)
}

// raiseLoopback makes 127.0.0.1 work.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
}

// waitAtGate returns when Lyceum says so. Inside a process namespace nobody can see whether
// the parent is still there; but the gate ends with Lyceum, before the signal was set or
// after.
func waitAtGate() error {
	gate := os.NewFile(Gate, "gate")
	defer gate.Close()
	if _, err := io.ReadFull(gate, make([]byte, 1)); err != nil {
		return fmt.Errorf("wait for Lyceum: %w", err)
	}
	return nil
}

// withdraw puts this thread into a mount namespace with nothing in it but, if divided is not
// empty, what is mounted at that path and in it; and into a namespace of control groups that
// begins with its own. The root stays what it was. kept is the mount namespace of the root,
// which ends when nobody has it.
func withdraw(divided string) (kept int, err error) {
	root, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(root)
	if kept, err = unix.Open("/proc/thread-self/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return 0, err
	}
	again := -1
	if divided != "" {
		if again, err = copyMount(divided, nil); err != nil {
			return 0, err
		}
	}
	if err = unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP); err != nil {
		return 0, err
	}
	if err = vacate(again); err != nil {
		return 0, err
	}
	if err = unix.Fchdir(root); err != nil {
		return 0, err
	}
	return kept, unix.Chroot(".")
}

// vacate leaves nothing in this mount namespace but a mount, if it is one.
func vacate(again int) error {
	empty, err := newMount("tmpfs", flags{noSuid, noDev, noExec}, "mode", "0755", "size", "4k", "nr_inodes", "3")
	if err != nil {
		return err
	}
	if err := becomeRoot(empty, "/tmp"); err != nil {
		return err
	}
	if again != -1 {
		if err := attach(again, "/home"); err != nil {
			return err
		}
	}
	return unix.MountSetattr(unix.AT_FDCWD, "/", 0, &unix.MountAttr{Attr_set: readOnly})
}

// giveUp drops every capability, and what new ones could come from.
func giveUp() error {
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) && c > unix.CAP_SETPCAP {
			break // there are no more
		}
		if err != nil {
			return fmt.Errorf("give up capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

package cell

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Flags of mounts.
const (
	readOnly = unix.MOUNT_ATTR_RDONLY
	noSuid   = unix.MOUNT_ATTR_NOSUID
	noDev    = unix.MOUNT_ATTR_NODEV
	noExec   = unix.MOUNT_ATTR_NOEXEC
)

type flags []int

func (f flags) sum() (n int) {
	for _, flag := range f {
		n |= flag
	}
	return n
}

// devices are those of the host that a computer has too.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// layOut makes the root of the computer.
func (p *Plan) layOut() error {
	// What happens to mounts here is nobody else's business.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	// Everything is taken before the root changes: what it is taken from is then gone.
	pieces := make([][]int, len(p.Parts))
	for i, part := range p.Parts {
		var err error
		if pieces[i], err = take(part); err != nil {
			return fmt.Errorf("make %s for a computer: %w", part.Path, err)
		}
	}
	// It holds links, folders and short texts, and can be written to by nobody when it is
	// done.
	root, err := newMount("tmpfs", flags{noSuid, noDev}, "mode", "0755", "size", "1m", "nr_inodes", "4k")
	if err == nil {
		err = becomeRoot(root, "/tmp")
	}
	if err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	for i, part := range p.Parts {
		if err := place(part, pieces[i]); err != nil {
			return fmt.Errorf("place %s in a computer: %w", part.Path, err)
		}
	}
	return nil
}

// take returns the mounts that a part needs, with nothing attached to them.
func take(p Part) (pieces []int, err error) {
	one := func(fd int, err error) ([]int, error) { return []int{fd}, err }
	switch p.Kind {
	case Show:
		f := flags{readOnly, noSuid, noDev}
		if strings.HasPrefix(p.Path, "/etc/") {
			f = append(f, noExec)
		}
		return one(copyMount(p.From, f))
	case Home:
		f := flags{noSuid, noDev}
		if p.Fixed {
			f = append(f, readOnly)
		}
		return one(copyMount(p.From, f))
	case Memory:
		// As many files as there would be pages.
		return one(newMount("tmpfs", flags{noSuid, noDev}, "mode", "1777", "size", strconv.FormatInt(p.Size, 10), "nr_inodes", strconv.FormatInt(max(p.Size/4096, 64), 10)))
	case Proc:
		return one(newMount("proc", flags{noSuid, noDev, noExec}))
	case Mask:
		// A device that is none: whoever opens it is refused.
		return one(copyMount(os.DevNull, flags{readOnly, noSuid, noDev, noExec}))
	case Cover:
		return one(newMount("tmpfs", flags{readOnly, noSuid, noDev, noExec}, "mode", "0555", "size", "4k", "nr_inodes", "1"))
	case Devices:
		for _, name := range devices {
			fd, err := copyMount("/dev/"+name, flags{readOnly, noSuid, noExec})
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, fd)
		}
		terminals, err := newMount("devpts", flags{noSuid, noExec}, "newinstance", "", "ptmxmode", "0666", "mode", "0620")
		if err != nil {
			return nil, err
		}
		dev, err := newMount("tmpfs", flags{noSuid, noDev, noExec}, "mode", "0755", "size", "64k", "nr_inodes", "64")
		return append(pieces, terminals, dev), err
	}
	return nil, nil
}

// place puts a part where it belongs.
func place(p Part, pieces []int) error {
	if err := os.MkdirAll(filepath.Dir(p.Path), 0o755); err != nil {
		return err
	}
	switch p.Kind {
	case Show, Home, Memory:
		return attach(pieces[0], p.Path)
	case Mask, Cover:
		return onto(pieces[0], p.Path)
	case Link:
		return os.Symlink(p.From, p.Path)
	case Text:
		return os.WriteFile(p.Path, []byte(p.From), 0o444)
	case Dir:
		return os.MkdirAll(p.Path, 0o755)
	case Proc:
		return placeProc(p.Path, pieces[0])
	case Devices:
		return placeDevices(p.Path, pieces)
	case Close:
		return unix.MountSetattr(unix.AT_FDCWD, p.Path, 0, &unix.MountAttr{Attr_set: readOnly})
	}
	return fmt.Errorf("no cell has a part %q", p.Kind)
}

func placeProc(path string, proc int) error {
	if err := attach(proc, path); err != nil {
		return err
	}
	// Before nobody can write there any more.
	if err := os.WriteFile(path+"/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		return fmt.Errorf("forbid more user namespaces: %w", err)
	}
	sys, err := copyMount(path+"/sys", flags{readOnly, noSuid, noDev, noExec})
	if err != nil {
		return err
	}
	return onto(sys, path+"/sys")
}

func placeDevices(path string, pieces []int) error {
	n := len(devices)
	if err := attach(pieces[n+1], path); err != nil {
		return err
	}
	for i, name := range devices {
		if err := attach(pieces[i], filepath.Join(path, name)); err != nil {
			return err
		}
	}
	if err := attach(pieces[n], path+"/pts"); err != nil {
		return err
	}
	for name, target := range map[string]string{
		"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

// copyMount is a file or folder with all that is mounted in it.
func copyMount(path string, f flags) (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, fmt.Errorf("take %s: %w", path, err)
	}
	attr := &unix.MountAttr{Attr_set: uint64(f.sum()), Propagation: unix.MS_PRIVATE}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr); err != nil {
		return -1, fmt.Errorf("restrict %s: %w", path, err)
	}
	return fd, nil
}

// newMount is a new file system. Settings are keys and values; a value may be empty.
func newMount(kind string, f flags, settings ...string) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("make a %s: %w", kind, err)
	}
	defer unix.Close(fs)
	for i := 0; i < len(settings); i += 2 {
		if settings[i+1] == "" {
			err = unix.FsconfigSetFlag(fs, settings[i])
		} else {
			err = unix.FsconfigSetString(fs, settings[i], settings[i+1])
		}
		if err != nil {
			return -1, fmt.Errorf("set %s of a %s: %w", settings[i], kind, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("make a %s: %w", kind, err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, f.sum())
	if err != nil {
		return -1, fmt.Errorf("mount a %s: %w", kind, err)
	}
	return fd, nil
}

// attach puts a mount to a path at which there is nothing yet, or an empty folder.
func attach(fd int, path string) error {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return err
	}
	if s.Mode&unix.S_IFMT == unix.S_IFDIR {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
	} else if err := os.WriteFile(path, nil, 0o444); err != nil {
		return err
	}
	return onto(fd, path)
}

// onto covers what is at a path.
func onto(fd int, path string) error {
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return err
	}
	return unix.Close(fd)
}

// becomeRoot makes a mount the root of this mount namespace, with nothing of the old one
// left. at is any folder, for the moment in between.
func becomeRoot(fd int, at string) error {
	if err := onto(fd, at); err != nil {
		return err
	}
	if err := unix.Chdir(at); err != nil {
		return err
	}
	// The old root now covers the new one, and goes with all that is mounted in it.
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return unix.Chdir("/")
}

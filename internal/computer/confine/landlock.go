package confine

import (
	"errors"
	"fmt"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newest is the version of Landlock's interface up to which we know the rights.
const newest = 7

// What a rule can give. Rights that a file which is no folder cannot have are
// refused by the kernel, so they are kept apart.
const (
	readFile  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	readTree  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeFile = readFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	writeTree = writeFile | readTree | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	// devices are made nowhere.
	devices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// landlockVersion is 0 if the kernel has no Landlock or was booted without it.
func landlockVersion() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		return min(int(v), newest), nil
	case unix.ENOSYS, unix.EOPNOTSUPP:
		return 0, nil
	}
	return 0, fmt.Errorf("ask for Landlock's version: %w; a seccomp profile of the engine may refuse it: hand it the one of confine.Profile", errno)
}

// handled are the rights that a version knows of. What is handled and given by no
// rule is refused.
func handled(abi int) unix.LandlockRulesetAttr {
	fs := uint64(writeTree | devices)
	if abi < 2 {
		fs &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi < 3 {
		fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi < 5 {
		fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: fs}
	if abi >= 6 {
		// TCP is left alone: the network namespace is in charge of it.
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return attr
}

// restrict puts the calling thread into a new domain. The program self can be
// executed in it, wherever it lies, for that is what comes next.
func restrict(o Options, abi, self int) error {
	attr := handled(abi)
	r, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("make a Landlock ruleset: %w", errno)
	}
	rules := ruleset{fd: int(r), rights: attr.Handled_access_fs}
	defer unix.Close(rules.fd)
	// A program that lies in memory only is not Landlock's business, and passes.
	if err := rules.allow(self, readFile); err != nil && !errors.Is(err, unix.EBADFD) {
		return fmt.Errorf("let Landlock pass the helper's own program: %w", err)
	}
	for _, path := range o.Read {
		if err := rules.allowPath(path, readTree, readFile); err != nil {
			return err
		}
	}
	for _, path := range o.Write {
		if err := rules.allowPath(path, writeTree, writeFile); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules.fd), 0, 0); errno != 0 {
		return fmt.Errorf("enter the Landlock domain: %w", errno)
	}
	return nil
}

type ruleset struct {
	fd     int
	rights uint64
}

func (r ruleset) allowPath(path string, tree, file uint64) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("let Landlock pass %q: the path must be absolute", path)
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("let Landlock pass %s: %w", path, err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("let Landlock pass %s: %w", path, err)
	}
	rights := file
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		rights = tree
	}
	if err := r.allow(fd, rights); err != nil {
		return fmt.Errorf("let Landlock pass %s: %w", path, err)
	}
	return nil
}

func (r ruleset) allow(fd int, rights uint64) error {
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Package quota has the kernel hold how much a folder takes with all that is in it, by a project quota of
// ext4 or XFS.
//
// A project is a number that a file has. A folder that hands its number on gives it to all that is made
// in it, and the kernel counts what the files of a project take, and refuses what would be more than their
// limit, with EDQUOT, or ENOSPC by XFS: however deep a file lies, whoever may read it, and whether it has a name any more.
//
// It takes root, outside of user namespaces, Linux 5.14, and a file system that holds such quotas. Lacking says
// what of that is not there; whoever calls then has to count by themselves (package tree).
//
// The owner of a file may give it another project, unless they are in a user namespace. So nobody whose files
// are to be counted may have the calls for that: package confine refuses them. Links, pipes and sockets
// that were in a folder before can have no project given. Links are made anew; the others count for nobody,
// and take a moment's copying to be moved.
package quota

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"unsafe"

	"lyceum/internal/computer/tree"

	"golang.org/x/sys/unix"
)

// What of the kernel's package unix does not have.
const (
	getAttributes = 0x801c581f // FS_IOC_FSGETXATTR
	setAttributes = 0x401c5820 // FS_IOC_FSSETXATTR
	handsOn       = 0x200      // FS_XFLAG_PROJINHERIT

	projects   = 2 // PRJQUOTA
	state      = 0x5808<<8 | projects
	read       = 0x800007<<8 | projects
	write      = 0x800008<<8 | projects
	counted    = 1 << 4 // FS_QUOTA_PDQ_ACCT
	enforced   = 1 << 5 // FS_QUOTA_PDQ_ENFD
	bothLimits = 1 | 4  // QIF_BLIMITS, QIF_ILIMITS
	unit       = 1024   // of limits on bytes
)

// attributes are the kernel's struct fsxattr.
type attributes struct {
	flags, extent, extents, project, shared uint32
	_                                       [8]byte
}

// record is the kernel's struct if_dqblk.
type record struct {
	hardBytes, softBytes, bytes, hardFiles, softFiles, files, bytesTime, filesTime uint64
	valid                                                                          uint32
	_                                                                              uint32
}

// Lacking says why the kernel cannot hold how much a folder takes, and what would change that; why is empty if it can.
func Lacking(dir string) (why, fix string) {
	if os.Geteuid() != 0 {
		return "only root can set project quotas", ""
	}
	if err := quotactl(-1, read, 0, nil); !errors.Is(err, unix.EBADF) {
		return "this kernel has no quotas by open folders, which came with Linux 5.14 (" + err.Error() + ")", ""
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err.Error(), ""
	}
	defer unix.Close(fd)
	var s [160]byte // struct fs_quota_statv, of version 1
	s[0] = 1
	if err := quotactl(fd, state, 0, unsafe.Pointer(&s)); err != nil || s[2]&(counted|enforced) != counted|enforced {
		return off(fd)
	}
	var r record
	if err := quotactl(fd, read, 0, unsafe.Pointer(&r)); err != nil && !errors.Is(err, unix.ENOENT) {
		return "root may not set project quotas here (" + err.Error() + "), as in most containers", ""
	}
	return "", ""
}

// off says what a file system without project quotas takes to have some.
func off(fd int) (why, fix string) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(fd, &s); err != nil {
		return err.Error(), ""
	}
	switch int64(s.Type) & math.MaxUint32 {
	case unix.EXT4_SUPER_MAGIC:
		return "project quotas are off on this ext4", "unmount it, tune2fs -O project,quota -Q prjquota <disk>, and mount it with -o prjquota"
	case unix.XFS_SUPER_MAGIC:
		return "project quotas are off on this XFS", "mount it with -o prjquota"
	}
	return "its file system has no project quotas; ext4 and XFS have", ""
}

// Hold has the kernel hold a folder, and all that is in it and will be, to so many bytes and files. Nothing may
// run in it meanwhile, and no other folder may have this project.
func Hold(dir string, project uint32, bytes, files int64) error {
	fd, is, err := look(dir)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if is.project != project || is.flags&handsOn == 0 {
		// An earlier limit might be in the way.
		err := set(fd, project, 0, 0)
		if err == nil {
			err = take(dir, fd, project)
		}
		if err != nil {
			return fmt.Errorf("give %s to a project: %w", dir, err)
		}
	}
	if err := set(fd, project, uint64(bytes), uint64(files)); err != nil {
		return fmt.Errorf("limit what %s takes: %w", dir, err)
	}
	return nil
}

// Release takes the limit of a folder away. One that is not there, or cannot have been held, is no error.
func Release(dir string) error {
	if why, _ := Lacking(dir); why != "" {
		return nil
	}
	fd, is, err := look(dir)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if is.project == 0 || is.flags&handsOn == 0 {
		return nil
	}
	if err := set(fd, is.project, 0, 0); err != nil {
		return fmt.Errorf("take the limit of %s away: %w", dir, err)
	}
	return nil
}

// Taken is how many bytes the kernel has counted for a folder that is held; it is more, where the disk has less room than
// the limit leaves. Whoever can stand in the folder can ask.
func Taken(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Blocks-s.Bfree) * s.Bsize, nil
}

// Limits are those of a folder, zero where there is none.
func Limits(dir string) (bytes, files int64, err error) {
	fd, is, err := look(dir)
	if err != nil {
		return 0, 0, err
	}
	defer unix.Close(fd)
	var r record
	if err := quotactl(fd, read, is.project, unsafe.Pointer(&r)); err != nil && !errors.Is(err, unix.ENOENT) {
		return 0, 0, err // XFS has no record of a project that has nothing
	}
	return int64(r.hardBytes) * unit, int64(r.hardFiles), nil
}

// look opens a folder and reads to which project it belongs.
func look(dir string) (fd int, is attributes, err error) {
	fd, err = open(unix.AT_FDCWD, dir, unix.O_DIRECTORY)
	if err != nil {
		return -1, is, fmt.Errorf("open the folder %s: %w", dir, err)
	}
	if is, err = attributesOf(fd); err != nil {
		unix.Close(fd)
		return -1, is, fmt.Errorf("read the project of %s: %w", dir, err)
	}
	return fd, is, nil
}

// set changes the limits of a project; zero is none.
func set(fd int, project uint32, bytes, files uint64) error {
	r := record{hardBytes: bytes / unit, hardFiles: files, valid: bothLimits}
	return quotactl(fd, write, project, unsafe.Pointer(&r))
}

// take gives a folder and all that is in it to a project. The folder itself comes last: until then it counts
// as not given.
func take(dir string, top int, project uint32) error {
	var links []string // at the top, where they would get no project yet
	err := tree.Walk(dir, tree.Visitor{Visit: func(in int, name string, s *unix.Stat_t) error {
		switch s.Mode & unix.S_IFMT {
		case unix.S_IFLNK:
			if same(in, top) {
				links = append(links, name)
				return nil
			}
			return relink(in, name, s)
		case unix.S_IFREG, unix.S_IFDIR:
			return give(in, name, project)
		}
		return nil
	}})
	if err == nil {
		err = giveOpen(top, project)
	}
	for _, name := range links {
		var s unix.Stat_t
		if err == nil {
			err = unix.Fstatat(top, name, &s, unix.AT_SYMLINK_NOFOLLOW)
		}
		if err == nil && s.Mode&unix.S_IFMT == unix.S_IFLNK {
			err = relink(top, name, &s)
		}
	}
	return err
}

func same(a, b int) bool {
	var s, t unix.Stat_t
	return unix.Fstat(a, &s) == nil && unix.Fstat(b, &t) == nil && s.Dev == t.Dev && s.Ino == t.Ino
}

// give gives a file or a folder to a project.
func give(in int, name string, project uint32) error {
	fd, err := open(in, name, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return giveOpen(fd, project)
}

func giveOpen(fd int, project uint32) error {
	is, err := attributesOf(fd)
	if err != nil {
		return err
	}
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return err
	}
	want := is
	want.project = project
	if s.Mode&unix.S_IFMT == unix.S_IFDIR {
		want.flags |= handsOn
	}
	if want == is {
		return nil
	}
	return ioctl(fd, setAttributes, unsafe.Pointer(&want))
}

// relink makes a link anew in a folder that hands its project on: none can be given to a link, and one of another
// project could not be renamed.
func relink(in int, name string, s *unix.Stat_t) error {
	to := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(in, name, to)
	if err != nil {
		return err
	}
	aside := ".relinked-" + strconv.FormatUint(s.Ino, 36)
	if err := unix.Symlinkat(string(to[:n]), in, aside); err != nil {
		return err
	}
	err = unix.Fchownat(in, aside, int(s.Uid), int(s.Gid), unix.AT_SYMLINK_NOFOLLOW)
	if err == nil {
		err = unix.UtimesNanoAt(in, aside, []unix.Timespec{s.Atim, s.Mtim}, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err == nil {
		err = unix.Renameat(in, aside, in, name)
	}
	if err != nil {
		err = errors.Join(err, unix.Unlinkat(in, aside, 0))
	}
	return err
}

func attributesOf(fd int) (a attributes, err error) {
	err = ioctl(fd, getAttributes, unsafe.Pointer(&a))
	return a, err
}

func open(in int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(in, name, flags|unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func ioctl(fd int, command uintptr, to unsafe.Pointer) error {
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), command, uintptr(to)); e != 0 {
		return e
	}
	return nil
}

func quotactl(fd int, command uintptr, project uint32, about unsafe.Pointer) error {
	if _, _, e := unix.Syscall6(unix.SYS_QUOTACTL_FD, uintptr(fd), command, uintptr(project), uintptr(about), 0, 0); e != 0 {
		return e
	}
	return nil
}

package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"lyceum/internal/computer"

	"golang.org/x/sys/unix"
)

// stagedHome is where a sandbox that is being made finds the home when its user may not
// walk the folders above it, stagedProgram where it finds this program, and stagedFolder where it finds one of the folders that are
// to be read.
const (
	stagedHome    = "/tmp/home"
	stagedProgram = "/tmp/program"
)

func stagedFolder(i int) string { return fmt.Sprintf("/tmp/folder-%d", i) }

// Start starts a command that makes a sandbox, and returns when wait does, which it calls
// with the outcome. All that time the command's parent, which is one thread, is there.
//
// If Lyceum is root, it starts in a mount namespace in which the home and all that is shown stand in places that every user can reach, in
// no group, and namespaces that it is started in are that user's. All that belongs to a
// thread that ends with this call; the host never sees the mounts.
func (l *Launch) Start(cmd *exec.Cmd, wait func(started error)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == os.Getpid() {
			// The first thread never ends, and is what others see of this process. While it is
			// held here, the next goroutine is on another one.
			defer runtime.UnlockOSThread()
			l.Start(cmd, wait)
			return
		}
		var err error
		if l.User != 0 {
			// Never unlocked: a thread in another namespace is of no use to anybody.
			if err = l.stage(); err == nil {
				err = actFor(l.User)
			}
		} else {
			defer runtime.UnlockOSThread()
		}
		if err == nil {
			err = cmd.Start()
		}
		wait(err)
	}()
	<-done
}

func (l *Launch) stage() error {
	b := l.Boot
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
		return &computer.Unusable{
			What: "sandboxes", Why: "root may not make mount namespaces here (" + err.Error() + "), as in most containers",
			Fix: "run Lyceum as an ordinary user, or give the container the capability SYS_ADMIN",
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	// They are opened before /tmp is covered, for they may be below it.
	fd, err := unix.Open(b.Home, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the home of a computer: %w", err)
	}
	defer unix.Close(fd)
	var folders []int
	for _, f := range b.Spec.Folders {
		fd, err := unix.Open(f.Path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open the folder %s of a computer: %w", f.Name, err)
		}
		defer unix.Close(fd)
		folders = append(folders, fd)
	}
	program := -1
	if l.Shown != "" {
		if program, err = unix.Open(l.Shown, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err != nil {
			return fmt.Errorf("open the copy of this program: %w", err)
		}
		defer unix.Close(program)
	}
	if err := unix.Mount("tmpfs", "/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64k,mode=0755"); err != nil {
		return fmt.Errorf("make a place for the home of a computer: %w", err)
	}
	if err := mountAt(fd, stagedHome); err != nil {
		return fmt.Errorf("mount the home of a computer: %w", err)
	}
	if program >= 0 {
		if err := errors.Join(os.WriteFile(stagedProgram, nil, 0o444), mountOn(program, stagedProgram)); err != nil {
			return fmt.Errorf("mount the copy of this program: %w", err)
		}
	}
	for i, fd := range folders {
		if err := mountAt(fd, stagedFolder(i)); err != nil {
			return fmt.Errorf("mount the folder %s of a computer: %w", b.Spec.Folders[i].Name, err)
		}
	}
	return nil
}

// actFor has the calling thread, of root, act for a user, with all its rights. It is in none
// of root's groups any more. A namespace belongs to whom its maker acts for, who is charged
// for what is used in it: were that root, agents could use up what root may have.
func actFor(user int) error {
	// The calls themselves, for those of package unix are for all threads.
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return fmt.Errorf("leave the groups of root: %w", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(user), ^uintptr(0)); errno != 0 {
		return fmt.Errorf("act for user %d: %w", user, errno)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var rights [2]unix.CapUserData
	if err := unix.Capget(&header, &rights[0]); err != nil {
		return fmt.Errorf("act for user %d: %w", user, err)
	}
	for i := range rights {
		rights[i].Effective = rights[i].Permitted
	}
	if err := unix.Capset(&header, &rights[0]); err != nil {
		return fmt.Errorf("act for user %d with the rights of root: %w", user, err)
	}
	return nil
}

// mountAt shows an open folder at a path.
func mountAt(fd int, path string) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	return mountOn(fd, path)
}

func mountOn(fd int, path string) error {
	return unix.Mount(fmt.Sprintf("/proc/self/fd/%d", fd), path, "", unix.MS_BIND, "")
}

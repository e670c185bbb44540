package bubblewrap

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"lyceum/internal/computer"

	"golang.org/x/sys/unix"
)

// staged is where bwrap finds the home when its user may not walk the folders above
// it.
const staged = "/tmp/home"

// startStaged starts a command in a mount namespace of its own, in which the home
// stands in a place that every user can reach. The namespace belongs to a thread
// that ends with this call; the host never sees the mount.
func startStaged(cmd *exec.Cmd, home string) error {
	result := make(chan error)
	go func() {
		// Never unlocked: a thread in another namespace is of no use to anybody.
		runtime.LockOSThread()
		err := stage(home)
		if err == nil {
			err = cmd.Start()
		}
		result <- err
	}()
	return <-result
}

func stage(home string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
		return &computer.Unusable{
			What: "bubblewrap", Why: "root may not make mount namespaces here (" + err.Error() + "), as in most containers",
			Fix: "run Lyceum as an ordinary user, or give the container the capability SYS_ADMIN",
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	// The folder is opened before /tmp is covered, for it may be below it.
	fd, err := unix.Open(home, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the home of a computer: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Mount("tmpfs", "/tmp", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64k,mode=0755"); err != nil {
		return fmt.Errorf("make a place for the home of a computer: %w", err)
	}
	if err := os.Mkdir(staged, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", fd), staged, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount the home of a computer: %w", err)
	}
	return nil
}

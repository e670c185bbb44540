package sqlite

import (
	"os"
	"time"

	"lyceum/internal/ledger/driver"

	"golang.org/x/sys/unix"
)

// watchFolder tells when a file in a folder was written to, at most every pollEvery. Where
// the kernel has no room for another watch there is none, and the file is polled.
func watchFolder(dir string) (changed <-chan struct{}, stop func()) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, func() {}
	}
	f := os.NewFile(uintptr(fd), "inotify") // non-blocking: a read waits without a thread
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MODIFY|unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
		_ = f.Close()
		return nil, func() {}
	}
	out, ended := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(ended)
		events := make([]byte, 64<<10)
		for {
			if _, err := f.Read(events); err != nil {
				return
			}
			driver.Tell(out)
			// Who writes a thousand times in a second is not looked at as often.
			time.Sleep(pollEvery)
		}
	}()
	return out, func() { _ = f.Close(); <-ended }
}

package fs

import (
	"testing"

	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

var errNoSpace error = unix.ENOSPC

// smallDisk returns a folder with room for a megabyte.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		need.Missing(t, "mounting a small tmpfs takes root and CAP_SYS_ADMIN (%v): run the tests with sudo, or in a container with --privileged", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

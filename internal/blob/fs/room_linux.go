package fs

import (
	iofs "io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// free is how many bytes of a folder's disk this user can still write.
func free(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(min(st.Bavail, 1<<40)) * st.Bsize, nil
}

// taken is how many bytes of the disk a file takes: its length, without holes that are worth
// a word. Some file systems keep the smallest files with their names, at no block at all.
func taken(info iofs.FileInfo) int64 {
	const worth = 64 << 10
	if st, ok := info.Sys().(*syscall.Stat_t); ok && info.Size()-st.Blocks*512 > worth {
		return st.Blocks * 512
	}
	return info.Size()
}

// syncDisk has all that was written to a folder's disk reach it.
func syncDisk(f *os.File) error { return unix.Syncfs(int(f.Fd())) }

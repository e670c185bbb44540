package blob

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func stampOf(info fs.FileInfo) (stamp, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	return stamp{
		size:  st.Size,
		mtime: st.Mtim.Nano(),
		ctime: st.Ctim.Nano(),
		inode: st.Ino,
		dev:   uint64(st.Dev),
	}, true
}

// nameless makes a file that no folder lists and that is gone once closed.
func nameless(root *os.Root) (*os.File, error) {
	return root.OpenFile(".", unix.O_TMPFILE|os.O_RDWR, 0o600)
}

// allocated is how many bytes of a file are on the disk.
func allocated(info fs.FileInfo) (int64, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Blocks * 512, true
}

// missing is how many bytes of a file are holes, told by the file system; guess is what is
// said of one that does not tell, or that has so many that nobody wants to count them.
func missing(f *os.File, size, guess int64) (sum int64) {
	const patience = 100_000
	for at, n := int64(0), 0; at < size; n++ {
		data, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
		if err == unix.ENXIO {
			sum += size - at
			break
		}
		if err != nil || n > patience {
			sum = guess
			break
		}
		sum += data - at
		if at, err = unix.Seek(int(f.Fd()), data, unix.SEEK_HOLE); err != nil {
			sum = guess
			break
		}
	}
	return sum
}

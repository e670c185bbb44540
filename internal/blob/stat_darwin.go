package blob

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func stampOf(info fs.FileInfo) (stamp, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	return stamp{
		size:  st.Size,
		mtime: st.Mtimespec.Nano(),
		ctime: st.Ctimespec.Nano(),
		inode: st.Ino,
		dev:   uint64(st.Dev),
	}, true
}

// nameless makes a file that no folder lists; this system has none.
func nameless(*os.Root) (*os.File, error) { return nil, errors.ErrUnsupported }

// Package scratch makes folders for temporary files that do not outlive their process for long:
// what one left that was killed, the next one removes.
package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Folder is one. Close removes it.
type Folder struct {
	// Path is where files are put.
	Path string
	// held is the folder above, which is locked for as long as we live: without the lock, what
	// is in it was left behind.
	held *os.File
}

// inside is the folder that files are put into. It is made when the lock is held, so whoever
// sees it sees the lock.
const inside = "in"

// New makes a folder below another, that of the system if empty, and removes those of the same
// prefix that nobody holds any more.
func New(below, prefix string) (*Folder, error) {
	if below == "" {
		below = os.TempDir()
	}
	below, err := filepath.Abs(below)
	if err != nil {
		return nil, err
	}
	Sweep(below, prefix)
	for try := 1; ; try++ {
		f, err := begin(below, prefix)
		// Until it is locked, somebody who sweeps may take it for one that was left empty.
		taken := errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.EWOULDBLOCK)
		if _, missing := os.Stat(below); err == nil || !taken || missing != nil || try == 10 {
			return f, err
		}
	}
}

func begin(below, prefix string) (*Folder, error) {
	dir, err := os.MkdirTemp(below, prefix)
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: filepath.Join(dir, inside)}
	if f.held, err = os.Open(dir); err == nil {
		if err = unix.Flock(int(f.held.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			err = os.Mkdir(f.Path, 0o700)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Close removes the folder and all that is in it.
func (f *Folder) Close() error {
	err := os.RemoveAll(filepath.Dir(f.Path))
	if f.held != nil {
		err = errors.Join(err, f.held.Close())
	}
	return err
}

// Sweep removes the folders of processes that died before they could: those that files are put into,
// and those that are empty, since who had them died while it made or removed them.
func Sweep(below, prefix string) {
	found, _ := filepath.Glob(filepath.Join(below, prefix+"*"))
	for _, dir := range found {
		f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
		if err != nil {
			continue
		}
		info, err := f.Stat()
		// In a folder that everybody can write to, some may be somebody else's.
		if err == nil && int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid() && unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			if _, err := os.Lstat(filepath.Join(dir, inside)); err == nil {
				_ = os.RemoveAll(dir)
			} else {
				_ = os.Remove(dir) // only if it is empty: another may be no folder of ours
			}
		}
		_ = f.Close()
	}
}

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
	sweep(below, prefix)
	dir, err := os.MkdirTemp(below, prefix)
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: filepath.Join(dir, inside)}
	if f.held, err = os.Open(dir); err == nil {
		err = errors.Join(unix.Flock(int(f.held.Fd()), unix.LOCK_EX|unix.LOCK_NB), os.Mkdir(f.Path, 0o700))
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

// sweep removes the folders of processes that died before they could.
func sweep(below, prefix string) {
	found, _ := filepath.Glob(filepath.Join(below, prefix+"*", inside))
	for _, path := range found {
		dir := filepath.Dir(path)
		f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
		if err != nil {
			continue
		}
		info, err := f.Stat()
		// In a folder that everybody can write to, some may be somebody else's.
		if err == nil && int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid() && unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(dir)
		}
		_ = f.Close()
	}
}

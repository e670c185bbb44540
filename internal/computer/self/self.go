// Package self keeps a copy of this program on disk for computers to run: as their helper,
// where a driver cannot hand it an open file, and where their programs find it.
//
// The original may lie where the users of computers cannot read it, or be replaced by a newer
// one while we run; and its path is nobody's business in a computer. The copy lasts as long
// as whoever made it. Computers that have it keep it until they end: a mount holds on to a
// file that has lost its name.
package self

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Copy is one for each driver, made when it is first asked for. The zero value works. Its
// methods may be called at the same time.
type Copy struct {
	// Temp is the folder that it is made in, that of the system if empty.
	Temp string

	mu   sync.Mutex // guards made
	made *made
}

// made is a copy that is there.
type made struct {
	path string
	// folder is locked for as long as we live: without the lock, what is in it was
	// left behind.
	folder *os.File
}

// The names of a copy and of its folder.
const (
	prefix = "lyceum-program-"
	name   = "program"
)

// Path is where the copy is on the host.
func (c *Copy) Path() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		temp := c.Temp
		if temp == "" {
			temp = os.TempDir()
		}
		sweep(temp)
		m, err := fresh(temp)
		if err != nil {
			return "", fmt.Errorf("copy this program for computers to run: %w", err)
		}
		c.made = m
	}
	return c.made.path, nil
}

// Close takes the copy away.
func (c *Copy) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		return nil
	}
	err := c.made.remove()
	c.made = nil
	return err
}

func fresh(temp string) (m *made, err error) {
	temp, err = filepath.Abs(temp)
	if err != nil {
		return nil, err
	}
	var s unix.Statfs_t
	if err := unix.Statfs(temp, &s); err == nil && s.Flags&unix.ST_NOEXEC != 0 {
		return nil, fmt.Errorf("%s may not hold programs: set TMPDIR to a folder that may", temp)
	}
	dir, err := os.MkdirTemp(temp, prefix)
	if err != nil {
		return nil, err
	}
	m = &made{path: filepath.Join(dir, name)}
	defer func() {
		if err != nil {
			_ = m.remove()
		}
	}()
	if m.folder, err = os.Open(dir); err != nil {
		return m, err
	}
	// The lock comes before the file, so whoever sees the file sees the lock.
	if err = unix.Flock(int(m.folder.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return m, err
	}
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		return m, err
	}
	defer in.Close()
	// A process that is forked meanwhile would have the file open for writing, and for as
	// long nobody could execute it.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	out, err := os.OpenFile(m.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return m, err
	}
	_, err = io.Copy(out, in)
	// The umask may have taken from the mode what users of computers need.
	return m, errors.Join(err, out.Chmod(0o755), out.Close())
}

func (m *made) remove() error {
	err := os.RemoveAll(filepath.Dir(m.path))
	if m.folder != nil {
		err = errors.Join(err, m.folder.Close())
	}
	return err
}

// sweep removes the copies of processes that died before they could.
func sweep(temp string) {
	found, _ := filepath.Glob(filepath.Join(temp, prefix+"*", name))
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

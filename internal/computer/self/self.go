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

	"lyceum/internal/scratch"

	"golang.org/x/sys/unix"
)

// Copy is one for each driver, made when it is first asked for. The zero value works. Its
// methods may be called at the same time.
type Copy struct {
	// Temp is the folder that it is made in, that of the system if empty.
	Temp string

	mu   sync.Mutex // guards made
	made *scratch.Folder
}

// name is the copy's in its folder.
const name = "program"

// Path is where the copy is on the host.
func (c *Copy) Path() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		made, err := scratch.New(c.Temp, "lyceum-program-")
		if err == nil {
			if err = fill(made.Path); err != nil {
				err = errors.Join(err, made.Close())
			}
		}
		if err != nil {
			return "", fmt.Errorf("copy this program for computers to run: %w", err)
		}
		c.made = made
	}
	return filepath.Join(c.made.Path, name), nil
}

// Close takes the copy away.
func (c *Copy) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		return nil
	}
	err := c.made.Close()
	c.made = nil
	return err
}

// fill puts the copy into a folder.
func fill(dir string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err == nil && s.Flags&unix.ST_NOEXEC != 0 {
		return fmt.Errorf("%s may not hold programs: set TMPDIR to a folder that may", filepath.Dir(filepath.Dir(dir)))
	}
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer in.Close()
	// A process that is forked meanwhile would have the file open for writing, and for as
	// long nobody could execute it.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	out, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	// The umask may have taken from the mode what users of computers need.
	return errors.Join(err, out.Chmod(0o755), out.Close())
}

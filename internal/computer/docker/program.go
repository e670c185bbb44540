package docker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// program is a copy of this program for containers to run. The original may lie
// where their users cannot read it, or be replaced by a newer one while we run; and
// its path is nobody's business in a container. There is one copy for each driver.
type program struct {
	path string
	// folder is locked for as long as we live: without the lock, what is in it was
	// left behind.
	folder *os.File
}

const programFolder = "lyceum-docker-"

// program is the path of the copy.
func (d *Driver) program() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.copied == nil {
		temp := d.opts.Temp
		if temp == "" {
			temp = os.TempDir()
		}
		sweep(temp)
		p, err := copySelf(temp)
		if err != nil {
			return "", fmt.Errorf("copy this program for containers to run: %w", err)
		}
		d.copied = p
	}
	return d.copied.path, nil
}

func copySelf(temp string) (p *program, err error) {
	temp, err = filepath.Abs(temp)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(temp, programFolder)
	if err != nil {
		return nil, err
	}
	p = &program{path: filepath.Join(dir, "helper")}
	defer func() {
		if err != nil {
			_ = p.remove()
		}
	}()
	if p.folder, err = os.Open(dir); err != nil {
		return p, err
	}
	// The lock comes before the file, so whoever sees the file sees the lock.
	if err = unix.Flock(int(p.folder.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return p, err
	}
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		return p, err
	}
	defer in.Close()
	out, err := os.OpenFile(p.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return p, err
	}
	_, err = io.Copy(out, in)
	// The umask may have taken from the mode what containers need.
	return p, errors.Join(err, out.Chmod(0o755), out.Close())
}

// remove takes the copy away. Containers that run it keep it until they end.
func (p *program) remove() error {
	err := os.RemoveAll(filepath.Dir(p.path))
	if p.folder != nil {
		err = errors.Join(err, p.folder.Close())
	}
	return err
}

// sweep removes the copies of processes that died before they could.
func sweep(temp string) {
	found, _ := filepath.Glob(filepath.Join(temp, programFolder+"*", "helper"))
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

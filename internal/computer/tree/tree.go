// Package tree goes through folders that hostile programs have filled, to count what is
// in them, to give it away or to remove it.
//
// A tree may be deeper than a path can be long and than a process can have files open,
// its folders may be closed to their owner, and somebody may move them meanwhile. So
// nothing is named by a path: every step is taken from an open folder to a name in it,
// links are never followed, and of the folders above only a few are open. The way back up
// is "..", which counts only if it leads to the folder that the walk came from.
//
// What vanishes meanwhile is left out. All else that cannot be looked at is an error:
// whoever counts must know that the count is not all.
package tree

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// Visitor is told what there is. Either function may be nil.
type Visitor struct {
	// Visit gets every name but that of the tree itself, folders before what is in them,
	// with the open folder that it stands in.
	Visit func(dir int, name string, s *unix.Stat_t) error
	// Leave gets every folder after all that is in it, but for the tree itself.
	Leave func(dir int, name string) error
	// Unlock leaves folders open that were closed to their owner. Otherwise they are
	// closed again.
	Unlock bool
}

// Walk goes through a folder. An error of the visitor ends it, and is returned.
func Walk(dir string, v Visitor) error {
	w := &walker{Visitor: v}
	defer w.close()
	fd, locked, err := w.open(unix.AT_FDCWD, dir)
	if err == nil {
		err = w.push(fd, "", locked)
	}
	if err != nil {
		return fmt.Errorf("open the folder %s: %w", dir, err)
	}
	for {
		top := &w.stack[len(w.stack)-1]
		if n := len(top.below); n > 0 {
			name := top.below[n-1]
			top.below = top.below[:n-1]
			err = w.enter(top, name)
		} else if len(w.stack) == 1 {
			return nil
		} else {
			err = w.leave()
		}
		if err != nil {
			return err
		}
	}
}

// keepOpen is how many folders above the current one stay open, besides the first.
const keepOpen = 16

type walker struct {
	Visitor
	stack []folder
	buf   []byte
}

// folder is one that the walk is in.
type folder struct {
	name     string
	dev, ino uint64
	fd       int      // -1 while it is not open
	below    []string // folders in it that the walk has yet to go into
	locked   int64    // the mode to give back to it, or -1
}

func (w *walker) close() {
	for i := range w.stack {
		w.stack[i].close()
	}
}

func (f *folder) close() {
	if f.fd < 0 {
		return
	}
	if f.locked >= 0 {
		_ = unix.Chmod(magic(f.fd), uint32(f.locked))
		f.locked = -1
	}
	_ = unix.Close(f.fd)
	f.fd = -1
}

// magic is a path that leads to an open file, whatever it is open for.
func magic(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

func open(dir int, name string) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// gone reports whether a name has vanished or is no folder any more.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// enter goes into a folder.
func (w *walker) enter(above *folder, name string) error {
	fd, locked, err := w.open(above.fd, name)
	if errors.Is(err, unix.EACCES) {
		// It may be the folder above that was closed.
		if err = w.unlock(above); err == nil {
			fd, locked, err = w.open(above.fd, name)
		}
	}
	if gone(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open a folder: %w", err)
	}
	if err := w.push(fd, name, locked); err != nil {
		return err
	}
	if far := len(w.stack) - 1 - keepOpen; far > 0 {
		w.stack[far].close()
	}
	return nil
}

// open opens a folder, also one that is closed. It then returns the mode to give back.
func (w *walker) open(dir int, name string) (fd int, locked int64, err error) {
	if fd, err = open(dir, name); !errors.Is(err, unix.EACCES) {
		return fd, -1, err
	}
	fd, locked, err = unlock(dir, name)
	if w.Unlock {
		locked = -1
	}
	return fd, locked, err
}

// unlock opens a folder that its owner, who we are too, has closed.
func unlock(dir int, name string) (fd int, mode int64, err error) {
	handle, err := unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, err
	}
	defer unix.Close(handle)
	var s unix.Stat_t
	if err := unix.Fstat(handle, &s); err != nil {
		return -1, -1, err
	}
	mode = int64(s.Mode & 0o7777)
	if err := unix.Chmod(magic(handle), uint32(mode)|0o700); err != nil {
		return -1, -1, err
	}
	if fd, err = open(handle, "."); err != nil {
		_ = unix.Chmod(magic(handle), uint32(mode))
	}
	return fd, mode, err
}

// push reads a folder that was opened.
func (w *walker) push(fd int, name string, locked int64) error {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		_ = unix.Close(fd)
		return err
	}
	w.stack = append(w.stack, folder{name: name, dev: uint64(s.Dev), ino: s.Ino, fd: fd, locked: locked})
	f := &w.stack[len(w.stack)-1]
	if w.buf == nil { // not before: most trees that are to be removed are not there
		w.buf = make([]byte, 32<<10)
	}
	for {
		n, err := unix.Getdents(fd, w.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.ENOENT) {
			return nil // the folder itself was removed
		}
		if err != nil {
			return fmt.Errorf("read a folder: %w", err)
		}
		if n == 0 {
			return nil
		}
		if err := w.read(f, w.buf[:n]); err != nil {
			return err
		}
	}
}

// Where things stand in the kernel's struct linux_dirent64.
const (
	direntLength = 16
	direntName   = 19
)

// read shows the visitor a piece of a folder's list.
func (w *walker) read(f *folder, b []byte) error {
	var s unix.Stat_t
	for len(b) > direntName {
		length := int(binary.NativeEndian.Uint16(b[direntLength:]))
		if length <= direntName || length > len(b) {
			return errors.New("read a folder: the kernel's list is cut")
		}
		name := unix.ByteSliceToString(b[direntName:length])
		b = b[length:]
		if name == "." || name == ".." {
			continue
		}
		err := unix.Fstatat(f.fd, name, &s, unix.AT_SYMLINK_NOFOLLOW)
		if errors.Is(err, unix.EACCES) {
			// It can be read and not entered.
			if err = w.unlock(f); err == nil {
				err = unix.Fstatat(f.fd, name, &s, unix.AT_SYMLINK_NOFOLLOW)
			}
		}
		if gone(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at a file: %w", err)
		}
		if w.Visit != nil {
			if err := w.Visit(f.fd, name, &s); err != nil {
				return err
			}
		}
		if s.Mode&unix.S_IFMT == unix.S_IFDIR {
			f.below = append(f.below, name)
		}
	}
	return nil
}

// unlock opens a folder that the walk is in and that somebody has closed.
func (w *walker) unlock(f *folder) error {
	var s unix.Stat_t
	if err := unix.Fstat(f.fd, &s); err != nil {
		return err
	}
	if err := unix.Chmod(magic(f.fd), s.Mode&0o7777|0o700); err != nil {
		return err
	}
	if f.locked < 0 && !w.Unlock {
		f.locked = int64(s.Mode & 0o7777)
	}
	return nil
}

// leave goes back up from a folder whose content is done.
func (w *walker) leave() error {
	top, above := &w.stack[len(w.stack)-1], &w.stack[len(w.stack)-2]
	if above.fd < 0 {
		if err := w.climb(top, above); err != nil {
			return err
		}
	}
	name := top.name
	top.close()
	w.stack = w.stack[:len(w.stack)-1]
	if w.Leave == nil {
		return nil
	}
	return w.Leave(above.fd, name)
}

// climb opens the folder above one. Where that is another by now, the folder was moved,
// and the one it was in is looked for from the top.
func (w *walker) climb(top, above *folder) error {
	const how = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(top.fd, "..", how, 0)
	if errors.Is(err, unix.EACCES) && w.unlock(top) == nil {
		fd, err = unix.Openat(top.fd, "..", how, 0)
	}
	if err == nil && above.is(fd) {
		above.fd = fd
		return nil
	}
	if err == nil {
		_ = unix.Close(fd)
	}
	at := w.stack[0].fd
	for i := range w.stack[1 : len(w.stack)-1] {
		f := &w.stack[i+1]
		fd, err := unix.Openat(at, f.name, how, 0)
		if at != w.stack[0].fd {
			_ = unix.Close(at)
		}
		if err != nil {
			return fmt.Errorf("go back to a folder that was moved: %w", err)
		}
		at = fd
		if !f.is(fd) {
			_ = unix.Close(fd)
			return fmt.Errorf("go back to a folder that was moved: %w", unix.ESTALE)
		}
	}
	above.fd = at
	return nil
}

// is reports whether an open folder is this one.
func (f *folder) is(fd int) bool {
	var s unix.Stat_t
	return unix.Fstat(fd, &s) == nil && uint64(s.Dev) == f.dev && s.Ino == f.ino
}

// Remove removes a folder with all that is in it, also where its owner may not write. One
// that is not there is no error.
func Remove(dir string) error {
	err := remove(dir)
	// A file system may leave out names of a list from which others are removed.
	for range 10 {
		if !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) {
			break
		}
		err = remove(dir)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	return nil
}

func remove(dir string) error {
	if err := writable(unix.AT_FDCWD, dir, 0); err != nil && !gone(err) {
		return err
	}
	err := Walk(dir, Visitor{
		Unlock: true,
		Visit: func(at int, name string, s *unix.Stat_t) error {
			if s.Mode&unix.S_IFMT == unix.S_IFDIR {
				return writable(at, name, s.Mode)
			}
			return removed(at, name, 0)
		},
		Leave: func(at int, name string) error { return removed(at, name, unix.AT_REMOVEDIR) },
	})
	if err != nil && !gone(err) {
		return err
	}
	if err = removed(unix.AT_FDCWD, dir, unix.AT_REMOVEDIR); errors.Is(err, unix.ENOTDIR) {
		return removed(unix.AT_FDCWD, dir, 0) // a file or a link stands there
	}
	return err
}

// writable gives the owner of a folder all rights on it, where the mode lacks some.
func writable(dir int, name string, mode uint32) error {
	if mode&0o700 == 0o700 {
		return nil
	}
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return err
	}
	return unix.Chmod(magic(fd), s.Mode&0o7777|0o700)
}

func removed(dir int, name string, flags int) error {
	if err := unix.Unlinkat(dir, name, flags); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

package blob

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
)

var (
	// errReplaced says that a name no longer stands for what it was listed as.
	errReplaced = errors.New("replaced while it was opened")
	// errDenied says that we have no right to read something of the folder. It
	// is not fs.ErrPermission, which may as well come from the store.
	errDenied = errors.New("not ours to read")
)

// list returns what stands in a folder, sorted by name. Names that vanish
// meanwhile are left out.
func list(root *os.Root) ([]fs.FileInfo, error) {
	infos, _, err := listSome(root, math.MaxInt64)
	return infos, err
}

// listSome is list for at most so many names, and says whether there are more.
func listSome(root *os.Root, most int64) (infos []fs.FileInfo, more bool, err error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	const batch = 4096
	for !more {
		entries, err := dir.ReadDir(batch)
		for _, e := range entries {
			if more = int64(len(infos)) >= most; more {
				break
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, false, err
			}
			infos = append(infos, info)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return infos, more, nil
}

// openFolder opens the folder that info lists. An os.Root does not leave its
// folder but does follow links within it, hence the comparison afterwards: what
// was a folder may be a link by now. The dot makes the kernel insist on a
// folder; without it a pipe put there would keep us waiting for its other end.
func openFolder(root *os.Root, info fs.FileInfo) (*os.Root, error) {
	sub, err := root.OpenRoot(info.Name() + "/.")
	if err != nil {
		return nil, openError(err)
	}
	now, err := sub.Stat(".")
	if err == nil && !os.SameFile(now, info) {
		err = errReplaced
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	return sub, nil
}

// openFile opens for reading the plain file that info lists. It does not wait
// where a pipe has taken the file's place.
func openFile(root *os.Root, info fs.FileInfo) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(info.Name(), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, openError(err)
	}
	now, err := f.Stat()
	if err == nil && !(now.Mode().IsRegular() && os.SameFile(now, info)) {
		err = errReplaced
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, now, nil
}

// openError tells a name that has changed its meaning, and one that is not for
// us, from a real failure. A
// link that leads out of the root is refused by package os itself, with an error
// that carries no number.
func openError(err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return fmt.Errorf("%w: %w", errReplaced, err)
	}
	switch errno {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.ENXIO, syscall.EINVAL:
		return fmt.Errorf("%w: %w", errReplaced, err)
	case syscall.EACCES, syscall.EPERM:
		return fmt.Errorf("%w: %w", errDenied, err)
	}
	return err
}

// remove takes a name away with all below it. Unlike os.Root.RemoveAll it also
// gets into folders that their owner may not write, as Go's module cache has.
func remove(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := removeBelow(root, info); err != nil {
			return err
		}
	}
	return root.Remove(name)
}

func removeBelow(root *os.Root, info fs.FileInfo) error {
	sub, err := enter(root, info)
	if err != nil {
		return err
	}
	defer sub.Close()
	infos, err := list(sub)
	if err != nil {
		return err
	}
	for _, below := range infos {
		if err := remove(sub, below.Name()); err != nil {
			return err
		}
	}
	return nil
}

// enter opens a folder to change what is in it, and gives its owner the right to
// where that was taken away.
func enter(root *os.Root, info fs.FileInfo) (*os.Root, error) {
	if err := unlock(root, info); err != nil {
		return nil, err
	}
	return openFolder(root, info)
}

func unlock(root *os.Root, info fs.FileInfo) error {
	if info.Mode()&0o700 == 0o700 {
		return nil
	}
	return root.Chmod(info.Name(), info.Mode()|0o700)
}

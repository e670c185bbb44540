package executor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"lyceum/internal/computer"

	"golang.org/x/sys/unix"
)

// Files of a home are reached from its open folder, a name at a time, and no link is followed:
// whatever the agent makes of its folders meanwhile, nothing outside is read or written.

// Bounds of what is read for an agent.
const (
	maxText = 8 << 20
	maxScan = 64 << 20
)

// step opens a folder in another one.
func step(dir int, name string) (int, error) {
	return unix.Openat(dir, name, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_RDONLY, 0)
}

// within calls do with the open folder that a path in its one form stands in, and its name there.
// Folders on the way are made, if create says so, for whoever the home belongs to.
func within(home *os.Root, name string, create bool, do func(dir int, name string, owner *syscall.Stat_t) error) error {
	top, err := home.Open(".")
	if err != nil {
		return err
	}
	defer top.Close()
	info, err := top.Stat()
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("whose the home is cannot be told")
	}
	at, err := unix.Openat(int(top.Fd()), ".", unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(at) }()
	folder, last := path.Split(name)
	for part := range strings.SplitSeq(strings.Trim(folder, "/"), "/") {
		if part == "" {
			continue
		}
		next, err := step(at, part)
		if create && errors.Is(err, unix.ENOENT) {
			if err := unix.Mkdirat(at, part, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
				return err
			}
			if next, err = step(at, part); err == nil && give(owner) {
				err = unix.Fchown(next, int(owner.Uid), int(owner.Gid))
			}
			if err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		_ = unix.Close(at)
		at = next
	}
	return do(at, last, owner)
}

// give reports whether what we make must be given to whoever the home belongs to.
func give(owner *syscall.Stat_t) bool {
	return os.Geteuid() == 0 && (owner.Uid != 0 || int(owner.Gid) != os.Getegid())
}

// inWords says what is wrong with a path, for the agent.
func inWords(name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ELOOP):
		return fmt.Errorf("%s is a link, or leads through one: links are not followed", name)
	case errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf("%s leads through a link or a file, and only folders are gone through", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// readFile reads a text, or some of its lines, from 1; limit 0 is all.
func readFile(home *os.Root, guard *computer.Guard, name string, line, limit int64) (text string, err error) {
	err = within(home, name, false, func(dir int, last string, _ *syscall.Stat_t) error {
		fd, err := unix.Openat(dir, last, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), name)
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return errors.New("this is no file")
		}
		if err := guard.MayRead(home, f); err != nil {
			return err
		}
		text, err = someLines(f, line, limit)
		return err
	})
	return text, inWords(name, err)
}

func someLines(f io.Reader, line, limit int64) (string, error) {
	var out strings.Builder
	in := bufio.NewReaderSize(io.LimitReader(f, maxScan), 64<<10)
	scanned := 0
	for n := int64(1); limit <= 0 || n < max(line, 1)+limit; {
		piece, err := in.ReadSlice('\n')
		scanned += len(piece)
		if n >= line {
			out.Write(piece)
		}
		if out.Len() > maxText || scanned >= maxScan {
			return "", fmt.Errorf("more than %d MiB: read some of its lines, by line and limit", maxText>>20)
		}
		if len(piece) > 0 && piece[len(piece)-1] == '\n' {
			n++
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
	if s := out.String(); utf8.ValidString(s) {
		return s, nil
	}
	return "", errors.New("this is no text in UTF-8")
}

// temporary is what a file is called while it is written.
const temporary = ".lyceum-write.tmp"

// writeFile replaces a file as a whole: it has the old content or the new.
func writeFile(home *os.Root, name, content string) error {
	if name == "." {
		return errors.New("the home is a folder: give the path of a file")
	}
	return inWords(name, within(home, name, true, func(dir int, last string, owner *syscall.Stat_t) error {
		mode := uint32(0o644)
		var st unix.Stat_t
		switch err := unix.Fstatat(dir, last, &st, unix.AT_SYMLINK_NOFOLLOW); {
		case errors.Is(err, unix.ENOENT):
		case err != nil:
			return err
		case st.Mode&unix.S_IFMT == unix.S_IFLNK:
			return unix.ELOOP
		case st.Mode&unix.S_IFMT != unix.S_IFREG:
			return errors.New("this is no file, and not written to")
		default:
			mode = st.Mode & 0o777
		}
		if err := unix.Unlinkat(dir, temporary, 0); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
		fd, err := unix.Openat(dir, temporary, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), name)
		_, err = f.WriteString(content)
		if give(owner) {
			err = errors.Join(err, f.Chown(int(owner.Uid), int(owner.Gid)))
		}
		err = errors.Join(err, f.Chmod(fs.FileMode(mode)), f.Close())
		if err == nil {
			err = unix.Renameat(dir, temporary, dir, last)
		}
		if err != nil {
			_ = unix.Unlinkat(dir, temporary, 0)
		}
		return err
	}))
}

// makeFolder makes a folder, and those on the way to it.
func makeFolder(home *os.Root, name string) error {
	return inWords(name, within(home, name+"/", true, func(int, string, *syscall.Stat_t) error { return nil }))
}

package tool

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"syscall"

	"lyceum/internal/workspace"
)

// room is a workspace as a tool may see it.
type room struct {
	*os.Root
	// closed are the files and folders that policies keep the tool away from.
	closed []string
}

func (c Call) room() room { return room{c.Home, c.Closed} }

// shut is the error of a path that is closed.
func shut(path, dir string) error {
	return fmt.Errorf("%s is closed to you by a policy (%s); leave it as it is, and work elsewhere", short(path), dir)
}

// Closed returns the closed file or folder that an open one of a home is in, however it
// was reached; empty if it is in none.
func Closed(home *os.Root, f *os.File, closed []string) (string, error) {
	if len(closed) == 0 {
		return "", nil
	}
	at, err := placeIn(home, f)
	return workspace.Closed(at, closed), err
}

// placeIn is the path of an open file of a home, without links.
func placeIn(home *os.Root, f *os.File) (string, error) {
	top, err := home.Open(".")
	if err != nil {
		return "", err
	}
	defer top.Close()
	base, err := whereabouts(top)
	if err != nil {
		return "", err
	}
	at, err := whereabouts(f)
	if err != nil {
		return "", err
	}
	rel, ok := strings.CutPrefix(at+"/", base+"/")
	if !ok {
		return "", errors.New("it cannot be told where it is")
	}
	return path.Clean(rel), nil
}

// whereabouts is the host's path of an open file, without links.
func whereabouts(f *os.File) (at string, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return "", err
	}
	if failed := conn.Control(func(fd uintptr) { at, err = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)) }); failed != nil {
		return "", failed
	}
	if err != nil {
		return "", errors.New("it cannot be told where it is: /proc is missing")
	}
	return at, nil
}

// leadsTo refuses a path in its one form that is closed, or that leads through links to
// what is. What is not there yet counts as in the folder in which it would be made.
func (r room) leadsTo(name string) error {
	if dir := workspace.Closed(name, r.closed); dir != "" {
		return shut(name, dir)
	}
	for at, rest := name, ""; len(r.closed) > 0; at, rest = path.Dir(at), path.Join(path.Base(at), rest) {
		f, err := r.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil && at == "." {
			return inWords(at, err)
		}
		if err != nil {
			continue // os.Root lets nobody out of the home that way either
		}
		defer f.Close()
		there, err := placeIn(r.Root, f)
		if err != nil {
			return inWords(name, err)
		}
		if dir := workspace.Closed(path.Join(there, rest), r.closed); dir != "" {
			return shut(name, dir)
		}
		return nil
	}
	return nil
}

// inside refuses an open file that is in a closed folder.
func (r room) inside(name string, f *os.File) error {
	dir, err := Closed(r.Root, f, r.closed)
	if err != nil {
		return inWords(name, err)
	}
	if dir != "" {
		return shut(name, dir)
	}
	return nil
}

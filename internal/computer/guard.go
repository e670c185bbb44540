package computer

import (
	"errors"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"lyceum/internal/workspace"
)

// Guard keeps a reader of a home on the host to the computer's bounds.
func (c *Computer) Guard() *Guard { return &Guard{Bounds: c.bounds} }

// Guard keeps readers and writers of a home on the host to bounds. It is for one goroutine, and for
// one look at the home: what it has found out it does not look for again.
type Guard struct {
	Bounds workspace.Bounds
	twins  map[inode]bool // of what is hidden; nil until somebody needs it
}

// MayRead says why an open file of a home is not to be read, nil if it is. Where it stands counts,
// however it was reached, and under what other names it is there.
func (g *Guard) MayRead(home *os.Root, f *os.File) error {
	if g == nil || len(g.Bounds.Hide) == 0 {
		return nil
	}
	at, err := PlaceOf(home, f)
	if err != nil {
		return err
	}
	if err := g.Bounds.MayRead(at); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.IsDir() || s.Nlink < 2 {
		return nil
	}
	if g.twins == nil {
		if g.twins, err = twins(home, home.Name(), g.Bounds); err != nil {
			return err
		}
	}
	if g.twins[inode{uint64(s.Dev), s.Ino}] {
		return &workspace.BoundError{At: at, Why: "it is a file that the quest hides, under another name (deny_read)"}
	}
	return nil
}

// MayWrite says why nothing is to be written at a path in its one form, nil if it may be. What is
// not there yet counts as in the folder in which it would be made.
func (g *Guard) MayWrite(home *os.Root, name string) error {
	if g == nil || len(g.Bounds.Hide) == 0 && len(g.Bounds.Write) == 0 {
		return nil
	}
	if err := g.Bounds.MayWrite(name); err != nil {
		return err
	}
	there, err := LeadsTo(home, name)
	if err != nil {
		return err
	}
	return g.Bounds.MayWrite(there)
}

// LeadsTo is where a path in its one form leads, through links. What is not there yet is in the
// folder in which it would be made.
func LeadsTo(home *os.Root, name string) (string, error) {
	for at, rest := name, ""; ; at, rest = path.Dir(at), path.Join(path.Base(at), rest) {
		f, err := home.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil && at == "." {
			return "", err
		}
		if err != nil {
			continue // os.Root lets nobody out of the home that way either
		}
		there, err := PlaceOf(home, f)
		return path.Join(there, rest), errors.Join(err, f.Close())
	}
}

// PlaceOf is the path of an open file of a home, without links.
func PlaceOf(home *os.Root, f *os.File) (string, error) {
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
	return below(base, at)
}

// below is a path from another on.
func below(base, at string) (string, error) {
	rel, ok := strings.CutPrefix(at+"/", strings.TrimSuffix(base, "/")+"/")
	if !ok {
		return "", errors.New("it cannot be told where it is")
	}
	return path.Clean(rel), nil
}

var errNoProc = errors.New("it cannot be told where it is: /proc is missing")

// whereabouts is the host's path of an open file, without links.
func whereabouts(f *os.File) (at string, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return "", err
	}
	if failed := conn.Control(func(fd uintptr) { at, err = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd))) }); failed != nil {
		return "", failed
	}
	if err != nil {
		return "", errNoProc
	}
	return at, nil
}

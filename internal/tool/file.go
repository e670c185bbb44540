package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"lyceum/internal/workspace"
)

// The limits of the file tools.
const (
	maxRead    = 256 << 10
	maxWrite   = 1 << 20
	maxScan    = 64 << 20 // how far read_file goes to find a line
	maxListed  = 1000
	maxEntries = 100_000
)

// local returns the path in its one form. What it lets through may still lead by a link
// out of the workspace, which os.Root refuses, or to what is closed: see room.
func local(home room, path string) (string, error) {
	if home.Root == nil {
		return "", errors.New("there is no workspace here")
	}
	name, err := workspace.Path(path)
	if err != nil {
		return "", err
	}
	return name, home.open(name, name)
}

// inWords puts an error of the file system into words, without the host's paths.
func inWords(path string, err error) error {
	path = short(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s; list_files shows what there is", path)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	if strings.Contains(err.Error(), "escapes") {
		return fmt.Errorf("%s leads out of the workspace through a link", path)
	}
	return fmt.Errorf("%s: %w", path, err)
}

func short(path string) string {
	if len(path) > 200 {
		return path[:200] + "..."
	}
	return path
}

// open opens a regular file or a folder. It neither waits for the other end of
// a pipe nor touches a device.
func open(home room, path string) (*os.File, fs.FileInfo, error) {
	path, err := local(home, path)
	if err != nil {
		return nil, nil, err
	}
	if info, err := home.Stat(path); err != nil {
		return nil, nil, inWords(path, err)
	} else if err := ordinary(path, info); err != nil {
		return nil, nil, err
	}
	// The file may have become another since.
	f, err := home.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, inWords(path, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = errors.Join(ordinary(path, info), home.inside(path, f))
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func ordinary(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() || info.IsDir() {
		return nil
	}
	return fmt.Errorf("%s is neither a file nor a folder but %s", short(path), nature(info.Mode()))
}

func nature(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeSymlink != 0:
		return "a link"
	}
	return "a device"
}

package repo

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"lyceum/internal/workspace"
)

// NewIgnores knows what the .gitignore files of a folder name. What is no plain file of a fair
// size is none.
func NewIgnores(root *os.Root) *workspace.Ignores {
	return workspace.NewIgnores(func(name string) ([]byte, error) { return ReadPlain(root, name, workspace.MaxIgnoreFile) })
}

// ReadPlain reads a plain file that may be anything: it follows no link, waits for nobody, and
// takes what is no plain file, cannot be read, or is too long for nothing. Its errors are those
// of this machine.
func ReadPlain(root *os.Root, name string, most int64) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, machines(err)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, machines(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, machines(err)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil || int64(len(data)) > most {
		return nil, machines(err)
	}
	return data, nil
}

// machines are the errors that say something of this machine, and nothing of a file.
func machines(err error) error {
	var no syscall.Errno
	if errors.Is(err, fs.ErrNotExist) || !errors.As(err, &no) || no != syscall.EMFILE && no != syscall.ENFILE && no != syscall.ENOMEM {
		return nil
	}
	return err
}

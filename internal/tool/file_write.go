package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/go-json-experiment/json"

	"lyceum/internal/model"
)

// WriteFile returns the tool write_file.
func WriteFile() Tool {
	// One write at a time, so that the name of the temporary file can be fixed:
	// what a crash left behind is then replaced by the next write.
	var writing sync.Mutex
	return Tool{
		Tool: model.Tool{
			Name:        "write_file",
			Description: "Writes a text file in your workspace, at most 1 MiB, replacing what was there. Folders on the way are made.",
			Schema: `{"type":"object","properties":{` +
				`"path":{"type":"string","description":"Path of the file, relative to the workspace."},` +
				`"content":{"type":"string","description":"The whole new content."}` +
				`},"required":["path","content"],"additionalProperties":false}`,
		},
		Repeatable: true,
		Writes:     true,
		Run: func(_ context.Context, c Call) (string, error) {
			var args struct {
				Path    string `json:"path"`
				Content string `json:"content"`
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			writing.Lock()
			defer writing.Unlock()
			if err := write(c.Home, args.Path, args.Content); err != nil {
				return "", err
			}
			return fmt.Sprintf("wrote %d bytes to %s", len(args.Content), args.Path), nil
		},
	}
}

// write replaces a file as a whole: it has the old content or the new.
func write(home *os.Root, path, content string) error {
	name, err := local(home, path)
	if err != nil {
		return err
	}
	if len(content) > maxWrite {
		return fmt.Errorf("the content has %d bytes, more than the %d that are allowed; write several files", len(content), maxWrite)
	}
	if name == "." || os.IsPathSeparator(path[len(path)-1]) {
		return fmt.Errorf("%s is a folder; give the path of a file", short(path))
	}
	mode := fs.FileMode(0o644)
	switch info, err := home.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return plain(path, err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder; give the path of a file", short(path))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is %s; it is not written to", short(path), nature(info.Mode()))
	default:
		mode = info.Mode().Perm()
	}
	folder := filepath.Dir(name)
	if err := home.MkdirAll(folder, 0o755); err != nil {
		return plain(folder, err)
	}
	temporary := filepath.Join(folder, ".write_file.tmp")
	if err := home.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return plain(temporary, err)
	}
	if err := fill(home, temporary, mode, content); err != nil {
		return errors.Join(plain(path, err), remove(home, temporary))
	}
	if err := home.Rename(temporary, name); err != nil {
		return errors.Join(plain(path, err), remove(home, temporary))
	}
	return nil
}

func fill(home *os.Root, name string, mode fs.FileMode, content string) error {
	f, err := home.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NONBLOCK, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

func remove(home *os.Root, name string) error {
	if err := home.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return plain(name, err)
	}
	return nil
}

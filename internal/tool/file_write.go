package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// WriteFile returns the tool write_file. It holds writing while it writes: with one
// write at a time the name of the temporary file can be fixed, and what a crash
// left behind is replaced by the next write.
func WriteFile(writing *sync.Mutex) Tool {
	return Tool{
		Tool: model.Tool{
			Name:        "write_file",
			Description: "Writes a text file in your workspace, at most 1 MiB, replacing what was there. Folders on the way are made. The calls after it in the same answer see it.",
			Schema: `{"type":"object","properties":{` +
				`"path":{"type":"string","description":"Path of the file, relative to the workspace."},` +
				`"content":{"type":"string","description":"The whole new content."}` +
				`},"required":["path","content"],"additionalProperties":false}`,
		},
		Repeatable: true,
		Writes:     true,
		Paths:      []string{"path"},
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
			if err := write(c.room(), args.Path, args.Content); err != nil {
				return "", err
			}
			return fmt.Sprintf("wrote %d bytes to %s", len(args.Content), args.Path), nil
		},
	}
}

// write makes a file of that content.
func write(home room, path, content string) error {
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
		return inWords(path, err)
	default:
		if err := writable(path, info); err != nil {
			return err
		}
		mode = info.Mode().Perm()
	}
	return replace(home, name, mode, content)
}

// writable says why an existing file is not to be replaced.
func writable(path string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%s is a folder; give the path of a file", short(path))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is %s; it is not written to", short(path), nature(info.Mode()))
	}
	return nil
}

// replace replaces a file as a whole: it has the old content or the new.
func replace(home room, name string, mode fs.FileMode, content string) error {
	if err := home.writes(name); err != nil {
		return err
	}
	o, err := ownerOf(home.Root)
	if err != nil {
		return inWords(name, err)
	}
	folder := filepath.Dir(name)
	if err := o.mkdirAll(home.Root, folder); err != nil {
		return inWords(folder, err)
	}
	temporary := filepath.Join(folder, ".write_file.tmp")
	if err := home.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return inWords(temporary, err)
	}
	if err := o.fill(home.Root, temporary, mode, content); err != nil {
		return errors.Join(inWords(name, err), remove(home, temporary))
	}
	if err := home.Rename(temporary, name); err != nil {
		return errors.Join(inWords(name, err), remove(home, temporary))
	}
	return nil
}

func remove(home room, name string) error {
	if err := home.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return inWords(name, err)
	}
	return nil
}

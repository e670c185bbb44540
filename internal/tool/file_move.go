package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"lyceum/internal/computer"
	"lyceum/internal/model"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
)

// MoveFile returns the tool move_file.
func MoveFile(writing *sync.Mutex) Tool {
	return Tool{
		Tool: model.Tool{
			Name:        "move_file",
			Description: "Moves or renames a file or a folder of your workspace. Folders on the way are made; nothing that is there is replaced.",
			Schema: `{"type":"object","properties":{` +
				`"from":{"type":"string","description":"Path of the file or folder, relative to the workspace."},` +
				`"to":{"type":"string","description":"Its new path with its name, relative to the workspace."}` +
				`},"required":["from","to"],"additionalProperties":false}`,
		},
		Writes: true,
		Paths:  []string{"from", "to"},
		Run: func(_ context.Context, c Call) (string, error) {
			var args struct {
				From string `json:"from"`
				To   string `json:"to"`
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			writing.Lock()
			defer writing.Unlock()
			if err := move(c.room(), args.From, args.To); err != nil {
				return "", err
			}
			return fmt.Sprintf("moved %s to %s", short(args.From), short(args.To)), nil
		},
	}
}

func move(home room, from, to string) error {
	old, _, _, err := whatGoes(home, from)
	if err != nil {
		return err
	}
	name, err := local(home, to)
	switch {
	case err != nil:
		return err
	case name == ".":
		return errors.New("the workspace itself is there already; give the new path with its name")
	case workspace.Under(name, old):
		return fmt.Errorf("%s is in %s itself", short(to), short(from))
	}
	if err := home.writes(name); err != nil {
		return err
	}
	if info, err := home.Lstat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; give the new path with its name, such as %s", short(to), short(filepath.Join(name, filepath.Base(old))))
	} else if err == nil {
		return fmt.Errorf("%s is there already; delete_file removes it", short(to))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return inWords(to, err)
	}
	o, err := ownerOf(home.Root)
	if err != nil {
		return inWords(to, err)
	}
	if folder := filepath.Dir(name); folder != "." {
		if err := o.mkdirAll(home.Root, folder); err != nil {
			return inWords(folder, err)
		}
	}
	if err := home.Rename(old, name); err != nil {
		return inWords(from, err)
	}
	return nil
}

// whatGoes is the one form of a path that is to leave its place, the same without links, and
// what is there. Nothing leaves that is closed, or holds what is.
func whatGoes(home room, path string) (name, there string, info fs.FileInfo, err error) {
	if name, err = local(home, path); err != nil {
		return "", "", nil, err
	}
	if name == "." {
		return "", "", nil, errors.New("the workspace itself stays where it is")
	}
	if info, err = home.Lstat(name); err != nil {
		return "", "", nil, inWords(path, err)
	}
	// A link is moved or removed, and not what it leads to; those before it count.
	folder, err := home.OpenFile(filepath.Dir(name), os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", "", nil, inWords(path, err)
	}
	defer folder.Close()
	if there, err = computer.PlaceOf(home.Root, folder); err != nil {
		return "", "", nil, inWords(path, err)
	}
	there = filepath.Join(there, filepath.Base(name))
	for _, dir := range home.closed {
		if workspace.Under(dir, there) || workspace.Under(there, dir) {
			return "", "", nil, shut(path, dir)
		}
	}
	if !home.unbounded() {
		err = home.guard.Bounds.MayMove(there)
	}
	return name, there, info, err
}

// DeleteFile returns the tool delete_file.
func DeleteFile(writing *sync.Mutex) Tool {
	return Tool{
		Tool: model.Tool{
			Name:        "delete_file",
			Description: "Deletes a file, a link or an empty folder of your workspace; with contents, a folder and all that is in it.",
			Schema: `{"type":"object","properties":{` +
				`"path":{"type":"string","description":"Path of the file or folder, relative to the workspace."},` +
				`"contents":{"type":"boolean","description":"Whether a folder goes with all that is in it; false if left out."}` +
				`},"required":["path"],"additionalProperties":false}`,
		},
		Writes: true,
		Paths:  []string{"path"},
		Run: func(ctx context.Context, c Call) (string, error) {
			var args struct {
				Path     string `json:"path"`
				Contents bool   `json:"contents"`
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			writing.Lock()
			defer writing.Unlock()
			name, there, info, err := whatGoes(c.room(), args.Path)
			if err != nil {
				return "", err
			}
			if !info.IsDir() || !args.Contents {
				return remains(c.room(), args.Path, name, info)
			}
			d := &deletion{home: c.room()}
			if err := d.folder(ctx, there, 0); err != nil {
				return "", err
			}
			return fmt.Sprintf("deleted the folder %s, with %d files and folders in it", short(args.Path), d.gone), nil
		},
	}
}

// remains deletes one thing.
func remains(home room, path, name string, info fs.FileInfo) (string, error) {
	if err := home.Remove(name); err != nil {
		if info.IsDir() {
			return "", fmt.Errorf("%w; if it is not empty, contents: true deletes it with all that is in it", inWords(path, err))
		}
		return "", inWords(path, err)
	}
	return "deleted " + short(path), nil
}

// deletion deletes a folder from within. Links are not followed.
type deletion struct {
	home room
	gone int
}

func (d *deletion) folder(ctx context.Context, path string, depth int) error {
	if depth > maxFolders {
		return d.stopped(fmt.Errorf("%s is more than %d folders deep; a program such as rm can delete it", short(path), maxFolders))
	}
	for {
		entries, err := d.some(ctx, path)
		if err != nil {
			return d.stopped(err)
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			name := filepath.Join(path, e.Name())
			if err := d.home.open(name, name); err != nil {
				return d.stopped(err)
			}
			if e.IsDir() {
				if err := d.folder(ctx, name, depth+1); err != nil {
					return err
				}
			} else if err := d.home.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return d.stopped(inWords(name, err))
			}
			if d.gone++; d.gone >= maxEntries {
				return d.stopped(errors.New("there are too many files for one call; call again for the others"))
			}
		}
	}
	if err := d.home.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.stopped(inWords(path, err))
	}
	return nil
}

func (d *deletion) stopped(err error) error {
	return fmt.Errorf("%w. %d files and folders were deleted", err, d.gone)
}

// some returns what is left in a folder, or a part of it.
func (d *deletion) some(ctx context.Context, path string) ([]fs.DirEntry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := d.home.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, inWords(path, err)
	}
	defer f.Close()
	// A program may have put a link in its place.
	if there, err := computer.PlaceOf(d.home.Root, f); err != nil || there != path {
		return nil, fmt.Errorf("%s was changed meanwhile", short(path))
	}
	entries, err := f.ReadDir(1000)
	if err != nil && err != io.EOF {
		return nil, inWords(path, err)
	}
	return entries, nil
}

package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxFolders is how many folders deep a walk goes.
const maxFolders = 100

// errEnough ends a walk that has found what it may.
var errEnough = errors.New("enough")

// walk visits what is below a folder, by name, links not followed. What it has to
// leave out, what is closed included, it remembers and tells.
type walk struct {
	home room
	// enter says whether to look into a folder; nil is always.
	enter func(path string) bool
	// visit gets the path of each entry, from the home on.
	visit func(path string, entry fs.DirEntry) error
	// rules are those of .gitignore files; nil leaves out nothing.
	rules *ignoring

	seen, links, deep int
	unread, shut      []string
	cut               bool
}

// folder walks one, and reports whether the walk was ended before its time.
func (w *walk) folder(ctx context.Context, path string, depth int) error {
	entries, err := w.entries(ctx, path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := filepath.Join(path, entry.Name())
		if dir := w.home.closes(name); dir != "" {
			w.shut = append(w.shut, dir)
			continue
		}
		if w.rules.leaves(name, entry.IsDir()) {
			continue
		}
		if err := w.visit(name, entry); err != nil {
			return err
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			w.links++
		}
		switch {
		case !entry.IsDir() || w.enter != nil && !w.enter(name):
		case depth == maxFolders:
			w.deep++
		default:
			if err := w.folder(ctx, name, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// entries returns what is in a folder, sorted. A folder that has gone or turned
// into something else since its name was read is one that cannot be read.
func (w *walk) entries(ctx context.Context, path string) ([]fs.DirEntry, error) {
	// A pipe in its place must not make this wait.
	f, err := w.home.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		w.unread = append(w.unread, path)
		return nil, nil
	}
	defer f.Close()
	var all []fs.DirEntry
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some, err := f.ReadDir(1000)
		all = append(all, some...)
		if w.seen += len(some); w.seen > maxEntries {
			w.cut = true
			return nil, errEnough
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			w.unread = append(w.unread, path)
			break
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// notes says what was left out.
func (w *walk) notes() string {
	var b strings.Builder
	if w.cut {
		fmt.Fprintf(&b, "(stopped after %d files and folders; give a path that holds fewer)\n", maxEntries)
	}
	if w.deep > 0 {
		fmt.Fprintf(&b, "(%d folders more than %d deep were left out)\n", w.deep, maxFolders)
	}
	if n := len(w.unread); n > 0 {
		fmt.Fprintf(&b, "(%d folders could not be read, such as %s)\n", n, label(short(w.unread[0])))
	}
	return b.String() + w.rules.notes() + leftOut(w.shut)
}

// leftOut says what a list lacks because it is closed.
func leftOut(closed []string) string {
	if len(closed) == 0 {
		return ""
	}
	return fmt.Sprintf("(left out, for it is closed to you: %s)\n", label(strings.Join(slices.Compact(slices.Sorted(slices.Values(closed))), ", ")))
}

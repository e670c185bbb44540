package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lyceum/internal/blob"
)

// worktree reads the files that git knows as they stand in the work tree.
func (r *reading) worktree(ctx context.Context) error {
	files, err := r.index(ctx)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(r.place.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	far := map[string]bool{} // whether a folder is reached by a link, or is none
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if beyond(root, path.Dir(f.path), far) {
			continue // it is not there any more
		}
		info, err := root.Lstat(filepath.FromSlash(f.path))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := r.current(ctx, root, f.path, info); err != nil {
			return fmt.Errorf("%s: %w", shown(f.path), err)
		}
	}
	return nil
}

// beyond reports whether a folder of the work tree is a link, or below one.
func beyond(root *os.Root, dir string, known map[string]bool) bool {
	if dir == "." {
		return false
	}
	if far, ok := known[dir]; ok {
		return far
	}
	far := beyond(root, path.Dir(dir), known)
	if !far {
		info, err := root.Lstat(filepath.FromSlash(dir))
		far = err != nil || !info.IsDir()
	}
	known[dir] = far
	return far
}

// index lists what git knows of the work tree, without what it keeps in large file storage.
func (r *reading) index(ctx context.Context) ([]listed, error) {
	g := r.place.through(r.bench)
	g.index = filepath.Join(r.place.gitDir, "index")
	out, err := g.run(ctx, maxList, nil, "ls-files", "-s", "-z")
	if err != nil {
		return nil, fmt.Errorf("list the files of the work tree: %w", err)
	}
	var files []listed
	var ids bytes.Buffer
	last := ""
	for line := range bytes.SplitSeq(out, []byte{0}) {
		about, name, _ := strings.Cut(string(line), "\t")
		f := strings.Fields(about)
		if len(f) != 3 || name == last { // of a file in conflict there are several
			continue
		}
		last = name
		if file := (listed{mode: f[0], id: f[1], path: name}); r.wanted(file) {
			files = append(files, file)
			ids.WriteString(file.id + "\n")
		}
	}
	sizes, err := r.place.through(r.bench).run(ctx, maxList, &ids, "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return nil, fmt.Errorf("look at the files of the work tree: %w", err)
	}
	var short []listed
	for i, line := range strings.Split(strings.TrimSuffix(string(sizes), "\n"), "\n") {
		n, err := strconv.ParseInt(line, 10, 64)
		if err == nil && n <= maxPointer && n > int64(len(lfs)) && i < len(files) {
			short = append(short, files[i])
		}
	}
	return r.withoutPointers(ctx, files, short)
}

// withoutPointers takes out of files those of short that stand for others.
func (r *reading) withoutPointers(ctx context.Context, files, short []listed) ([]listed, error) {
	var mu sync.Mutex
	pointers := map[string]bool{}
	weightless := func(int64) error { return nil } // those of the work tree count
	err := r.fetch(ctx, short, weightless, func(_ context.Context, f listed, content io.Reader) error {
		data, err := io.ReadAll(content)
		if bytes.HasPrefix(data, []byte(lfs)) {
			mu.Lock()
			pointers[f.path] = true
			mu.Unlock()
		}
		return err
	})
	return slices.DeleteFunc(files, func(f listed) bool {
		if pointers[f.path] {
			r.leave(f.path, inLFS)
		}
		return pointers[f.path]
	}), err
}

// current stores a file of the work tree.
func (r *reading) current(ctx context.Context, root *os.Root, at string, info fs.FileInfo) error {
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		target, err := root.Readlink(filepath.FromSlash(at))
		if err != nil {
			return err
		}
		return r.add(at, blob.Entry{Kind: blob.Link, Target: target}, "")
	case !info.Mode().IsRegular():
		r.leave(at, "it is no file any more")
		return nil
	}
	if err := r.count(info.Size()); err != nil {
		return err
	}
	f, err := root.Open(filepath.FromSlash(at))
	if err != nil {
		return err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(now, info) {
		return errors.New("it was replaced while it was read: try again")
	}
	ref, err := r.store.Create(ctx, io.LimitReader(f, MaxBytes))
	if err != nil {
		return err
	}
	mode := modePlain
	if info.Mode()&0o100 != 0 {
		mode = modeExec
	}
	return r.add(at, fileEntry(mode, ref), "")
}

package blob

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"lyceum/internal/event"
)

// Folder is a stored folder as a file system. Links in it are there and lead nowhere.
func Folder(ctx context.Context, store Store, ref event.TreeRef) fs.FS {
	return folder{ctx, store, ref}
}

type folder struct {
	ctx   context.Context
	store Store
	ref   event.TreeRef
}

// Open implements fs.FS.
func (f folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	at := Entry{Name: ".", Kind: Dir, Hash: f.ref.Hash, Size: f.ref.Size}
	var parts []string
	if name != "." {
		parts = strings.Split(name, "/")
	}
	for _, part := range parts {
		list, err := f.list(at)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		next := Entry{}
		for _, e := range list {
			if e.Name == part {
				next = e
			}
		}
		if next.Name == "" {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		at = next
	}
	return f.open(name, at)
}

// list reads an entry that is a folder.
func (f folder) list(e Entry) (Tree, error) {
	if e.Kind != Dir {
		return nil, fs.ErrNotExist
	}
	return ReadTree(f.ctx, f.store, event.TreeRef{Hash: e.Hash, Size: e.Size})
}

func (f folder) open(name string, e Entry) (fs.File, error) {
	file := &storedFile{info: storedInfo{path.Base(name), e}}
	switch e.Kind {
	case Dir:
		list, err := f.list(e)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		for _, e := range list {
			file.list = append(file.list, fs.FileInfoToDirEntry(storedInfo{e.Name, e}))
		}
	case File:
		r, err := f.store.Open(f.ctx, e.Hash)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		file.data = r
	default:
		file.data = io.NopCloser(bytes.NewReader(nil))
	}
	return file, nil
}

// storedFile is an open file or folder.
type storedFile struct {
	info storedInfo
	data io.ReadCloser // nil for a folder
	list []fs.DirEntry // what was not given out yet
}

func (f *storedFile) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *storedFile) Read(p []byte) (int, error) {
	if f.data == nil {
		return 0, &fs.PathError{Op: "read", Path: f.info.name, Err: fs.ErrInvalid}
	}
	return f.data.Read(p)
}

func (f *storedFile) Close() error {
	if f.data == nil {
		return nil
	}
	return f.data.Close()
}

// ReadDir implements fs.ReadDirFile.
func (f *storedFile) ReadDir(n int) ([]fs.DirEntry, error) {
	switch {
	case f.data != nil:
		return nil, &fs.PathError{Op: "readdir", Path: f.info.name, Err: fs.ErrInvalid}
	case n > 0 && len(f.list) == 0:
		return nil, io.EOF
	case n <= 0 || n > len(f.list):
		n = len(f.list)
	}
	out := f.list[:n]
	f.list = f.list[n:]
	return out, nil
}

// storedInfo is what is known of an entry.
type storedInfo struct {
	name string
	e    Entry
}

func (i storedInfo) Name() string       { return i.name }
func (i storedInfo) Size() int64        { return i.e.Size }
func (i storedInfo) ModTime() time.Time { return time.Time{} }
func (i storedInfo) IsDir() bool        { return i.e.Kind == Dir }
func (i storedInfo) Sys() any           { return nil }

func (i storedInfo) Mode() fs.FileMode {
	switch i.e.Kind {
	case Dir:
		return fs.ModeDir | 0o755
	case Link:
		return fs.ModeSymlink | 0o777
	}
	return i.e.Mode
}

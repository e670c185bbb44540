package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/event"
)

// folder is one that is being put together from paths.
type folder struct {
	files   map[string]blob.Entry
	folders map[string]*folder
}

func newFolder() *folder {
	return &folder{files: map[string]blob.Entry{}, folders: map[string]*folder{}}
}

// errTwice says that something stands at a path already.
var errTwice = errors.New("something else has its name, or that of a folder on its path")

// put adds an entry at a path.
func (f *folder) put(at string, e blob.Entry) error {
	parts := strings.Split(at, "/")
	if len(parts) > blob.MaxDepth-1 {
		return fmt.Errorf("it is more than %d folders deep", blob.MaxDepth)
	}
	last := len(parts) - 1
	for _, name := range parts[:last] {
		if _, ok := f.files[name]; ok {
			return errTwice
		}
		if f.folders[name] == nil {
			f.folders[name] = newFolder()
		}
		f = f.folders[name]
	}
	e.Name = parts[last]
	if _, ok := f.files[e.Name]; ok || f.folders[e.Name] != nil {
		return errTwice
	}
	if _, err := (blob.Tree{e}).Encode(); err != nil {
		return errors.Unwrap(err)
	}
	f.files[e.Name] = e
	return nil
}

// store puts the trees of a folder and of those in it.
func (f *folder) store(ctx context.Context, store blob.Store) (event.TreeRef, error) {
	tree := slices.Collect(maps.Values(f.files))
	for name, below := range f.folders {
		ref, err := below.store(ctx, store)
		if err != nil {
			return event.TreeRef{}, err
		}
		tree = append(tree, blob.Entry{Name: name, Kind: blob.Dir, Hash: ref.Hash, Size: ref.Size})
	}
	slices.SortFunc(tree, func(a, b blob.Entry) int { return strings.Compare(a.Name, b.Name) })
	data, err := blob.Tree(tree).Encode()
	if err != nil {
		return event.TreeRef{}, err
	}
	ref, err := store.Put(ctx, data)
	return event.TreeRef(ref), err
}

// reader reads trees, each once.
type reader struct {
	store blob.Store
	read  map[event.Hash]blob.Tree
}

func newReader(store blob.Store) *reader {
	return &reader{store: store, read: map[event.Hash]blob.Tree{}}
}

// maxTrees is how many folders are read of a tree or of two that are compared.
const maxTrees = 200_000

func (r *reader) tree(ctx context.Context, ref event.TreeRef) (blob.Tree, error) {
	if t, ok := r.read[ref.Hash]; ok {
		return t, nil
	}
	if len(r.read) >= maxTrees {
		return nil, fmt.Errorf("there are more than %d folders", maxTrees)
	}
	t, err := blob.ReadTree(ctx, r.store, ref)
	if err == nil {
		r.read[ref.Hash] = t
	}
	return t, err
}

// at finds what stands at a path of a tree, nil if nothing does.
func (r *reader) at(ctx context.Context, ref event.TreeRef, p string) (*blob.Entry, error) {
	parts := strings.Split(p, "/")
	for i, name := range parts {
		t, err := r.tree(ctx, ref)
		if err != nil {
			return nil, err
		}
		k, ok := slices.BinarySearchFunc(t, name, func(e blob.Entry, name string) int { return strings.Compare(e.Name, name) })
		switch {
		case !ok:
			return nil, nil
		case i == len(parts)-1:
			return &t[k], nil
		case t[k].Kind != blob.Dir:
			return nil, nil
		}
		ref = event.TreeRef(t[k].Ref())
	}
	return nil, nil
}

package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/workspace"
)

// IsRepository reports whether a folder is a git repository of its own. One that is, and is not
// read, is an error.
func IsRepository(dir string) (bool, error) {
	_, found, err := locate(dir)
	return found, err
}

// At finds what stands at a path of a tree, nil if nothing does.
func At(ctx context.Context, store blob.Store, tree event.TreeRef, path string) (*blob.Entry, error) {
	return newReader(store).at(ctx, tree, path)
}

// lay puts files into a base: what they hold counts over what was read, and what was not read
// is there. A path that cannot be is left out, and so is one that leads through a file or a
// link.
func (b *Base) lay(ctx context.Context, store blob.Store, files map[string][]byte) error {
	for _, p := range slices.Sorted(maps.Keys(files)) {
		why := workspace.Odd(p)
		if why == "" {
			ref, err := store.Put(ctx, files[p])
			if err != nil {
				return err
			}
			tree, err := laid(ctx, store, &b.Tree, strings.Split(p, "/"), ref)
			if err != nil {
				return fmt.Errorf("%s: %w", shown(p), err)
			}
			if tree != nil {
				b.Tree = *tree
				b.LeftOut = slices.DeleteFunc(b.LeftOut, func(s event.Skipped) bool { return s.Path == p })
				continue
			}
			why = "something else has its name, or that of a folder on its path"
		}
		b.LeftOut = append(b.LeftOut, event.Skipped{Path: shown(p), Reason: why})
	}
	return nil
}

// laid is a tree with a file at a path; nil if something else is in the way. A file keeps the
// mode that it has.
func laid(ctx context.Context, store blob.Store, ref *event.TreeRef, parts []string, file event.Ref) (*event.TreeRef, error) {
	var tree blob.Tree
	var err error
	if ref != nil {
		if tree, err = blob.ReadTree(ctx, store, *ref); err != nil {
			return nil, err
		}
	}
	i, there := slices.BinarySearchFunc(tree, parts[0], func(e blob.Entry, name string) int { return strings.Compare(e.Name, name) })
	e := blob.Entry{Name: parts[0], Kind: blob.File, Mode: blob.ModePlain, Hash: file.Hash, Size: file.Size}
	if len(parts) > 1 {
		var below *event.TreeRef
		if there {
			if below = subtree(&tree[i]); below == nil {
				return nil, nil
			}
		}
		if below, err = laid(ctx, store, below, parts[1:], file); below == nil || err != nil {
			return nil, err
		}
		e = blob.Entry{Name: parts[0], Kind: blob.Dir, Hash: below.Hash, Size: below.Size}
	} else if there {
		if tree[i].Kind != blob.File {
			return nil, nil
		}
		e.Mode = tree[i].Mode
	}
	if tree = slices.Clone(tree); there {
		tree[i] = e
	} else {
		tree = slices.Insert(tree, i, e)
	}
	data, err := tree.Encode()
	if err != nil {
		return nil, err
	}
	put, err := store.Put(ctx, data)
	return new(event.TreeRef(put)), err
}

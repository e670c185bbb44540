package blob

import (
	"context"
	"os"
	"path"

	"lyceum/internal/event"
)

// Known is the index of a folder that has just been restored from a tree, so that the first
// Snapshot of it need not read what nobody has changed since. Nobody else may have had the
// folder in between, and the store still has what was read from it. A file that was written in the last tick of the file system's clock is
// not in the index, and neither is what cannot be looked at: these are read.
func Known(ctx context.Context, store Store, ref event.TreeRef, root *os.Root) (*Index, error) {
	x := newIndex()
	x.since = since(store)
	return x, x.learn(ctx, store, ref, root, "", clock(root))
}

func (x *Index) learn(ctx context.Context, store Store, ref event.TreeRef, root *os.Root, at string, now stamp) error {
	tree, err := ReadTree(ctx, store, ref)
	if err != nil {
		return err
	}
	x.trees[at] = ref.Hash
	for _, e := range tree {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := root.Lstat(e.Name)
		if err != nil {
			continue
		}
		p := path.Join(at, e.Name)
		switch {
		case e.Kind == Dir && info.IsDir():
			sub, err := openFolder(root, info)
			if err != nil {
				continue
			}
			err = x.learn(ctx, store, event.TreeRef(e.Ref()), sub, p, now)
			_ = sub.Close() // it was only looked at
			if err != nil {
				return err
			}
		case e.Kind == File && info.Mode().IsRegular():
			if s, ok := stampOf(info); ok && s.size == e.Size && s.settled(now) {
				x.files[p] = known{s, e.Hash}
			}
		}
	}
	return nil
}

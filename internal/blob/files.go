package blob

import (
	"context"
	"fmt"
	"path"

	"lyceum/internal/event"
)

// Files calls visit for each file of a tree, in the order of their paths within each
// folder, until it returns an error. Links are left out: where they lead, the tree does
// not say.
func Files(ctx context.Context, store Store, ref event.TreeRef, visit func(path string, ref event.Ref) error) error {
	return files(ctx, store, ref, "", 0, visit)
}

func files(ctx context.Context, store Store, ref event.TreeRef, at string, depth int, visit func(string, event.Ref) error) error {
	if depth > MaxDepth {
		return fmt.Errorf("the tree has more than %d folders in each other", MaxDepth)
	}
	tree, err := ReadTree(ctx, store, ref)
	if err != nil {
		return err
	}
	for _, e := range tree {
		switch name := path.Join(at, e.Name); e.Kind {
		case File:
			err = visit(name, e.Ref())
		case Dir:
			err = files(ctx, store, event.TreeRef(e.Ref()), name, depth+1, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/tool"
	"lyceum/internal/workspace"
)

// maxFolder is how many files and folders a folder that is handed in may have.
const maxFolder = 500

// attachFolder records a folder of a home as it is.
func (l *live) attachFolder(ctx context.Context, c tool.Call, name string, body *event.ToolPrepared) (fault, failed error) {
	short := AtMost(name, 200)
	inside, err := workspace.Path(name)
	if err != nil || inside == "." {
		return fmt.Errorf("%q is no folder of your home: put what you made into one of its own", short), nil
	}
	root, err := c.Home.OpenRoot(inside)
	if err != nil {
		return fmt.Errorf("there is no folder %q in your home", short), nil
	}
	defer root.Close()
	if fault, failed := l.foldable(ctx, c, root); fault != nil || failed != nil {
		return fault, failed
	}
	tree, _, skipped, err := blob.Snapshot(ctx, l.rt.Blobs, root, nil)
	switch {
	case err != nil:
		return nil, err
	case len(skipped) > 0:
		return fmt.Errorf("%q cannot be handed in: %s: %s", short, AtMost(skipped[0].Path, 200), AtMost(skipped[0].Reason, 200)), nil
	}
	body.Tree = &tree
	return nil, nil
}

// foldable refuses a folder that is too large, or has something that is no plain file, is closed
// to the agent or holds a key.
func (l *live) foldable(ctx context.Context, c tool.Call, root *os.Root) (fault, failed error) {
	entries, left := 0, int64(maxAttached)
	err := fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		short := AtMost(path, 200)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("%q cannot be read", short)
		case d.IsDir():
		case !d.Type().IsRegular():
			return fmt.Errorf("%q is not a plain file", short)
		}
		if entries++; entries > maxFolder+1 {
			return fmt.Errorf("there are more than %d files and folders: hand in less", maxFolder)
		}
		if d.IsDir() {
			return nil
		}
		return l.foldableFile(c, root, path, &left)
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return err, nil
}

func (l *live) foldableFile(c tool.Call, root *os.Root, path string, left *int64) error {
	short := AtMost(path, 200)
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("%q cannot be read", short)
	}
	defer f.Close()
	if err := c.Readable(f); err != nil {
		return fmt.Errorf("%q cannot be handed in: %w", short, err)
	}
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("%q cannot be read", short)
	}
	if *left -= info.Size(); *left < 0 {
		return fmt.Errorf("the folder is larger than %d MiB", maxAttached>>20)
	}
	if l.rt.Secrets != nil {
		if held, err := holdsOneOf(io.LimitReader(f, maxAttached), l.rt.Secrets()); held || err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%q holds a key that must not be handed in, or cannot be read", short)
		}
	}
	return nil
}

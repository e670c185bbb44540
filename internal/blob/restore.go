package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync"

	"lyceum/internal/event"
)

// Restore makes the folder root hold what the tree lists and nothing else, so
// that a Snapshot of it gives the same tree. Files are written anew, for an old
// one may have a second name outside the folder; links are made, never followed.
//
// The tree is read whole and looked over first: where it is damaged, hostile or
// in want of a blob, root is left as it was. Damage inside a file shows only while
// it is written; then, as with a full disk, root holds part of the tree, and
// Restore can be called again. Nothing is flushed to disk.
func Restore(ctx context.Context, store Store, ref event.TreeRef, root *os.Root) error {
	return RestoreBut(ctx, store, ref, root, nil)
}

// RestoreBut is Restore without the files that are known to be gone, if gone is not nil.
func RestoreBut(ctx context.Context, store Store, ref event.TreeRef, root *os.Root, gone func(event.Hash) bool) error {
	s := survey{store: store, gone: gone, trees: map[event.TreeRef]extent{}, files: map[event.Hash]bool{}}
	if _, err := s.tree(ctx, ref, ".", 1); err != nil {
		return fmt.Errorf("restore tree %s to %s: %w", ref.Hash, root.Name(), err)
	}
	if err := restoreTop(ctx, store, ref, root, gone); err != nil {
		return fmt.Errorf("restore tree %s to %s: %w", ref.Hash, root.Name(), err)
	}
	return nil
}

func restoreTop(ctx context.Context, store Store, ref event.TreeRef, root *os.Root, gone func(event.Hash) bool) error {
	info, err := root.Lstat(".")
	if err != nil {
		return err
	}
	if err := unlock(root, info); err != nil {
		return err
	}
	return restoreFolder(ctx, store, ref, root, "", gone)
}

// writers is how many files of a folder are written at the same time.
const writers = 4

func restoreFolder(ctx context.Context, store Store, ref event.TreeRef, root *os.Root, at string, gone func(event.Hash) bool) error {
	tree, err := ReadTree(ctx, store, ref)
	if err != nil {
		return err
	}
	if gone != nil {
		tree = slices.DeleteFunc(tree, func(e Entry) bool { return e.Kind == File && gone(e.Hash) })
	}
	there, err := removeOthers(root, tree)
	if err != nil {
		return fmt.Errorf("clear folder %s: %w", quote(at), err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var writing sync.WaitGroup
	slots := make(chan struct{}, writers)
	for _, e := range tree {
		if ctx.Err() != nil {
			break
		}
		p := path.Join(at, e.Name)
		if e.Kind != File {
			if err := restoreEntry(ctx, store, e, root, p, there[e.Name], gone); err != nil {
				stop(err)
			}
			continue
		}
		slots <- struct{}{}
		writing.Go(func() {
			defer func() { <-slots }()
			if err := restoreEntry(ctx, store, e, root, p, there[e.Name], gone); err != nil {
				stop(err)
			}
		})
	}
	writing.Wait()
	return context.Cause(ctx)
}

// removeOthers removes what is not listed, and says which of the listed are there.
func removeOthers(root *os.Root, tree Tree) (there map[string]bool, err error) {
	infos, err := list(root)
	if err != nil || len(infos) == 0 {
		return nil, err
	}
	listed := make(map[string]bool, len(tree))
	for _, e := range tree {
		listed[e.Name] = true
	}
	there = map[string]bool{}
	for _, info := range infos {
		if listed[info.Name()] {
			there[info.Name()] = true
			continue
		}
		if err := remove(root, info.Name()); err != nil {
			return nil, err
		}
	}
	return there, nil
}

func restoreEntry(ctx context.Context, store Store, e Entry, root *os.Root, at string, there bool, gone func(event.Hash) bool) error {
	switch e.Kind {
	case Dir:
		sub, err := makeFolder(root, e.Name)
		if err != nil {
			return fmt.Errorf("make folder %s: %w", quote(at), err)
		}
		defer sub.Close()
		return restoreFolder(ctx, store, event.TreeRef(e.Ref()), sub, at, gone)
	case Link:
		if err := makeLink(root, e); err != nil {
			return fmt.Errorf("make link %s: %w", quote(at), err)
		}
	case File:
		if err := makeFile(ctx, store, e, root, there); err != nil {
			return fmt.Errorf("write file %s: %w", quote(at), err)
		}
	}
	return nil
}

// makeFolder opens the folder name and makes it where something else stands.
func makeFolder(root *os.Root, name string) (*os.Root, error) {
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() {
		if err := remove(root, name); err != nil {
			return nil, err
		}
		if err := root.Mkdir(name, 0o755); err != nil {
			return nil, err
		}
		if info, err = root.Lstat(name); err != nil {
			return nil, err
		}
	}
	// Should somebody put a link here now, openFolder finds that it is not the
	// folder we saw, and Restore fails instead of writing through the link.
	return enter(root, info)
}

func makeLink(root *os.Root, e Entry) error {
	if err := remove(root, e.Name); err != nil {
		return err
	}
	return root.Symlink(e.Target, e.Name)
}

func makeFile(ctx context.Context, store Store, e Entry, root *os.Root, there bool) error {
	in, err := store.Open(ctx, e.Hash)
	if err != nil {
		return err
	}
	defer in.Close()
	if there {
		if err := remove(root, e.Name); err != nil {
			return err
		}
	}
	// With O_EXCL the file is new: neither a link nor another name of an old one.
	out, err := root.OpenFile(e.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(fill(ctx, out, in, e), out.Close())
	if err != nil {
		// Half a file under its name is worse than none. That it is still there
		// is the lesser trouble: the caller learns of the greater.
		_ = root.Remove(e.Name)
	}
	return err
}

func fill(ctx context.Context, out *os.File, in io.Reader, e Entry) error {
	// One byte more than listed, so that the verified end is reached.
	to := &hollower{f: out}
	n, err := io.CopyBuffer(to, struct{ io.Reader }{io.LimitReader(Interruptible(ctx, in), e.Size+1)}, make([]byte, min(hole, e.Size+1)))
	if err != nil {
		return err
	}
	if n != e.Size {
		return fmt.Errorf("blob %s does not have the %d bytes it is listed with", e.Hash, e.Size)
	}
	if to.ahead {
		if err := out.Truncate(n); err != nil {
			return err
		}
	}
	// By the handle, after the umask has had its say.
	return out.Chmod(e.Mode & fs.ModePerm)
}

// hole is how many zeros in a row become a hole.
const hole = 64 << 10

// hollower writes a file and leaves holes where there is nothing but zeros. If ahead, the
// file ends with a hole that is not part of it yet.
type hollower struct {
	f     *os.File
	ahead bool
}

func (h *hollower) Write(p []byte) (int, error) {
	if len(p) == hole && zeros(p) {
		h.ahead = true
		_, err := h.f.Seek(hole, io.SeekCurrent)
		return len(p), err
	}
	h.ahead = false
	return h.f.Write(p)
}

// zeros compares with itself, moved by one: no loop of ours is as fast.
func zeros(p []byte) bool { return p[0] == 0 && bytes.Equal(p[1:], p[:len(p)-1]) }

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
	"unicode/utf8"

	"lyceum/internal/event"
)

// Skipped names something a Snapshot left out and says why.
type Skipped struct {
	// Path is relative to the folder, with slashes. Where it is not plain UTF-8
	// it is quoted, with the odd bytes as \xNN.
	Path   string
	Reason string
}

const (
	// tries is how often a name that is being replaced is looked at anew.
	tries = 5
	// small is the size up to which a file is read whole and given to Put, which
	// can see that it is stored already without writing it a second time.
	small = 1 << 20
)

// Snapshot stores what is in root and returns its tree, an index for the next
// Snapshot, and what it left out: devices, sockets and pipes; names and link
// targets that are not UTF-8; what we have no right to read; folders nested
// deeper than MaxDepth. prev is the index of an earlier Snapshot or nil. Files
// that it knows and the store still has are not read again.
//
// A file that is written while it is read is stored as it was read. Holes in a
// file are stored as the zeros they read as; a large file that is almost nothing
// but holes is left out, or a folder could ask for far more room than it takes. On an error the tree is not stored; prev
// is unchanged and may be used again.
func Snapshot(ctx context.Context, store Store, root *os.Root, prev *Index) (event.TreeRef, *Index, []Skipped, error) {
	// The clock is read before anything else is: whatever changes from here on
	// gets a later time, or the same and is then not believed.
	s := snapshot{store: store, prev: prev, next: newIndex(), start: clock(root)}
	ref, err := s.folder(ctx, root, "", 1)
	if err != nil {
		return event.TreeRef{}, nil, nil, fmt.Errorf("snapshot of %s: %w", root.Name(), err)
	}
	return event.TreeRef(ref), s.next, s.skipped, nil
}

type snapshot struct {
	store   Store
	prev    *Index
	next    *Index
	start   stamp
	skipped []Skipped
}

// errGone says that an entry has vanished or was left out; the folder goes on
// without it.
var errGone = errors.New("left out")

func (s *snapshot) skip(at, reason string) error {
	s.skipped = append(s.skipped, Skipped{Path: quote(at), Reason: reason})
	return errGone
}

func (s *snapshot) folder(ctx context.Context, root *os.Root, at string, depth int) (event.Ref, error) {
	infos, err := list(root)
	if err != nil {
		return event.Ref{}, openError(err)
	}
	tree := make(Tree, 0, len(infos))
	for _, info := range infos {
		if err := ctx.Err(); err != nil {
			return event.Ref{}, err
		}
		e, err := s.entry(ctx, root, path.Join(at, info.Name()), info, depth)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return event.Ref{}, err
		}
		tree = append(tree, e)
	}
	return s.keep(ctx, at, tree)
}

// keep puts the tree of one folder, unless the last snapshot has done so.
func (s *snapshot) keep(ctx context.Context, at string, tree Tree) (event.Ref, error) {
	data, err := tree.Encode()
	if err != nil {
		return event.Ref{}, fmt.Errorf("folder %s: %w", quote(at), err)
	}
	ref := event.RefOf(data)
	held := s.prev.tree(at, ref.Hash)
	if held {
		held, err = s.store.Has(ctx, ref.Hash)
	}
	if err == nil && !held {
		ref, err = s.store.Put(ctx, data)
	}
	if err != nil {
		return event.Ref{}, fmt.Errorf("store the tree of folder %s: %w", quote(at), err)
	}
	s.next.trees[at] = ref.Hash
	return ref, nil
}

// entry stores one name. It looks again when the name changes its meaning in
// between, and gives up on one that does so without end.
func (s *snapshot) entry(ctx context.Context, root *os.Root, at string, info fs.FileInfo, depth int) (Entry, error) {
	if !utf8.ValidString(info.Name()) {
		return Entry{}, s.skip(at, "its name is not UTF-8")
	}
	for range tries {
		e, err := s.attempt(ctx, root, at, info, depth)
		if errors.Is(err, errDenied) {
			return Entry{}, s.skip(at, "no right to read it")
		}
		if !errors.Is(err, errReplaced) {
			return e, err
		}
		info, err = root.Lstat(info.Name())
		if errors.Is(err, fs.ErrNotExist) {
			return Entry{}, errGone
		}
		if err != nil {
			return Entry{}, err
		}
	}
	return Entry{}, s.skip(at, "it was replaced each time it was opened")
}

func (s *snapshot) attempt(ctx context.Context, root *os.Root, at string, info fs.FileInfo, depth int) (Entry, error) {
	switch mode := info.Mode(); mode.Type() {
	case 0:
		return s.file(ctx, root, at, info)
	case fs.ModeDir:
		return s.below(ctx, root, at, info, depth+1)
	case fs.ModeSymlink:
		return s.link(root, at, info)
	case fs.ModeNamedPipe:
		return Entry{}, s.skip(at, "it is a pipe")
	case fs.ModeSocket:
		return Entry{}, s.skip(at, "it is a socket")
	default:
		return Entry{}, s.skip(at, "it is a device")
	}
}

func (s *snapshot) below(ctx context.Context, root *os.Root, at string, info fs.FileInfo, depth int) (Entry, error) {
	if depth > MaxDepth {
		return Entry{}, s.skip(at, fmt.Sprintf("it is more than %d folders deep", MaxDepth))
	}
	sub, err := openFolder(root, info)
	if err != nil {
		return Entry{}, err
	}
	defer sub.Close()
	ref, err := s.folder(ctx, sub, at, depth)
	return Entry{Name: info.Name(), Kind: Dir, Hash: ref.Hash, Size: ref.Size}, err
}

func (s *snapshot) link(root *os.Root, at string, info fs.FileInfo) (Entry, error) {
	target, err := root.Readlink(info.Name())
	if err != nil {
		return Entry{}, openError(err)
	}
	if !utf8.ValidString(target) {
		return Entry{}, s.skip(at, "the target of the link is not UTF-8")
	}
	return Entry{Name: info.Name(), Kind: Link, Target: target}, nil
}

func (s *snapshot) file(ctx context.Context, root *os.Root, at string, info fs.FileInfo) (Entry, error) {
	if e, ok, err := s.unchanged(ctx, at, info); ok || err != nil {
		return e, err
	}
	f, before, err := openFile(root, info)
	if err != nil {
		return Entry{}, err
	}
	defer f.Close()
	if hollow(before) {
		return Entry{}, s.skip(at, fmt.Sprintf("it is %d bytes long and almost all of that is a hole", before.Size()))
	}
	ref, err := s.content(ctx, f, before.Size())
	if err != nil {
		return Entry{}, fmt.Errorf("store file %s: %w", quote(at), err)
	}
	after, err := f.Stat()
	if err != nil {
		return Entry{}, err
	}
	s.remember(at, after, ref)
	return fileEntry(info.Name(), after, ref), nil
}

// sparse is from which size on holes matter.
const sparse = 64 << 20

// hollow reports whether a large file has next to nothing on the disk. What a disk
// compresses well is not meant.
func hollow(info fs.FileInfo) bool {
	held, ok := allocated(info)
	return ok && info.Size() > sparse && held < info.Size()/64
}

func fileEntry(name string, info fs.FileInfo, ref event.Ref) Entry {
	e := Entry{Name: name, Kind: File, Mode: ModePlain, Hash: ref.Hash, Size: ref.Size}
	if info.Mode()&0o100 != 0 {
		e.Mode = ModeExec
	}
	return e
}

// unchanged answers from the index. The store is asked too, for since the last
// snapshot a collection may have taken what nobody referred to.
func (s *snapshot) unchanged(ctx context.Context, at string, info fs.FileInfo) (Entry, bool, error) {
	now, ok := stampOf(info)
	if !ok {
		return Entry{}, false, nil
	}
	h, ok := s.prev.file(at, now)
	if !ok {
		return Entry{}, false, nil
	}
	held, err := s.store.Has(ctx, h)
	if err != nil || !held {
		return Entry{}, false, err
	}
	s.next.files[at] = known{now, h}
	return fileEntry(info.Name(), info, event.Ref{Hash: h, Size: now.size}), true, nil
}

// content stores what is read from f and names exactly that, whatever f holds a
// moment later.
func (s *snapshot) content(ctx context.Context, f *os.File, size int64) (event.Ref, error) {
	if size > small {
		return s.store.Create(ctx, f)
	}
	data, err := io.ReadAll(io.LimitReader(f, small+1))
	if err != nil {
		return event.Ref{}, err
	}
	if len(data) > small {
		return s.store.Create(ctx, io.MultiReader(bytes.NewReader(data), f))
	}
	return s.store.Put(ctx, data)
}

// remember indexes a file as it stood after it was read. That it is settled says
// two things: nobody wrote it since the snapshot began, so what was read is what
// is there, and whoever writes it from now on is seen.
func (s *snapshot) remember(at string, after fs.FileInfo, ref event.Ref) {
	now, ok := stampOf(after)
	if ok && now.size == ref.Size && now.settled(s.start) {
		s.next.files[at] = known{now, ref.Hash}
	}
}

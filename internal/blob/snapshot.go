package blob

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
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

// Bounds of what Snapshot takes of a folder. What is beyond them it leaves out and names,
// for whoever fills the folder may mean harm.
const (
	// MaxNames is how many entries it takes, of all folders together.
	MaxNames = 200_000
	// MaxTrees is how many bytes the trees of all folders may have together: names and
	// links can be long, and spelling them out can make them longer.
	MaxTrees = 32 << 20
	// MaxHoles is how many bytes of all files may be holes. Holes cost no room, but they
	// are read, and a folder could otherwise ask for any amount of work.
	MaxHoles = 1 << 30
)

// A StoreError says that a Snapshot could not store something; the folder is not to blame.
type StoreError struct {
	// Largest are the files that were new, the largest first, at most largest of them.
	Largest []Large
	Err     error
}

// Large is a file and its size.
type Large struct {
	Path string
	Size int64
}

func (e *StoreError) Error() string { return e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// An UnreadableError says that nothing at all could be read of a folder, and that this is
// due to the folder.
type UnreadableError struct{ Reason string }

func (e *UnreadableError) Error() string { return "the folder cannot be read: " + e.Reason }

// Snapshot stores what is in root and returns its tree, an index for the next
// Snapshot, and what it left out: devices, sockets and pipes; names and link
// targets that are not UTF-8; what we cannot read; folders nested
// deeper than MaxDepth; what is beyond the bounds above. prev is the index of an earlier
// Snapshot or nil. Files that it knows and the store still has are not read again.
//
// A file that is written while it is read is stored as it was read. Holes in a
// file are stored as the zeros they read as, of which a store makes holes or packs them, and
// Restore makes holes of them again.
//
// Whatever is in the folder, it never makes Snapshot fail: what cannot be recorded is named
// instead. If the right to read root itself was taken away, and we own it, we take it
// back; otherwise the error is an *UnreadableError. Every other error comes from the store
// (*StoreError), from ctx, or from a lack of open files or memory. On an error the tree is
// not stored; prev is unchanged and may be used again.
func Snapshot(ctx context.Context, store Store, root *os.Root, prev *Index) (event.TreeRef, *Index, []Skipped, error) {
	return SnapshotBut(ctx, store, root, prev, nil)
}

// SnapshotBut is Snapshot of a folder but for the names that leave reports: these are not
// looked at, whatever they are, and are not among what was left out. leave gets the path in
// the folder, with slashes.
func SnapshotBut(ctx context.Context, store Store, root *os.Root, prev *Index, leave func(path string) bool) (event.TreeRef, *Index, []Skipped, error) {
	return snapshotWithin(ctx, store, root, prev, bounds{MaxNames, MaxTrees, MaxHoles}, leave)
}

func snapshotWithin(ctx context.Context, store Store, root *os.Root, prev *Index, left bounds, leave func(string) bool) (event.TreeRef, *Index, []Skipped, error) {
	// The clock is read before anything else is: whatever changes from here on
	// gets a later time, or the same and is then not believed.
	s := snapshot{store: store, prev: prev, next: prev.after(store), start: clock(root), left: left, leave: leave}
	s.held = prev.holds(s.next.since)
	ctx = s.putting.begin(ctx, store)
	ref, err := s.folder(ctx, root, "", 1)
	if errors.Is(err, errDenied) && open(root) == nil {
		s.start = clock(root)
		ref, err = s.folder(ctx, root, "", 1)
	}
	if failed := s.putting.end(); failed != nil {
		err = failed // whatever else went wrong, went wrong for that
	}
	if err != nil {
		return event.TreeRef{}, nil, nil, fmt.Errorf("snapshot of %s: %w", root.Name(), s.failure(err))
	}
	return event.TreeRef(ref), s.next, s.skipped, nil
}

// open gives the owner of a folder the right to read it back. That goes by its name: in a
// folder without rights even the folder itself is not found.
func open(root *os.Root) error {
	info, err := os.Lstat(root.Name())
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errReplaced
	}
	return os.Chmod(root.Name(), info.Mode()|0o700)
}

type snapshot struct {
	store   Store
	prev    *Index
	next    *Index
	held    bool // the store has all of prev
	putting putting
	start   stamp
	skipped []Skipped
	left    bounds
	leave   func(path string) bool // nil to take all
	fresh   []Large
}

// bounds is how much may still come.
type bounds struct{ names, trees, holes int64 }

// errStore marks an error of the store.
var errStore = errors.New("store")

// worldly reports whether an error is not due to what is in the folder.
func worldly(ctx context.Context, err error) bool {
	return ctx.Err() != nil || ours(err)
}

// ours reports whether an error comes from the store, or from a lack of open files or memory.
func ours(err error) bool {
	return errors.Is(err, errStore) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// failure is the error of a whole snapshot.
func (s *snapshot) failure(err error) error {
	var stored *storing
	switch {
	case errors.As(err, &stored):
		return &StoreError{Largest: s.fresh, Err: stored.error}
	case ours(err), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return &UnreadableError{Reason: err.Error()}
}

// storing is an error of the store, told apart from those of the folder.
type storing struct{ error }

func (*storing) Is(target error) bool { return target == errStore }
func (s *storing) Unwrap() error      { return s.error }

// largest is how many new files an error names.
const largest = 3

// meet notes a new file.
func (s *snapshot) meet(at string, size int64) {
	s.fresh = append(s.fresh, Large{quote(at), size})
	slices.SortStableFunc(s.fresh, func(a, b Large) int { return cmp.Compare(b.Size, a.Size) })
	s.fresh = s.fresh[:min(len(s.fresh), largest)]
}

// errGone says that an entry has vanished or was left out; the folder goes on
// without it.
var errGone = errors.New("left out")

func (s *snapshot) skip(at, reason string) error {
	s.skipped = append(s.skipped, Skipped{Path: quote(at), Reason: reason})
	return errGone
}

func (s *snapshot) folder(ctx context.Context, root *os.Root, at string, depth int) (event.Ref, error) {
	infos, more, err := listSome(root, s.left.names)
	if err != nil {
		return event.Ref{}, openError(err)
	}
	if more {
		_ = s.skip(path.Join(at, "…"), "there are too many entries: spread over fewer and larger files they could be recorded")
	}
	var tree treeWriter
	for _, info := range infos {
		if err := ctx.Err(); err != nil {
			return event.Ref{}, err
		}
		name := below(at, info.Name())
		if s.leave != nil && s.leave(name) {
			continue
		}
		if s.left.names < 1 { // before anything is read for it
			_ = s.skip(name, "there are too many entries")
			continue
		}
		e, err := s.entry(ctx, root, name, info, depth)
		if err == nil {
			err = s.room(name, e, &tree)
		}
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return event.Ref{}, err
		}
	}
	return s.keep(ctx, at, &tree)
}

// below is the path of a name in a folder.
func below(at, name string) string {
	if at == "" {
		return name
	}
	return at + "/" + name
}

// room adds an entry to the tree of its folder, and leaves out what no tree has room for.
func (s *snapshot) room(at string, e Entry, to *treeWriter) error {
	was := *to
	if err := to.add(e); err != nil {
		return s.skip(at, err.Error())
	}
	size := int64(len(to.b) - len(was.b))
	switch {
	case s.left.names < 1:
		*to = was
		return s.skip(at, "there are too many entries")
	case s.left.trees < size:
		*to = was
		return s.skip(at, "the names of all entries are too long together")
	}
	s.left.names--
	s.left.trees -= size
	return nil
}

// keep puts the tree of one folder, unless the last snapshot has done so.
func (s *snapshot) keep(ctx context.Context, at string, tree *treeWriter) (event.Ref, error) {
	data, err := tree.whole()
	if err != nil {
		return event.Ref{}, err
	}
	ref := event.RefOf(data)
	held := s.prev.tree(at, ref.Hash)
	if held && !s.held {
		held, err = Held(ctx, s.store, ref.Hash)
	}
	what := "store the tree of folder " + quote(at)
	switch {
	case err != nil:
		return event.Ref{}, &storing{fmt.Errorf("%s: %w", what, err)}
	case held:
	case at == "": // the tree of all is stored last
		err = s.putting.now(ctx, ref, data, what)
	default:
		err = s.putting.put(ctx, ref, data, what)
	}
	s.next.trees[at] = ref.Hash
	return ref, err
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
		if err == nil || errors.Is(err, errGone) || worldly(ctx, err) {
			return e, err
		}
		if !errors.Is(err, errReplaced) {
			return Entry{}, s.skip(at, "it cannot be read: "+err.Error())
		}
		info, err = root.Lstat(info.Name())
		if errors.Is(err, fs.ErrNotExist) {
			return Entry{}, errGone
		}
		if err != nil {
			return Entry{}, s.skip(at, "it cannot be read: "+err.Error())
		}
	}
	return Entry{}, s.skip(at, "it was replaced each time it was opened")
}

func (s *snapshot) attempt(ctx context.Context, root *os.Root, at string, info fs.FileInfo, depth int) (Entry, error) {
	switch mode := info.Mode(); mode.Type() {
	case 0:
		return s.file(ctx, root, at, info)
	case fs.ModeDir:
		return s.enter(ctx, root, at, info, depth+1)
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

func (s *snapshot) enter(ctx context.Context, root *os.Root, at string, info fs.FileInfo, depth int) (Entry, error) {
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
	empty := s.holes(root, info)
	if empty > s.left.holes {
		return Entry{}, s.skip(at, fmt.Sprintf("%d of its %d bytes are holes, and %d MiB of holes are recorded at most", empty, info.Size(), int64(MaxHoles)>>20))
	}
	s.left.holes -= empty
	if e, ok, err := s.unchanged(ctx, at, info); ok || err != nil {
		return e, err
	}
	f, before, err := openFile(root, info)
	if err != nil {
		return Entry{}, err
	}
	defer f.Close()
	s.meet(at, before.Size())
	ref, err := s.content(ctx, &source{in: f, most: before.Size() + growth}, before.Size(), "store file "+quote(at))
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

// hollow is how many bytes of a file may be missing on the disk without anybody looking
// for holes: the smallest files are often kept with their names.
const hollow = 64 << 10

// holes is how many bytes of a file are holes. A file of which the disk has less than its
// length is asked: it may only be packed well.
func (s *snapshot) holes(root *os.Root, info fs.FileInfo) int64 {
	held, ok := allocated(info)
	if !ok || info.Size()-held <= hollow {
		return 0
	}
	f, _, err := openFile(root, info)
	if err != nil {
		return 0 // nor can it be read
	}
	defer f.Close()
	return missing(f, info.Size(), info.Size()-held)
}

func fileEntry(name string, info fs.FileInfo, ref event.Ref) Entry {
	e := Entry{Name: name, Kind: File, Mode: ModePlain, Hash: ref.Hash, Size: ref.Size}
	if info.Mode()&0o100 != 0 {
		e.Mode = ModeExec
	}
	return e
}

// unchanged answers from the index. The store is asked too, unless it has lost nothing since:
// a collection may have taken what nobody referred to.
func (s *snapshot) unchanged(ctx context.Context, at string, info fs.FileInfo) (Entry, bool, error) {
	now, ok := stampOf(info)
	if !ok {
		return Entry{}, false, nil
	}
	h, ok := s.prev.file(at, now)
	if !ok {
		return Entry{}, false, nil
	}
	if !s.held {
		held, err := Held(ctx, s.store, h)
		if err != nil {
			return Entry{}, false, &storing{err}
		}
		if !held {
			return Entry{}, false, nil
		}
	}
	s.next.files[at] = known{now, h}
	return fileEntry(info.Name(), info, event.Ref{Hash: h, Size: now.size}), true, nil
}

// content stores what is read of a file and names exactly that, whatever the file holds a
// moment later.
func (s *snapshot) content(ctx context.Context, in *source, size int64, what string) (event.Ref, error) {
	var data []byte
	if size <= small {
		var err error
		if data, err = io.ReadAll(io.LimitReader(in, small+1)); err != nil {
			return event.Ref{}, err
		}
		if len(data) <= small {
			ref := event.RefOf(data)
			return ref, s.putting.put(ctx, ref, data, what)
		}
	}
	ref, err := s.store.Create(ctx, io.MultiReader(bytes.NewReader(data), in))
	if err != nil && in.err == nil {
		err = &storing{err}
	}
	return ref, err
}

// growth is how much longer a file may get while it is read.
const growth = 64 << 20

// source is a file of the folder. It knows which errors are its own, and ends if somebody
// lets the file grow without end, or makes a hole of a terabyte in it after it was looked at.
type source struct {
	in   io.Reader
	most int64
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	if s.most -= int64(n); s.most < 0 {
		err = errors.New("it grew while it was read")
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
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

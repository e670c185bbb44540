// Package repo reads what agents begin with from a person's folder or git repository, and
// brings back what they made of it: as a patch, as a branch, or into the work tree.
//
// A repository may be a stranger's, with settings made to run programs: hooks, filters,
// monitors, helpers. None is run. What is read goes through a repository of ours (bench)
// that has our settings alone; git sees a person's own only to find what commit a name
// stands for and to set a branch, by commands that run nothing, with hooks turned off. A
// repository that has its objects or branches elsewhere, or links in their place, is refused:
// it could show what is another's.
//
// The home of an agent gets a repository of one commit, which is written here without any
// git: programs expect one. Nothing is ever read back from there.
//
// What agents write is hostile, too. Paths that some system takes for git's own, that cannot
// be seen or lead elsewhere, and links out of the tree are left out and named.
package repo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/workspace"
)

// Bounds of a base. Each agent's home holds all of it.
const (
	MaxFiles = 100_000
	MaxBytes = 1 << 30
)

// Worktree is the base that is no commit: the files of the work tree that git knows, as they
// are now.
const Worktree = "worktree"

// Base is what agents begin with.
type Base struct {
	// Commit is its id, empty for a folder that is no repository.
	Commit string
	// Worktree says that the files are those of the work tree, and not the commit's.
	Worktree bool
	Tree     event.TreeRef
	// LeftOut is what is not in the tree, and why.
	LeftOut []event.Skipped
}

// Options say how a folder is read. The zero value reads the last commit.
type Options struct {
	// Base is a commit by any name, or Worktree; empty for HEAD. A folder that is no
	// repository has none.
	Base string
	// Plain reads a folder as files, and runs no git: for one that a stranger sent.
	Plain bool
	// Over are files that hold something else than what is read, by their paths: what a person
	// has in an editor, and has not saved.
	Over map[string][]byte
}

// Check finds out whether a folder can be read so, without reading its files.
func Check(ctx context.Context, dir string, opts Options) error {
	p, found, err := find(dir, opts)
	if err != nil || !found {
		return err
	}
	_, err = p.start(ctx, opts)
	return err
}

// Read stores the files of a folder. dir is an absolute path.
func Read(ctx context.Context, store blob.Store, dir string, opts Options) (*Base, error) {
	base, err := read(ctx, store, dir, opts)
	if err != nil {
		return nil, err
	}
	return base, base.lay(ctx, store, opts.Over)
}

func read(ctx context.Context, store blob.Store, dir string, opts Options) (base *Base, err error) {
	p, found, err := find(dir, opts)
	if err != nil {
		return nil, err
	}
	if !found {
		return readFolder(ctx, store, dir)
	}
	id, err := p.start(ctx, opts)
	if err != nil {
		return nil, err
	}
	store, done, err := many(store)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = done(err); err != nil {
			base = nil
		}
	}()
	r := &reading{store: store, place: p, root: newFolder()}
	if r.bench, err = newBench(p.format(id)); err != nil {
		return nil, err
	}
	defer r.bench.Close()
	base = &Base{Commit: id, Worktree: opts.Base == Worktree}
	if base.Worktree {
		err = r.worktree(ctx)
	} else {
		err = r.tracked(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(r.leftOut, func(a, b event.Skipped) int { return strings.Compare(a.Path, b.Path) })
	base.LeftOut = r.leftOut
	base.Tree, err = r.root.store(ctx, store)
	return base, err
}

// many is a store for all files of a base, which done ends: they are there if err is nil and
// it returns nil.
func many(store blob.Store) (_ blob.Store, done func(err error) error, err error) {
	b, ok := store.(blob.Batcher)
	if !ok {
		return store, func(err error) error { return err }, nil
	}
	batch, err := b.Batch()
	if err != nil {
		return nil, nil, err
	}
	return batch, func(err error) error {
		if err != nil {
			batch.Abort()
			return err
		}
		return batch.Flush()
	}, nil
}

func find(dir string, opts Options) (p place, found bool, err error) {
	if !opts.Plain {
		p, found, err = locate(dir)
	}
	switch {
	case err != nil:
		return p, false, err
	case !found && opts.Base != "":
		return p, false, errors.New("the folder is no git repository of its own, and has no base: leave base out")
	case found && p.bare && opts.Base == Worktree:
		return p, false, errors.New("the repository has no work tree: name a commit as base")
	}
	return p, found, nil
}

// start is the commit that agents begin with, or that the work tree is a change of.
func (p place) start(ctx context.Context, opts Options) (string, error) {
	name := opts.Base
	if name == "" || name == Worktree {
		name = "HEAD"
	}
	return p.commit(ctx, name)
}

// reading is a base that is being read.
type reading struct {
	store blob.Store
	place place
	bench *bench
	files int
	bytes int64

	// adding guards what is below: files come from several goroutines.
	adding  sync.Mutex
	root    *folder
	leftOut []event.Skipped
}

// add puts an entry into the tree; why says that it is left out.
func (r *reading) add(at string, e blob.Entry, why string) error {
	r.adding.Lock()
	defer r.adding.Unlock()
	if why == "" {
		if err := r.root.put(at, e); err != nil {
			why = err.Error()
		}
	}
	if why != "" {
		r.leave(at, why)
	}
	return nil
}

func (r *reading) leave(at, why string) {
	r.leftOut = append(r.leftOut, event.Skipped{Path: shown(at), Reason: why})
}

// shown is a path as people and ledgers can bear it.
func shown(p string) string { return plain.Bare(strings.ToValidUTF8(p, "\uFFFD"), 300) }

// count takes a file into account.
func (r *reading) count(size int64) error {
	r.files++
	return r.weigh(size)
}

// weigh takes bytes of a file into account that was counted without any.
func (r *reading) weigh(size int64) error {
	r.bytes += size
	if r.files > MaxFiles || r.bytes > MaxBytes {
		return fmt.Errorf("there are more than %d files or %d MiB: each agent's home would hold all of it; give a smaller folder", MaxFiles, MaxBytes>>20)
	}
	return nil
}

// listed is a file as git lists it.
type listed struct {
	mode, id, path string
	size           int64 // known once its content is read
}

// mode is what git says of an entry.
const (
	modePlain  = "100644"
	modeExec   = "100755"
	modeLink   = "120000"
	modeModule = "160000"
)

// maxList is how many bytes a list of files may have.
const maxList = 256 << 20

// tracked reads the files of a commit. How long each is comes with its content: to ask for that
// first, git would have to open every file twice.
func (r *reading) tracked(ctx context.Context, commit string) error {
	g := r.place.through(r.bench)
	out, err := g.run(ctx, maxList, nil, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return fmt.Errorf("list the files of the commit: %w", err)
	}
	var files []listed
	for line := range bytes.SplitSeq(out, []byte{0}) {
		if len(line) == 0 {
			continue
		}
		// mode, type and id, a tab, the path
		about, name, _ := strings.Cut(string(line), "\t")
		f := strings.Fields(about)
		if len(f) != 3 || !isID(f[2]) {
			return errors.New("git ls-tree wrote something else than a list of files")
		}
		file := listed{mode: f[0], id: f[2], path: name}
		if !r.wanted(file) {
			continue
		}
		if err := r.count(0); err != nil {
			return err
		}
		files = append(files, file)
	}
	return r.fetch(ctx, files, r.weigh, r.take)
}

// wanted leaves out what is no file of the repository, or has a name that cannot be.
func (r *reading) wanted(f listed) bool {
	switch {
	case f.mode == modeModule:
		r.leave(f.path, "it is a submodule")
	case f.mode != modePlain && f.mode != modeExec && f.mode != modeLink && f.mode != "100664":
		r.leave(f.path, "it is no file")
	case workspace.Strange(f.path) != "":
		r.leave(f.path, workspace.Strange(f.path))
	default:
		return true
	}
	return false
}

// inMemory is the size up to which a file is read whole; readers is how many of these are
// stored at the same time: stores wait for the disk.
const (
	inMemory = 1 << 20
	readers  = 32
)

// fetch reads the content of files, in their order, tells weigh how long each is, and hands it to
// take, several at the same time if they are small. take must read all of it.
func (r *reading) fetch(ctx context.Context, files []listed, weigh func(int64) error, take func(context.Context, listed, io.Reader) error) error {
	if len(files) == 0 {
		return nil
	}
	cmd, cancel, err := r.place.through(r.bench).command(ctx, "cat-file", "--batch")
	if err != nil {
		return err
	}
	defer cancel()
	var ids bytes.Buffer
	for _, f := range files {
		ids.WriteString(f.id + "\n")
	}
	errs := &limited{most: 4 << 10, cut: true}
	cmd.Stdin, cmd.Stderr = &ids, errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = batch(ctx, bufio.NewReaderSize(out, 256<<10), files, weigh, take)
	if err != nil {
		cancel()
	}
	_, _ = io.Copy(io.Discard, out)
	if waited := cmd.Wait(); err == nil && waited != nil {
		err = r.place.own().failed(cmd, "cat-file", errs.kept.Bytes(), waited)
	}
	return err
}

// batch reads what cat-file --batch writes.
func batch(ctx context.Context, in *bufio.Reader, files []listed, weigh func(int64) error, take func(context.Context, listed, io.Reader) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var storing sync.WaitGroup
	defer storing.Wait()
	slots := make(chan struct{}, readers)
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		head, err := in.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read the files of the commit: %w", err)
		}
		size, ok := strings.CutPrefix(strings.TrimSuffix(head, "\n"), f.id+" blob ")
		if f.size, err = strconv.ParseInt(size, 10, 64); !ok || err != nil || f.size < 0 {
			return fmt.Errorf("git does not have the file %s as the commit says: the repository is damaged or no full clone; run git fetch --refetch --no-filter, or clone it anew", shown(f.path))
		}
		if err := weigh(f.size); err != nil {
			return err
		}
		if f.size > inMemory {
			content := io.LimitReader(in, f.size)
			if err := take(ctx, f, content); err != nil {
				return err
			}
		} else {
			data := make([]byte, f.size)
			if _, err := io.ReadFull(in, data); err != nil {
				return fmt.Errorf("read the files of the commit: %w", err)
			}
			slots <- struct{}{}
			storing.Go(func() {
				defer func() { <-slots }()
				if err := take(ctx, f, bytes.NewReader(data)); err != nil {
					stop(err)
				}
			})
		}
		if _, err := in.Discard(1); err != nil {
			return fmt.Errorf("read the files of the commit: %w", err)
		}
	}
	storing.Wait()
	return context.Cause(ctx)
}

// take stores the content of a file.
func (r *reading) take(ctx context.Context, f listed, content io.Reader) error {
	e, why, err := r.entry(ctx, f, content)
	if err != nil {
		return err
	}
	return r.add(f.path, e, why)
}

// lfs is what a file begins with that stands for one in large file storage.
const lfs = "version https://git-lfs.github.com/spec/"

const inLFS = "it is in large file storage (LFS)"

// maxPointer is how long such a file is at most.
const maxPointer = 1 << 10

// entry makes an entry of a file; why says that there is none.
func (r *reading) entry(ctx context.Context, f listed, content io.Reader) (e blob.Entry, why string, err error) {
	if f.size > maxPointer && f.mode != modeLink {
		ref, err := r.put(ctx, f.size, content)
		return fileEntry(f.mode, ref), "", err
	}
	data, err := io.ReadAll(content)
	switch {
	case err != nil:
		return e, "", err
	case f.mode == modeLink:
		return blob.Entry{Kind: blob.Link, Target: string(data)}, "", nil
	case bytes.HasPrefix(data, []byte(lfs)):
		return e, inLFS, nil
	}
	ref, err := r.store.Put(ctx, data)
	return fileEntry(f.mode, ref), "", err
}

func (r *reading) put(ctx context.Context, size int64, content io.Reader) (event.Ref, error) {
	if size > inMemory {
		return r.store.Create(ctx, content)
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return event.Ref{}, err
	}
	return r.store.Put(ctx, data)
}

func fileEntry(mode string, ref event.Ref) blob.Entry {
	e := blob.Entry{Kind: blob.File, Mode: blob.ModePlain, Hash: ref.Hash, Size: ref.Size}
	if mode == modeExec {
		e.Mode = blob.ModeExec
	}
	return e
}

// readFolder stores the files of a folder that is no repository. Repositories in it are left
// out.
func readFolder(ctx context.Context, store blob.Store, dir string) (*Base, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := &reading{}
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // it is named below
		case p != "." && workspace.DotGit(path.Base(p)):
			r.leave(p, "it is git's own")
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return ctx.Err()
		}
		size := int64(0)
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
		return r.count(size)
	})
	if err != nil {
		return nil, err
	}
	tree, _, skipped, err := blob.SnapshotBut(ctx, store, root, nil, func(p string) bool { return workspace.DotGit(path.Base(p)) })
	if err != nil {
		return nil, err
	}
	for _, s := range skipped {
		r.leave(s.Path, s.Reason)
	}
	return &Base{Tree: tree, LeftOut: r.leftOut}, nil
}

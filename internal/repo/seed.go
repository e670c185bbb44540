package repo

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/workspace"
)

// Dir is the folder of a home that git keeps its own things in. It is never recorded.
const Dir = ".git"

// Seed is a repository of one commit, ready to be put into homes. It is made without any
// git; the same tree makes the same commit, in every home and on every machine.
type Seed struct {
	// file has the pack. It has no name, so that nobody need remove it, whatever becomes of us.
	file   *os.File
	pack   string // its name in homes, without the ending
	packed []byte // its index
	commit id
	index  []byte
}

// author stands in the one commit, at the beginning of time: whoever made the files is not
// for agents to know.
const author = "Lyceum <lyceum@localhost> 0 +0000"

// NewSeed makes a repository whose commit has a tree, but for what bounds hide: git would show it.
// Close takes it away.
func NewSeed(ctx context.Context, store blob.Store, tree event.TreeRef, b workspace.Bounds) (seed *Seed, err error) {
	f, err := os.CreateTemp("", "lyceum-seed-")
	if err != nil {
		return nil, err
	}
	s := &Seed{file: f}
	defer func() {
		if err != nil {
			err = fmt.Errorf("make the repository of a home: %w", errors.Join(err, s.Close()))
		}
	}()
	if err := os.Remove(f.Name()); err != nil {
		return nil, err
	}
	p, err := newPacker(f)
	if err != nil {
		return nil, err
	}
	w := &writer{reader: newReader(store), pack: p, bounds: b}
	top, err := w.folder(ctx, tree, "", 1)
	if err != nil {
		return nil, err
	}
	text := "tree " + top.String() + "\nauthor " + author + "\ncommitter " + author + "\n\nBase\n"
	if s.commit, err = p.add(commitObject, int64(len(text)), strings.NewReader(text)); err != nil {
		return nil, err
	}
	s.index = w.index()
	s.pack, s.packed, err = p.finish()
	return s, err
}

// Commit is the id of the commit.
func (s *Seed) Commit() string { return s.commit.String() }

// Close removes what the seed keeps.
func (s *Seed) Close() error { return s.file.Close() }

// config is what git finds in a home. The name is for commits that an agent makes.
const config = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
[user]
	name = agent
	email = agent@localhost
[gc]
	auto = 0
`

// Write puts the repository into a home that no program has had yet.
func (s *Seed) Write(home *os.Root) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := home.MkdirAll(path.Join(Dir, dir), 0o755); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/main\n", "config": config, "refs/heads/main": s.commit.String() + "\n", "index": string(s.index),
	} {
		if err := home.WriteFile(path.Join(Dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return errors.Join(put(home, s.pack+".pack", io.NewSectionReader(s.file, 0, 1<<62)), put(home, s.pack+".idx", bytes.NewReader(s.packed)))
}

// put writes a file of the pack. Several homes may be written at the same time.
func put(home *os.Root, name string, in io.Reader) error {
	out, err := home.OpenFile(path.Join(Dir, "objects/pack", name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// writer makes git's objects of a tree of blobs.
type writer struct {
	*reader
	pack   *packer
	bounds workspace.Bounds
	files  []indexed
}

// indexed is a file of git's index.
type indexed struct {
	path string
	mode uint32
	id   id
}

// folder writes a folder and all in it. git has no empty folders.
func (w *writer) folder(ctx context.Context, ref event.TreeRef, at string, depth int) (id, error) {
	if depth > blob.MaxDepth {
		return id{}, fmt.Errorf("more than %d folders in each other", blob.MaxDepth)
	}
	tree, err := w.tree(ctx, ref)
	if err != nil {
		return id{}, err
	}
	var entries []gitEntry
	for _, e := range tree {
		if err := ctx.Err(); err != nil {
			return id{}, err
		}
		if workspace.DotGit(e.Name) || w.bounds.Hidden(e.Name) != "" {
			continue
		}
		p := path.Join(at, e.Name)
		if e.Kind == blob.Dir {
			before := len(w.files)
			sub, err := w.folder(ctx, event.TreeRef(e.Ref()), p, depth+1)
			if err != nil {
				return id{}, err
			}
			if len(w.files) > before {
				entries = append(entries, gitEntry{e.Name, modeFolder, sub})
			}
			continue
		}
		made, err := w.file(ctx, e)
		if err != nil {
			return id{}, fmt.Errorf("%s: %w", shown(p), err)
		}
		entries = append(entries, made)
		w.files = append(w.files, indexed{p, modeOf[made.mode], made.id})
	}
	return w.pack.tree(entries)
}

var modeOf = map[string]uint32{modePlain: 0o100644, modeExec: 0o100755, modeLink: 0o120000}

// gitMode is how git calls an entry.
func gitMode(e blob.Entry) string {
	switch {
	case e.Kind == blob.Link:
		return modeLink
	case e.Mode == blob.ModeExec:
		return modeExec
	}
	return modePlain
}

func (w *writer) file(ctx context.Context, e blob.Entry) (gitEntry, error) {
	made := gitEntry{name: e.Name, mode: gitMode(e)}
	var err error
	if e.Kind == blob.Link {
		made.id, err = w.pack.add(blobObject, int64(len(e.Target)), strings.NewReader(e.Target))
		return made, err
	}
	in, err := w.store.Open(ctx, e.Hash)
	if err != nil {
		return made, err
	}
	defer in.Close()
	made.id, err = w.pack.add(blobObject, e.Size, in)
	return made, err
}

// index is git's list of the files of the work tree. It says nothing of their times, so that
// git looks at them once and notes these itself.
func (w *writer) index() []byte {
	slices.SortFunc(w.files, func(a, b indexed) int { return strings.Compare(a.path, b.path) })
	out := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), uint32(len(w.files)))
	for _, f := range w.files {
		begin := len(out)
		out = append(out, make([]byte, 24)...) // times, device and inode
		out = binary.BigEndian.AppendUint32(out, f.mode)
		out = append(out, make([]byte, 12)...) // owner, group and size
		out = append(out, f.id[:]...)
		out = binary.BigEndian.AppendUint16(out, uint16(min(len(f.path), 0xfff)))
		out = append(out, f.path...)
		out = append(out, make([]byte, 8-(len(out)-begin)%8)...)
	}
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

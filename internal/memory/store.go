package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/society/lab/paper"
	"lyceum/internal/society/stages/study"

	"golang.org/x/sys/unix"
)

// maxCards is how many files of a kind are looked at.
const maxCards = 20_000

// Folder is where a home has its cards.
func Folder(home string) string { return filepath.Join(home, "memory") }

// Store is the cards of a home. Its methods may be called at the same time, also by several
// processes.
type Store struct {
	dir string

	mu sync.Mutex
	// seen are the cards as they were last read, by their paths; guarded by mu.
	seen map[string]read
}

// read is a file that was read: as long as it looks the same from outside, it is.
type read struct {
	info fs.FileInfo
	card *Card
	err  error
}

// Open returns the cards of a home, whose folder need not be there.
func Open(home string) *Store { return &Store{dir: Folder(home), seen: map[string]read{}} }

// Cards are all there are, the newest first, and what is wrong with other files. Of several
// files of one card the highest revision counts: a process was killed that wrote the last.
func (s *Store) Cards(ctx context.Context) (all []*Card, faults []error, err error) {
	root, err := os.OpenRoot(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look at the cards of the home: %w", err)
	}
	defer root.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	found, byID := map[string]read{}, map[string]*Card{}
	for _, kind := range study.CardKinds {
		names, err := list(root, kind)
		if err != nil {
			faults = append(faults, err)
		}
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			r := s.look(root, name)
			found[name] = r
			switch old := byID[r.id()]; {
			case r.err != nil:
				faults = append(faults, r.err)
			case old == nil || old.Revision < r.card.Revision:
				byID[r.card.ID] = r.card
			}
		}
	}
	s.seen = found
	all = slices.SortedFunc(maps.Values(byID), func(a, b *Card) int { return cmp.Or(cmp.Compare(b.Updated, a.Updated), cmp.Compare(a.ID, b.ID)) })
	return all, faults, nil
}

func (r read) id() string {
	if r.card == nil {
		return ""
	}
	return r.card.ID
}

// list are the files of a kind, in order. What is hidden is nobody's card.
func list(root *os.Root, kind string) (names []string, err error) {
	info, err := root.Lstat(kind)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	var files []fs.DirEntry
	if err == nil {
		var dir *os.File
		if dir, err = root.Open(kind); err == nil {
			files, err = dir.ReadDir(maxCards + 1)
			_ = dir.Close() // it was read
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("memory/%s: %w", kind, cause(err))
	}
	for _, f := range files[:min(len(files), maxCards)] {
		if !strings.HasPrefix(f.Name(), ".") {
			names = append(names, filepath.Join(kind, f.Name()))
		}
	}
	slices.Sort(names)
	if len(files) > maxCards {
		return names, fmt.Errorf("memory/%s has more than %d files: the others are not read", kind, maxCards)
	}
	return names, nil
}

// look reads a file, unless it is as it was. mu is held.
func (s *Store) look(root *os.Root, name string) read {
	info, err := root.Lstat(name)
	if err != nil {
		return read{err: fmt.Errorf("memory/%s: %w", name, cause(err))}
	}
	if old, ok := s.seen[name]; ok && old.info != nil && os.SameFile(old.info, info) && old.info.ModTime().Equal(info.ModTime()) && old.info.Size() == info.Size() {
		return old
	}
	card, err := readCard(root, name, info)
	return read{info, card, err}
}

func readCard(root *os.Root, name string, info fs.FileInfo) (*Card, error) {
	wrong := func(err error) error { return fmt.Errorf("memory/%s: %w", name, cause(err)) }
	switch {
	case !info.Mode().IsRegular():
		return nil, wrong(errors.New("it is not a file: links, pipes and folders are not read"))
	case info.Size() > maxFile:
		return nil, wrong(fmt.Errorf("it has more than %d bytes", maxFile))
	}
	// Whatever took the place of the file meanwhile is not waited for.
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, wrong(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, wrong(err)
	}
	c, err := Parse(filepath.Join("memory", name), data)
	if err != nil {
		return nil, err
	}
	if c.Path = name; filepath.Dir(name) != c.Kind || !strings.HasSuffix(name, c.ID+".md") {
		return nil, wrong(fmt.Errorf("it says that it is the card %s of %s: want it in the folder of its kind, with a name that ends in its id and .md", c.ID, c.Kind))
	}
	return c, nil
}

// Card is the card of an id, nil if there is none.
func (s *Store) Card(ctx context.Context, id string) (*Card, error) {
	all, _, err := s.Cards(ctx)
	for _, c := range all {
		if c.ID == id {
			return c, err
		}
	}
	return nil, err
}

// Put puts a card there, as text is to stand in its file. What is there in the same or a later
// revision stays as it is.
func (s *Store) Put(ctx context.Context, text []byte) error {
	c, err := Parse("the card", text)
	if err != nil {
		return err
	}
	if c.Approved != 0 {
		return errors.New("the card says that it is approved: that is for a person")
	}
	return s.change(ctx, c.ID, func(old *Card) (*Card, []byte, error) {
		switch {
		case old != nil && old.Quest != c.Quest:
			return nil, nil, fmt.Errorf("the home has the card %s of the quest %s", c.ID, paper.Quote(old.Quest))
		case old != nil && old.Revision == c.Revision && !old.same(c):
			return nil, nil, fmt.Errorf("the home has the card %s with another text in the revision %d", c.ID, c.Revision)
		case old != nil && old.Revision >= c.Revision:
			return old, nil, nil
		}
		return c, c.data, nil
	})
}

// Approve lets a revision of a quest's card into other studies' prompts. Once is as good as
// twice.
func (s *Store) Approve(ctx context.Context, quest, id string, revision int64, by string, at event.Time) error {
	return s.change(ctx, id, func(c *Card) (*Card, []byte, error) {
		switch {
		case c == nil || c.Quest != quest:
			return nil, nil, fmt.Errorf("the home has no card %.40q of the quest %s", id, paper.Quote(quest))
		case c.Revision != revision:
			return nil, nil, fmt.Errorf("the home has the card %s in the revision %d, not %d", id, c.Revision, revision)
		case c.Approved != 0:
			return c, nil, nil
		}
		data := c.approved(by, at)
		_, err := Parse("the card", data)
		return c, data, err
	})
}

// change writes the file of a card anew, as become says: nil leaves it. Other files of the same
// card go.
func (s *Store) change(ctx context.Context, id string, become func(old *Card) (*Card, []byte, error)) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the home's cards: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(s.dir, ".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	old, err := s.Card(ctx, id)
	if err != nil {
		return err
	}
	c, data, err := become(old)
	if err != nil {
		return err
	}
	path := c.Path
	if data != nil {
		path = c.file()
		if err := write(s.dir, path, data); err != nil {
			return fmt.Errorf("write the card %s: %w", id, err)
		}
	}
	return s.tidy(c, path)
}

// tidy removes the other files of a card, which are of earlier revisions, and what a killed
// process had begun to write. The lock is held.
func (s *Store) tidy(c *Card, keep string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for name, r := range s.seen {
		if r.id() == c.ID && name != keep {
			err = errors.Join(err, os.Remove(filepath.Join(s.dir, name)))
		}
	}
	begun, _ := filepath.Glob(filepath.Join(s.dir, c.Kind, ".new-*"))
	for _, name := range begun {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// write writes a file whole or not at all. When it returns, the file is on disk.
func write(dir, path string, data []byte) (err error) {
	folder := filepath.Join(dir, filepath.Dir(path))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, path))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	for _, d := range []string{folder, dir, filepath.Dir(dir)} {
		err = errors.Join(err, flush(d))
	}
	return err
}

// flush makes the names in a folder durable.
func flush(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// cause is an error of a file without its name.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

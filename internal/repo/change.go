package repo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/workspace"
)

// Bounds of what is delivered.
const (
	// MaxChanged is how many files may differ.
	MaxChanged = 2000
	// MaxPatch is how many bytes these may have, before or after, and the patch of them.
	MaxPatch = 20 << 20
	// maxDiffering is how many files are compared at all, those that are left out included.
	maxDiffering = 200_000
)

// Change is a file or a link that differs from the base. Old is nil for a new one, New for
// one that is gone.
type Change struct {
	Path     string
	Old, New *blob.Entry
}

// Delivery is what an agent made of a base.
type Delivery struct {
	// Changes are in the order of their paths.
	Changes []Change
	// LeftOut is what differs and is not delivered, and why.
	LeftOut []event.Skipped

	store blob.Store
}

// Trees are what a delivery is made of. Base is the commit's, or the folder's; Begun is what
// the agent's home began with, which is the same unless something was prepared in it; Home is
// what is recorded of the home last.
type Trees struct {
	Base, Begun, Home event.TreeRef
	// Tracked is what the repository has, if Base has more: what a .gitignore names is then
	// left out also if it was in Base and is not of the repository.
	Tracked *event.TreeRef
	// LeftOut is what the base was read without: nothing is delivered in the place of it.
	LeftOut []event.Skipped
}

// Deliver finds out what an agent changed. Paths that do not belong into a repository, what
// the base's .gitignore names and what was there before the agent began are left out.
func Deliver(ctx context.Context, store blob.Store, t Trees) (*Delivery, error) {
	d, err := Inspect(ctx, store, t)
	if err != nil {
		return nil, err
	}
	return d, d.fits()
}

// Inspect is Deliver of however much has changed.
func Inspect(ctx context.Context, store blob.Store, t Trees) (*Delivery, error) {
	d := &delivering{Delivery: &Delivery{store: store}, reader: newReader(store), trees: t, without: map[string]string{}}
	for _, s := range t.LeftOut {
		d.without[s.Path] = s.Reason
	}
	if err := d.compare(ctx, &t.Base, &t.Home, "", 1); err != nil {
		return nil, fmt.Errorf("compare the home with the base: %w", err)
	}
	if err := d.ignore(ctx); err != nil {
		return nil, fmt.Errorf("find what .gitignore names: %w", err)
	}
	byPath := func(a, b string) int { return strings.Compare(a, b) }
	slices.SortFunc(d.Changes, func(a, b Change) int { return byPath(a.Path, b.Path) })
	slices.SortFunc(d.LeftOut, func(a, b event.Skipped) int { return byPath(a.Path, b.Path) })
	return d.Delivery, nil
}

// Changes are all files and links in which two trees differ, in the order of their paths. Without
// a tree there is nothing.
func Changes(ctx context.Context, store blob.Store, before, after *event.TreeRef) ([]Change, error) {
	d := &delivering{Delivery: &Delivery{store: store}, reader: newReader(store), all: true}
	if before == after {
		return nil, nil
	}
	if err := d.compare(ctx, before, after, "", 1); err != nil {
		return nil, fmt.Errorf("compare trees: %w", err)
	}
	slices.SortFunc(d.Changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return d.Changes, nil
}

// Fits refuses what is too much to be taken over.
func (d *Delivery) Fits() error { return d.fits() }

type delivering struct {
	*Delivery
	*reader
	trees   Trees
	without map[string]string
	all     bool // nothing is left out
}

// compare goes through two folders, one of which may be absent.
func (d *delivering) compare(ctx context.Context, before, after *event.TreeRef, at string, depth int) error {
	if before != nil && after != nil && before.Hash == after.Hash {
		return nil
	}
	if depth > blob.MaxDepth {
		return &TooMuchError{fmt.Sprintf("there are more than %d folders in each other", blob.MaxDepth)}
	}
	names := map[string][2]*blob.Entry{}
	for side, ref := range []*event.TreeRef{before, after} {
		if ref == nil {
			continue
		}
		tree, err := d.tree(ctx, *ref)
		if err != nil {
			return err
		}
		for i := range tree {
			pair := names[tree[i].Name]
			pair[side] = &tree[i]
			names[tree[i].Name] = pair
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := path.Join(at, name)
		old, now := names[name][0], names[name][1]
		oldDir, nowDir := subtree(old), subtree(now)
		if oldDir != nil || nowDir != nil {
			if err := d.compare(ctx, oldDir, nowDir, p, depth+1); err != nil {
				return err
			}
		}
		if err := d.note(ctx, p, leaf(old), leaf(now)); err != nil {
			return err
		}
	}
	return nil
}

func subtree(e *blob.Entry) *event.TreeRef {
	if e == nil || e.Kind != blob.Dir {
		return nil
	}
	return new(event.TreeRef(e.Ref()))
}

func leaf(e *blob.Entry) *blob.Entry {
	if e == nil || e.Kind == blob.Dir {
		return nil
	}
	return e
}

// note takes a difference up, or says why not.
func (d *delivering) note(ctx context.Context, p string, old, now *blob.Entry) error {
	if old == nil && now == nil || old != nil && now != nil && *old == *now {
		return nil
	}
	if len(d.Changes)+len(d.LeftOut) >= maxDiffering {
		return &TooMuchError{fmt.Sprintf("more than %d files differ", maxDiffering)}
	}
	why, err := d.unfit(ctx, p, now)
	switch {
	case err != nil:
		return err
	case why != "":
		d.LeftOut = append(d.LeftOut, event.Skipped{Path: shown(p), Reason: why})
	default:
		d.Changes = append(d.Changes, Change{p, old, now})
	}
	return nil
}

// unfit says why something is not delivered.
func (d *delivering) unfit(ctx context.Context, p string, now *blob.Entry) (string, error) {
	if d.all {
		return "", nil
	}
	if why := workspace.Odd(p); why != "" {
		return why, nil
	}
	for at := p; at != "."; at = path.Dir(at) {
		if why := d.without[at]; why != "" {
			return "the base was read without " + at + ": " + why, nil
		}
	}
	if now != nil && now.Kind == blob.Link {
		var failed error
		out := leadsOut(p, now.Target, func(at string) bool {
			e, err := d.at(ctx, d.trees.Home, at)
			failed = cmp.Or(failed, err)
			return e != nil && e.Kind == blob.Link
		})
		if out || failed != nil {
			return "it is a link that leads out", failed
		}
	}
	if d.trees.Begun.Hash == d.trees.Base.Hash {
		return "", nil
	}
	begun, err := d.at(ctx, d.trees.Begun, p)
	if err != nil {
		return "", err
	}
	if begun = leaf(begun); begun == nil && now == nil || begun != nil && now != nil && *begun == *now {
		return "it was prepared before the agent began", nil
	}
	return "", nil
}

// ignore leaves out what is new and named by a .gitignore of the base. Which of them holds
// git says, in a folder of ours that has nothing but these files.
func (d *delivering) ignore(ctx context.Context) error {
	b, err := newBench("sha1")
	if err != nil {
		return err
	}
	defer b.Close()
	root, err := os.OpenRoot(b.path("work"))
	if err != nil {
		return err
	}
	defer root.Close()
	seen := map[string]bool{}
	rules := 0
	var fresh bytes.Buffer
	untracked := map[string]bool{}
	for _, c := range d.Changes {
		if known, err := d.known(ctx, c); err != nil {
			return err
		} else if known {
			continue
		}
		untracked[c.Path] = true
		fresh.WriteString("./" + c.Path + "\x00") // no sign at its beginning means anything
		for dir := path.Dir(c.Path); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			n, err := d.copyRules(ctx, root, dir)
			if err != nil {
				return err
			}
			rules += n
		}
	}
	if rules == 0 {
		return nil
	}
	g := b.git()
	g.work, g.dir, g.magic = b.path("work"), b.path("work"), true
	out, err := g.run(ctx, maxList, &fresh, "check-ignore", "-z", "--stdin", "--no-index")
	var failed *GitError
	if errors.As(err, &failed) && failed.Text == "" {
		return nil // it found none
	}
	if err != nil {
		return err
	}
	ignored := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		ignored[strings.TrimPrefix(name, "./")] = true
	}
	d.Changes = slices.DeleteFunc(d.Changes, func(c Change) bool {
		gone := untracked[c.Path] && ignored[c.Path]
		if gone {
			d.LeftOut = append(d.LeftOut, event.Skipped{Path: shown(c.Path), Reason: Ignored})
		}
		return gone
	})
	return nil
}

// Ignored is why something is left out that a .gitignore of the base names.
const Ignored = ".gitignore names it"

// known reports whether a file that has changed is one that the repository has.
func (d *delivering) known(ctx context.Context, c Change) (bool, error) {
	if c.Old == nil || d.trees.Tracked == nil {
		return c.Old != nil, nil
	}
	e, err := d.at(ctx, *d.trees.Tracked, c.Path)
	return leaf(e) != nil, err
}

// maxRules is how long a .gitignore may be.
const maxRules = 1 << 20

// copyRules writes the .gitignore that a folder of the base has.
func (d *delivering) copyRules(ctx context.Context, root *os.Root, dir string) (int, error) {
	name := path.Join(dir, ".gitignore")
	e, err := d.at(ctx, d.trees.Base, name)
	if err != nil || e == nil || e.Kind != blob.File || e.Size > maxRules {
		return 0, err
	}
	data, err := d.store().Get(ctx, e.Hash)
	if err == nil {
		err = root.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = root.WriteFile(name, data, 0o600)
	}
	return 1, err
}

func (d *delivering) store() blob.Store { return d.Delivery.store }

// TooMuchError says that more has changed than is delivered.
type TooMuchError struct{ What string }

func (e *TooMuchError) Error() string {
	return fmt.Sprintf("%s: at most %d files and %d MiB are delivered; have an agent remove what was only built, name it in the repository's .gitignore, or take the files from the agent's folder yourself", e.What, MaxChanged, MaxPatch>>20)
}

// fits refuses what is too much.
func (d *Delivery) fits() error {
	if n := len(d.Changes); n > MaxChanged {
		return &TooMuchError{fmt.Sprintf("%d files have changed, most of them in %s", n, d.crowded())}
	}
	var old, now int64
	largest := Change{}
	for _, c := range d.Changes {
		old, now = old+size(c.Old), now+size(c.New)
		if max(size(c.Old), size(c.New)) > max(size(largest.Old), size(largest.New)) {
			largest = c
		}
	}
	if old > MaxPatch || now > MaxPatch {
		return &TooMuchError{fmt.Sprintf("the files that have changed have %d MiB, the largest is %s", max(old, now)>>20, shown(largest.Path))}
	}
	return nil
}

// crowded is the folder at the top that most of the changes are in.
func (d *Delivery) crowded() string {
	count, most := map[string]int{}, ""
	for _, c := range d.Changes {
		top, _, _ := strings.Cut(c.Path, "/")
		if count[top]++; count[top] > count[most] {
			most = top
		}
	}
	return shown(most)
}

func size(e *blob.Entry) int64 {
	switch {
	case e == nil:
		return 0
	case e.Kind == blob.Link:
		return int64(len(e.Target))
	}
	return e.Size
}

// Text reads one side of a change, whole. One that has more than most bytes, is no file or no
// text is none.
func (d *Delivery) Text(ctx context.Context, e *blob.Entry, most int64) (text string, ok bool, err error) {
	if e == nil || e.Kind != blob.File || e.Size > most {
		return "", false, nil
	}
	data, err := d.store.Get(ctx, e.Hash)
	if err != nil {
		return "", false, err
	}
	return string(data), utf8.Valid(data) && !bytes.ContainsRune(data, 0), nil
}

// content reads a file or the target of a link.
func (d *Delivery) content(ctx context.Context, e *blob.Entry) (io.ReadCloser, error) {
	if e.Kind == blob.Link {
		return io.NopCloser(strings.NewReader(e.Target)), nil
	}
	return d.store.Open(ctx, e.Hash)
}

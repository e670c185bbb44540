package blob

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
)

// MaxDiff is how many changes Diff counts, and how many folders it reads. It bounds
// the work, for a few small trees that name each other many times over can stand for
// any number of files.
const MaxDiff = 100_000

// Diff tells two trees apart: which files, links and empty folders were added,
// changed and removed. It returns the first max changes, by the bytes of their paths,
// and how many more there are. Without a tree before, everything is added.
//
// It reads only folders that differ. A folder that was added or removed is listed by
// what is in it, or by itself, with a slash, if that is nothing. A file that became a
// folder was removed, and what is in the folder added; one that became a link has
// changed, as has one whose right to execute has.
//
// Counting ends at MaxDiff: more is then what was counted until there, and there may
// be more still.
func Diff(ctx context.Context, store Store, before *event.TreeRef, after event.TreeRef, max int) (changes []event.Change, more int64, err error) {
	d := &differ{ctx: ctx, store: store, max: max}
	if before == nil || *before != after {
		err = d.folders(before, &after, "", 1)
	}
	if err != nil && err != errEnough {
		return nil, 0, fmt.Errorf("compare trees: %w", err)
	}
	return d.changes, d.more, nil
}

// errEnough ends a comparison that has become too long.
var errEnough = fmt.Errorf("more than %d changes", MaxDiff)

type differ struct {
	ctx     context.Context
	store   Store
	max     int
	changes []event.Change
	more    int64
	read    int
}

// folders compares two folders, one of which may be absent. at is their path, empty or
// ending with a slash.
func (d *differ) folders(before, after *event.TreeRef, at string, depth int) error {
	if depth > MaxDepth {
		return fmt.Errorf("%s: more than %d folders in each other", quote(at), MaxDepth)
	}
	was, err := d.list(before)
	if err != nil {
		return err
	}
	is, err := d.list(after)
	if err != nil {
		return err
	}
	if at != "" && len(was)+len(is) == 0 {
		// One of them is absent, or they would be the same.
		if before == nil {
			return d.note(event.Added, at, 0)
		}
		return d.note(event.Removed, at, 0)
	}
	for len(was) > 0 || len(is) > 0 {
		var old, now *Entry
		order := 0
		switch {
		case len(was) == 0:
			order = 1
		case len(is) == 0:
			order = -1
		default:
			order = strings.Compare(key(was[0]), key(is[0]))
		}
		if order <= 0 {
			old, was = &was[0], was[1:]
		}
		if order >= 0 {
			now, is = &is[0], is[1:]
		}
		if err := d.entries(old, now, at, depth); err != nil {
			return err
		}
	}
	return nil
}

// entries compares what stands under one name, both folders or neither of them.
func (d *differ) entries(old, now *Entry, at string, depth int) error {
	switch {
	case old != nil && now != nil && *old == *now:
		return nil
	case old != nil && old.Kind == Dir || now != nil && now.Kind == Dir:
		either := old
		if old == nil {
			either = now
		}
		return d.folders(treeOf(old), treeOf(now), at+either.Name+"/", depth+1)
	case old == nil:
		return d.note(event.Added, at+now.Name, now.Size)
	case now == nil:
		return d.note(event.Removed, at+old.Name, old.Size)
	}
	return d.note(event.Changed, at+now.Name, now.Size)
}

func treeOf(e *Entry) *event.TreeRef {
	if e == nil {
		return nil
	}
	return &event.TreeRef{Hash: e.Hash, Size: e.Size}
}

func (d *differ) note(kind, path string, size int64) error {
	if int64(len(d.changes))+d.more >= MaxDiff {
		return errEnough
	}
	if len(d.changes) < d.max {
		d.changes = append(d.changes, event.Change{Kind: kind, Path: path, Size: size})
	} else {
		d.more++
	}
	return nil
}

// list returns what is in a folder, in the order of the paths below it.
func (d *differ) list(ref *event.TreeRef) (Tree, error) {
	if ref == nil {
		return nil, nil
	}
	if d.read++; d.read > MaxDiff {
		d.more++ // whatever is in there
		return nil, errEnough
	}
	t, err := ReadTree(d.ctx, d.store, *ref)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(t, func(a, b Entry) int { return strings.Compare(key(a), key(b)) })
	return t, nil
}

// key sorts names as the paths that they stand for: a.txt comes before what is in a,
// for a point comes before a slash. It also keeps a folder apart from a file of the
// same name.
func key(e Entry) string {
	if e.Kind == Dir {
		return e.Name + "/"
	}
	return e.Name
}

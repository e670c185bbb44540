package repo

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/event"
)

// Edited is a tree with changes made to it. Folders that have nothing left are gone, as git
// has it.
func Edited(ctx context.Context, store blob.Store, tree event.TreeRef, changes []Change) (event.TreeRef, error) {
	ref, err := edited(ctx, store, &tree, "", changes)
	if err == nil && ref == nil {
		var none event.Ref
		none, err = store.Put(ctx, emptyTree)
		ref = new(event.TreeRef(none))
	}
	if err != nil {
		return event.TreeRef{}, err
	}
	return *ref, nil
}

var emptyTree, _ = blob.Tree{}.Encode()

// edited makes changes whose paths are below at. It returns nil for what is empty.
func edited(ctx context.Context, store blob.Store, ref *event.TreeRef, at string, changes []Change) (*event.TreeRef, error) {
	entries := map[string]blob.Entry{}
	if ref != nil {
		tree, err := blob.ReadTree(ctx, store, *ref)
		if err != nil {
			return nil, err
		}
		for _, e := range tree {
			entries[e.Name] = e
		}
	}
	below := map[string][]Change{}
	for _, c := range changes {
		name, rest, deeper := strings.Cut(strings.TrimPrefix(c.Path[len(at):], "/"), "/")
		switch {
		case deeper && rest != "":
			below[name] = append(below[name], c)
		case c.New != nil:
			e := *c.New
			e.Name = name
			entries[name] = e
		case entries[name].Kind != blob.Dir: // a folder that came in the place of a file stays
			delete(entries, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(below)) {
		e, there := entries[name]
		if there && e.Kind != blob.Dir {
			if !slices.ContainsFunc(below[name], func(c Change) bool { return c.New != nil }) {
				continue // the folder is a file now, and took with it what was in it
			}
			there = false
		}
		var sub *event.TreeRef
		if there {
			sub = new(event.TreeRef(e.Ref()))
		}
		made, err := edited(ctx, store, sub, path.Join(at, name), below[name])
		if err != nil {
			return nil, err
		}
		if delete(entries, name); made != nil {
			entries[name] = blob.Entry{Name: name, Kind: blob.Dir, Hash: made.Hash, Size: made.Size}
		}
	}
	if len(entries) == 0 {
		return nil, nil
	}
	tree := blob.Tree(slices.SortedFunc(maps.Values(entries), func(a, b blob.Entry) int { return strings.Compare(a.Name, b.Name) }))
	data, err := tree.Encode()
	if err != nil {
		return nil, err
	}
	put, err := store.Put(ctx, data)
	return new(event.TreeRef(put)), err
}

// Part is what one worker made of a base.
type Part struct {
	Name string
	Tree event.TreeRef
}

// Merged is what several made of a base, put together.
type Merged struct {
	*Delivery
	// Conflicts are paths that cannot be as two of them have it.
	Conflicts []event.Skipped
}

// Merge puts together what parts changed of a base. A path that two changed differently is a
// conflict, and so are a file and a folder in the same place; same tells which paths some
// system takes for the same. Nothing is decided between them.
func Merge(ctx context.Context, store blob.Store, base event.TreeRef, parts []Part, same func(path string) string) (*Merged, error) {
	m := &Merged{Delivery: &Delivery{store: store}}
	by := map[string]string{}      // who changed a path
	all := map[string]Change{}     //
	names := map[string][]string{} // paths that are there, by what they are the same as
	for _, p := range parts {
		d := &delivering{Delivery: &Delivery{store: store}, reader: newReader(store), trees: Trees{Base: base, Begun: base, Home: p.Tree}, all: true}
		if err := d.compare(ctx, &base, &p.Tree, "", 1); err != nil {
			return nil, fmt.Errorf("compare what %s made with the base: %w", shown(p.Name), err)
		}
		for _, c := range d.Changes {
			if before, ok := all[c.Path]; ok {
				if !equal(before.New, c.New) {
					m.conflict(c.Path, by[c.Path], p.Name)
				}
				continue
			}
			all[c.Path], by[c.Path] = c, p.Name
			if c.New != nil {
				names[same(c.Path)] = append(names[same(c.Path)], c.Path)
			}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(all)) {
		if m.Changes = append(m.Changes, all[at]); all[at].New == nil {
			continue
		}
		for _, other := range names[same(at)] {
			if other < at && by[other] != by[at] {
				m.conflict(at, by[other], by[at])
			}
		}
		for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
			for _, file := range names[same(dir)] {
				if by[file] != by[at] {
					m.conflict(file, by[file], by[at])
				}
			}
		}
	}
	return m, nil
}

func (m *Merged) conflict(at, one, other string) {
	if !slices.ContainsFunc(m.Conflicts, func(s event.Skipped) bool { return s.Path == shown(at) }) {
		m.Conflicts = append(m.Conflicts, event.Skipped{Path: shown(at), Reason: fmt.Sprintf("%s and %s have made something different of it", shown(one), shown(other))})
	}
}

func equal(a, b *blob.Entry) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/blob"
)

// Patch is what git apply takes to make of the base what the agent made of it; empty if
// nothing differs. It is made by git from two trees, in a repository of ours that has no
// attributes, filters or settings but our own.
func (d *Delivery) Patch(ctx context.Context) ([]byte, error) {
	if len(d.Changes) == 0 {
		return nil, nil
	}
	patch, err := d.patch(ctx)
	if errors.Is(err, errTooLong) {
		return nil, &TooMuchError{"the patch is too long"}
	}
	if err != nil {
		return nil, fmt.Errorf("make the patch: %w", err)
	}
	return patch, nil
}

func (d *Delivery) patch(ctx context.Context) ([]byte, error) {
	b, err := newBench("sha1")
	if err != nil {
		return nil, err
	}
	defer b.close()
	p, err := newPacker(b.path("git/objects/pack"))
	if err != nil {
		return nil, err
	}
	defer p.close()
	var trees [2]id
	for side := range trees {
		top := newTwig()
		for _, c := range d.Changes {
			e := []*blob.Entry{c.Old, c.New}[side]
			if e == nil {
				continue
			}
			made, err := d.pack(ctx, p, e)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", shown(c.Path), err)
			}
			top.put(c.Path, made)
		}
		if trees[side], err = top.write(p); err != nil {
			return nil, err
		}
	}
	if _, err := p.finish(); err != nil {
		return nil, err
	}
	return b.git().run(ctx, MaxPatch, nil, "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv",
		"--diff-algorithm=myers", "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/", trees[0].String(), trees[1].String())
}

func (d *Delivery) pack(ctx context.Context, p *packer, e *blob.Entry) (gitEntry, error) {
	in, err := d.content(ctx, e)
	if err != nil {
		return gitEntry{}, err
	}
	defer in.Close()
	made := gitEntry{mode: gitMode(*e)}
	made.id, err = p.add(blobObject, size(e), in)
	return made, err
}

// twig is a folder of a tree that holds nothing but what has changed.
type twig struct {
	files   []gitEntry
	folders map[string]*twig
}

func newTwig() *twig { return &twig{folders: map[string]*twig{}} }

func (t *twig) put(at string, e gitEntry) {
	first, rest, below := strings.Cut(at, "/")
	if !below {
		e.name = first
		t.files = append(t.files, e)
		return
	}
	if t.folders[first] == nil {
		t.folders[first] = newTwig()
	}
	t.folders[first].put(rest, e)
}

func (t *twig) write(p *packer) (id, error) {
	entries := slices.Clone(t.files)
	for _, name := range slices.Sorted(maps.Keys(t.folders)) {
		sub, err := t.folders[name].write(p)
		if err != nil {
			return id{}, err
		}
		entries = append(entries, gitEntry{name, modeFolder, sub})
	}
	return p.tree(entries)
}

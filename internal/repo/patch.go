package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/blob"
)

// Patch is what git apply takes to make of the base what the agent made of it; empty if
// nothing differs. It is made by git from two trees, in a repository of ours that has no
// attributes, filters or settings but our own.
func (d *Delivery) Patch(ctx context.Context) ([]byte, error) {
	patch, _, err := d.making(ctx, false)
	return patch, err
}

// Lines are how many lines of a file came and went. A file that is no text has none.
type Lines struct{ Added, Removed int64 }

// Proven is Patch, and how many lines changed in which file. The patch has been applied to
// the files as they were, and gave those that are there now.
func (d *Delivery) Proven(ctx context.Context) ([]byte, map[string]Lines, error) {
	return d.making(ctx, true)
}

func (d *Delivery) making(ctx context.Context, prove bool) ([]byte, map[string]Lines, error) {
	if len(d.Changes) == 0 {
		return nil, nil, nil
	}
	patch, lines, err := d.patch(ctx, prove)
	if errors.Is(err, errTooLong) {
		return nil, nil, &TooMuchError{"the patch is too long"}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("make the patch: %w", err)
	}
	return patch, lines, nil
}

func (d *Delivery) patch(ctx context.Context, prove bool) ([]byte, map[string]Lines, error) {
	b, err := newBench("sha1")
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	trees, err := d.sides(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	options := []string{"--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--diff-algorithm=myers", trees[0].String(), trees[1].String()}
	patch, err := b.git().run(ctx, MaxPatch, nil, append([]string{"diff-tree", "-r", "-p", "--binary", "--full-index",
		"--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/"}, options...)...)
	if err != nil || !prove {
		return patch, nil, err
	}
	if err := b.applies(ctx, trees, patch); err != nil {
		return nil, nil, err
	}
	stat, err := b.git().run(ctx, maxList, nil, append([]string{"diff-tree", "-r", "-z", "--numstat"}, options...)...)
	return patch, linesOf(stat), err
}

// sides writes the files that have changed as two trees of git, before and after.
func (d *Delivery) sides(ctx context.Context, b *bench) (trees [2]id, err error) {
	f, err := os.Create(b.path("git/objects/pack/new.pack"))
	if err != nil {
		return trees, err
	}
	defer f.Close()
	p, err := newPacker(f)
	if err != nil {
		return trees, err
	}
	for side := range trees {
		top := newTwig()
		for _, c := range d.Changes {
			e := []*blob.Entry{c.Old, c.New}[side]
			if e == nil {
				continue
			}
			made, err := d.pack(ctx, p, e)
			if err != nil {
				return trees, fmt.Errorf("%s: %w", shown(c.Path), err)
			}
			top.put(c.Path, made)
		}
		if trees[side], err = top.write(p); err != nil {
			return trees, err
		}
	}
	name, index, err := p.finish()
	if err != nil {
		return trees, err
	}
	name = b.path("git/objects/pack/" + name)
	return trees, errors.Join(os.WriteFile(name+".idx", index, 0o444), os.Rename(f.Name(), name+".pack"))
}

// applies has git apply a patch to the first tree, in an index of ours, and write what it
// gave: that must be the second.
func (b *bench) applies(ctx context.Context, trees [2]id, patch []byte) error {
	g := b.git()
	g.index = b.path("proof")
	if _, err := g.run(ctx, maxList, nil, "read-tree", trees[0].String()); err != nil {
		return err
	}
	if _, err := g.run(ctx, maxList, bytes.NewReader(patch), "apply", "--cached", "--whitespace=nowarn", "-"); err != nil {
		return fmt.Errorf("the patch does not apply to the base: %w", err)
	}
	made, err := g.run(ctx, maxList, nil, "write-tree")
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(string(made)); got != trees[1].String() {
		return fmt.Errorf("the patch makes the tree %s of the base, and not %s", got, trees[1])
	}
	return nil
}

// linesOf reads what git diff-tree --numstat -z writes: lines that came, lines that went,
// the path.
func linesOf(stat []byte) map[string]Lines {
	all := map[string]Lines{}
	for line := range strings.SplitSeq(string(stat), "\x00") {
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 {
			continue
		}
		added, _ := strconv.ParseInt(f[0], 10, 64) // a binary file has a sign there
		removed, _ := strconv.ParseInt(f[1], 10, 64)
		all[f[2]] = Lines{added, removed}
	}
	return all
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

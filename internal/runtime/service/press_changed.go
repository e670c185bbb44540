package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
)

// changedPapers returns the files of papers that are not as the ledger says, and those
// that it does not know of. What is not there has yet to be written, unless it is certain
// that it was: papers are written in their order, and all of them before the summary of a
// quest that has ended. Where a paper's text is, everything else is, too. A text from
// before the decision is no lie: a process that was killed did not come to write the new
// one.
func changedPapers(ctx context.Context, q *runtime.Quest) (out []string, err error) {
	running, err := q.Ledger.Claimed(q.Key)
	if err != nil {
		return nil, err
	}
	p := &press{q: q}
	library := lab.Library(q.State)
	for _, x := range library.Papers {
		if running && x.Decided == 0 {
			continue // whoever runs the quest may be writing it now
		}
		changed, err := p.changed(ctx, x)
		if err != nil {
			return nil, fmt.Errorf("look at the folder of publication %s: %w", x.Ref, err)
		}
		out = append(out, changed...)
	}
	if running {
		return out, nil
	}
	removed, err := p.removed(ctx, library.Papers)
	if err != nil {
		return nil, err
	}
	out = append(out, removed...)
	folders, err := os.ReadDir(filepath.Join(q.QuestDir(q.Key), "publications"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, f := range folders {
		if library.Paper(f.Name()) == nil {
			out = append(out, filepath.Join(q.QuestDir(q.Key), "publications", f.Name()))
		}
	}
	return out, nil
}

// removed returns the folders of papers that were written and are not there any more.
func (p *press) removed(ctx context.Context, papers []*paper.Paper) (out []string, err error) {
	written, err := p.q.Summarised(ctx)
	if err != nil {
		return nil, err
	}
	for _, x := range slices.Backward(papers) {
		_, err := os.Lstat(filepath.Join(p.folder(x), paper.FilePaper))
		switch {
		case err == nil:
			written = true
		case written && errors.Is(err, os.ErrNotExist):
			out = append(out, p.folder(x))
		}
	}
	slices.Reverse(out)
	return out, nil
}

// changed returns the files of a paper's folder that are not what the press would
// write.
func (p *press) changed(ctx context.Context, x *paper.Paper) (out []string, err error) {
	want, err := p.wanted(ctx, x)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(p.folder(x))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Lstat(paper.FilePaper); errors.Is(err, os.ErrNotExist) {
		return nil, nil // it was about to be written
	}
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if strings.HasPrefix(f.Name(), ".new-") && want[f.Name()] == nil {
			continue // a killed process had begun to write it
		}
		h, err := hashFile(root, f)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(want[f.Name()], h) {
			out = append(out, filepath.Join(p.folder(x), f.Name()))
		}
	}
	return out, nil
}

// wanted are the hashes that the files of a paper's folder may have. Only its text is
// ever written again: when it is decided, and when its program has been run. Reviews may
// stand as an earlier release wrote them.
func (p *press) wanted(ctx context.Context, x *paper.Paper) (map[string][]event.Hash, error) {
	out := map[string][]event.Hash{}
	if x.Tree != nil {
		tree, err := blob.ReadTree(ctx, p.q.Blobs, *x.Tree)
		if err != nil {
			return nil, err
		}
		for _, e := range tree {
			out[e.Name] = []event.Hash{e.Hash}
		}
	}
	early := x.Clone()
	early.Status, early.Decided = event.Submitted, 0
	untried := early.Clone()
	untried.Reproduction = nil
	earlier := &press{q: p.q, asIs: true}
	for _, version := range []struct {
		by *press
		of *paper.Paper
	}{{p, x}, {p, early}, {p, untried}, {earlier, x}} {
		files, err := version.by.files(ctx, version.of)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			out[f.Name] = append(out[f.Name], event.HashOf(f.Data))
		}
	}
	return out, nil
}

// hashFile is the hash of a plain file; of anything else, none.
func hashFile(root *os.Root, e fs.DirEntry) (out event.Hash, err error) {
	if !e.Type().IsRegular() {
		return out, nil
	}
	f, err := root.Open(e.Name())
	if err != nil {
		return out, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return event.Hash(h.Sum(nil)), err
}

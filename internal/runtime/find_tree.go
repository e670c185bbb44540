package runtime

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/search"
)

// What is looked through of a tree: files of at most so many bytes, and so many of both
// together.
const (
	maxSought      = 1 << 20
	maxSoughtAll   = 128 << 20
	maxSoughtFiles = 50_000
)

// treeTexts are the trees that were looked through, the last one ready to be looked through
// again. mu guards it.
type treeTexts struct {
	mu    sync.Mutex
	tree  event.TreeRef
	index *search.Index
}

// findFiles tells where files of a tree have what is sought.
func (l *live) findFiles(ctx context.Context, f *quest.Finding) (string, error) {
	if f.Tree == nil {
		return "", nil
	}
	index, err := l.trees.of(ctx, l.rt.Blobs, *f.Tree)
	if err != nil {
		return "", err
	}
	hits, err := index.Search(ctx, f.Query, max(100, 10*f.Limit))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, h := range hits {
		if seen[h.Doc] || len(seen) == f.Limit {
			continue
		}
		seen[h.Doc] = true
		snippet := event.Cut(strings.Join(strings.Fields(h.Snippet), " "), maxSnippet)
		fmt.Fprintf(&b, "\n- %s\n  %q", plain.Quoted(h.Doc, 300), Clean(snippet))
	}
	return b.String(), nil
}

// of is the index of a tree's texts.
func (t *treeTexts) of(ctx context.Context, store blob.Store, tree event.TreeRef) (*search.Index, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.index != nil && t.tree == tree {
		return t.index, nil
	}
	r := &treeReader{store: store, left: maxSoughtAll}
	if err := r.folder(ctx, tree, "", 1); err != nil {
		return nil, err
	}
	t.tree, t.index = tree, search.NewIndex(r.docs)
	return t.index, nil
}

type treeReader struct {
	store blob.Store
	docs  []search.Document
	left  int64
}

func (r *treeReader) folder(ctx context.Context, ref event.TreeRef, at string, depth int) error {
	if depth > blob.MaxDepth {
		return nil
	}
	tree, err := blob.ReadTree(ctx, r.store, ref)
	if err != nil {
		return err
	}
	for _, e := range tree {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Join(at, e.Name)
		switch {
		case e.Kind == blob.Dir:
			err = r.folder(ctx, event.TreeRef(e.Ref()), name, depth+1)
		case e.Kind == blob.File && e.Size <= min(maxSought, r.left) && len(r.docs) < maxSoughtFiles:
			err = r.file(ctx, e, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *treeReader) file(ctx context.Context, e blob.Entry, name string) error {
	in, err := r.store.Open(ctx, e.Hash)
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxSought+1))
	if err != nil {
		return err
	}
	if len(data) > maxSought || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return nil // it is no text
	}
	r.left -= int64(len(data))
	paragraphs := append([]string{name}, search.Paragraphs(event.Cut(string(data), maxLooked), true)...)
	r.docs = append(r.docs, search.Document{ID: name, Title: name, Paragraphs: paragraphs})
	return nil
}

// recall is an event as it stands in the ledger.
func (l *live) recall(ctx context.Context, d *quest.Delivery) (string, error) {
	for e, err := range l.rt.Ledger.Read(ctx, l.key, d.Event) {
		if err != nil {
			return "", err
		}
		if e.Seq != d.Event {
			break
		}
		return d.Said + Clean(string(e.Line())), nil
	}
	return "", fmt.Errorf("there is no event %d", d.Event)
}

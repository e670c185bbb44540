package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/repo"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/stages/bundle"
)

// bundled looks at a paper that was made: its text and its references are those of the branch, its
// figures are those that are told of, and what is said of numbers, references and sections follows
// from them. Its pages may be those of an earlier version of this program.
func (w *resultWitness) bundled(ctx context.Context, call, result event.Event) (*audit.Difference, error) {
	b, r := call.Body.(*event.BundleCall), result.Body.(*event.BundleResult)
	if r.Tree == nil {
		return nil, nil
	}
	if len(r.Figures) > 0 {
		w.note(result, "verify --execute makes its figures again")
	}
	differs := func(format string, args ...any) (*audit.Difference, error) {
		return &audit.Difference{Seq: result.Seq, What: fmt.Sprintf(format, args...)}, nil
	}
	src := bundle.Source{Title: b.Title, Claims: b.Claims}
	for _, x := range []struct {
		from, to string
		data     *[]byte
	}{{b.Source, bundle.FileMarkdown, &src.Markdown}, {b.Bibliography, bundle.FileReferences, &src.Bibliography}} {
		if x.from == "" {
			continue
		}
		data, what, err := w.same(ctx, b.Tree, x.from, *r.Tree, x.to)
		if err != nil || what != "" {
			return differs("%s of the paper: %s", x.to, what)
		}
		*x.data = data
	}
	for i, f := range b.Figures {
		made, what := w.figure(ctx, f, r, i)
		if what != "" {
			return differs("the figure %s: %s", f.ID, what)
		}
		src.Figures = append(src.Figures, made)
	}
	var err error
	if src.Outputs, err = printedBy(ctx, w.rt, b); err != nil {
		return differs("%v", err)
	}
	p, err := bundle.Make(src)
	if err != nil {
		return differs("a paper cannot be made of what it was made of: %v", err)
	}
	again := *r
	if err := tell(&again, p); err != nil {
		return nil, err
	}
	// Cards of papers are known to the study alone; their ids are no keys that anybody writes.
	again.Unknown = slices.DeleteFunc(slices.Clone(again.Unknown), func(key string) bool { return isCard(key) && !slices.Contains(r.Unknown, key) })
	for _, x := range []struct {
		what      string
		then, now any
		same      bool
	}{
		{"numbers", r.Numbers, again.Numbers, slices.Equal(r.Numbers, again.Numbers)},
		{"references", r.References, again.References, slices.Equal(r.References, again.References)},
		{"unknown references", r.Unknown, again.Unknown, slices.Equal(r.Unknown, again.Unknown)},
		{"results that it names", r.Named, again.Named, slices.Equal(r.Named, again.Named)},
		{"sections", r.Sections, again.Sections, slices.Equal(r.Sections, again.Sections)},
	} {
		if !x.same {
			return &audit.Difference{Seq: result.Seq, What: "the paper has other " + x.what, Recorded: fmt.Sprint(x.then), Computed: fmt.Sprint(x.now)}, nil
		}
	}
	return nil, nil
}

// isCard reports whether a key is the id of a card.
func isCard(key string) bool {
	if len(key) != 32 {
		return false
	}
	for i := range len(key) {
		if c := key[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// same compares a file of a branch with that of a bundle; what says how they differ.
func (w *resultWitness) same(ctx context.Context, branch event.TreeRef, from string, tree event.TreeRef, to string) (data []byte, what string, err error) {
	x, err := repo.At(ctx, w.rt.Blobs, branch, from)
	if err != nil {
		return nil, err.Error(), err
	}
	y, err := repo.At(ctx, w.rt.Blobs, tree, to)
	switch {
	case err != nil:
		return nil, err.Error(), err
	case x == nil || y == nil || x.Kind != blob.File || x.Hash != y.Hash:
		return nil, "it is not the file of the branch", nil
	}
	data, err = w.rt.Blobs.Get(ctx, y.Hash)
	if err != nil {
		return nil, err.Error(), err
	}
	return data, "", nil
}

// figure is one that was recorded; what says what is not so of it.
func (w *resultWitness) figure(ctx context.Context, f event.BundleFigure, r *event.BundleResult, i int) (out bundle.Figure, what string) {
	if i >= len(r.Figures) || r.Figures[i].ID != f.ID {
		return out, "nothing is told of it"
	}
	m := r.Figures[i]
	out = bundle.Figure{BundleFigure: f, Verdict: m.Verdict, Why: m.Why}
	e, err := repo.At(ctx, w.rt.Blobs, *r.Tree, out.File())
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return out, err.Error()
	case m.File == nil && (e != nil || m.Verdict == bundle.Same):
		return out, "there is a file of it, or none, and it says otherwise"
	case m.File == nil:
		return out, ""
	case e == nil || e.Ref() != *m.File:
		return out, "the bundle has another file"
	}
	if out.Data, err = w.rt.Blobs.Get(ctx, e.Hash); err != nil {
		return out, err.Error()
	}
	return out, ""
}

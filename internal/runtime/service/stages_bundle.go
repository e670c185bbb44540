package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/bundle"
	"lyceum/internal/society/stages/study"
)

// bundles answers bundle.call: it has the figures of a paper made by their programs, makes the
// paper of its text, and sets it where the computer has TeX. What is wrong with a paper is told
// to whoever wrote it; what cannot be made is said, and the rest is made all the same.
type bundles struct {
	q *runtime.Quest
	// engines are the programs that set LaTeX, the best first.
	engines []engine
}

// Start implements runtime.Service.
func (s *bundles) Start(e event.Event) (runtime.Work, error) {
	b, x := e.Body.(*event.BundleCall), &bundling{q: s.q, seq: e.Seq, engines: s.engines}
	if m := stages.Of(s.q.State); m != nil {
		x.cards, x.language = paperCards(m.Study), m.Settings.Locale
	}
	return func(ctx context.Context) ([]event.Draft, error) {
		r, blobs, err := x.make(runtime.Refusable(ctx), b)
		why, full := runtime.NoRoom(err)
		refused, no := errors.AsType[*refusal](err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case full:
			r, blobs = &event.BundleResult{Error: "there is no room to keep it: " + why}, nil
		case no:
			r, blobs = &event.BundleResult{Error: runtime.AtMost(s.q.Redact(refused.Error()), 1000)}, nil
		case err != nil:
			return nil, fmt.Errorf("bundle.call %d: %w", e.Seq, err)
		}
		r.Call = e.Seq
		d := s.q.Result(e.Seq, "core", r)
		d.Blobs = blobs
		return []event.Draft{d}, nil
	}, nil
}

// paperCards are the titles of a study's cards of papers, by id.
func paperCards(s *study.Study) map[string]string {
	out := map[string]string{}
	for _, c := range s.Cards {
		if c.Kind == study.Papers {
			out[c.ID] = c.Title
		}
	}
	return out
}

// bundling is a bundle that is being made.
type bundling struct {
	q       *runtime.Quest
	seq     uint64
	engines []engine
	// patience is how long TeX may take; 0 is maxTeX.
	patience time.Duration
	cards    map[string]string
	language string
	// fingerprint is that of the last computer that made a figure.
	fingerprint event.Hash
}

func (x *bundling) make(ctx context.Context, b *event.BundleCall) (*event.BundleResult, [][]byte, error) {
	src, err := x.source(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	r := &event.BundleResult{}
	for i, f := range b.Figures {
		made, err := x.figure(ctx, i, b.Tree, f)
		if err != nil {
			return nil, nil, err
		}
		src.Figures = append(src.Figures, made)
		told := event.FigureMade{ID: f.ID, Verdict: made.Verdict, Why: made.Why}
		if made.Data != nil {
			told.File = new(event.RefOf(made.Data))
		}
		r.Figures = append(r.Figures, told)
	}
	r.Fingerprint = x.fingerprint
	p, err := bundle.Make(*src)
	if err != nil {
		return nil, nil, refuse("%v", err)
	}
	files := p.Files
	pdf, err := x.typeset(ctx, files, r)
	if err != nil {
		return nil, nil, err
	}
	if pdf != nil {
		files = append(files, bundle.File{Path: bundle.FilePDF, Data: pdf})
	}
	tree, err := keepTree(ctx, x.q.Blobs, files)
	if err != nil {
		return nil, nil, err
	}
	r.Tree = &tree
	for _, f := range files {
		r.Files = append(r.Files, f.Path)
	}
	slices.Sort(r.Files)
	told := x.q.Redact(p.Text)
	if len(told) > event.MaxPaper { // what stands for a key may be longer than the key
		return nil, nil, refuse("the paper has %d bytes without the keys in it, and may have %d", len(told), event.MaxPaper)
	}
	text, blobs, err := x.q.Keep(ctx, []byte(told))
	if err != nil {
		return nil, nil, err
	}
	r.Text = &event.Text{Ref: &text}
	return r, blobs, tell(r, p)
}

// tell puts what is to be known of a paper into its result, as much as an event holds. Numbers
// that follow from nothing are told before those that do.
func tell(r *event.BundleResult, p *bundle.Paper) error {
	r.Numbers, r.References, r.Unknown = slices.Clone(p.Numbers), p.References, p.Unknown
	r.Sections, r.Named = p.Sections, p.Named
	traced := func() bool {
		n, left := 0, 0
		for _, x := range r.Numbers {
			if x.Result != "" {
				n++
			}
		}
		r.Numbers = slices.DeleteFunc(r.Numbers, func(x event.NumberTraced) bool {
			if x.Result == "" {
				return false
			}
			left++
			return left > n/2
		})
		return n > 0
	}
	const least = 8
	return fit(r, traced, half(&r.Sections, least*4, nil), half(&r.References, least, nil), half(&r.Numbers, least*4, nil),
		half(&r.Sections, least, nil), half(&r.Unknown, least, nil), half(&r.Numbers, 1, nil))
}

// source reads what a paper is made of, but for its figures.
func (x *bundling) source(ctx context.Context, b *event.BundleCall) (*bundle.Source, error) {
	src := &bundle.Source{Title: b.Title, Language: x.language, Claims: b.Claims, Cards: x.cards}
	var err error
	if src.Markdown, err = x.file(ctx, b, b.Source, bundle.MaxText); err != nil {
		return nil, err
	}
	if b.Bibliography != "" {
		if src.Bibliography, err = x.file(ctx, b, b.Bibliography, bundle.MaxBibliography); err != nil {
			return nil, err
		}
	}
	if len(b.Figures) > bundle.MaxFigures {
		return nil, refuse("there are %d figures, and a paper may have %d", len(b.Figures), bundle.MaxFigures)
	}
	src.Outputs, err = printedBy(ctx, x.q.Runtime, b)
	return src, err
}

// printedBy are the results of a paper with what their programs printed.
func printedBy(ctx context.Context, rt *runtime.Runtime, b *event.BundleCall) (out []bundle.Output, err error) {
	for _, o := range b.Outputs {
		text := ""
		if o.Output != nil {
			data, err := rt.Blob(ctx, *o.Output)
			if err != nil {
				return nil, fmt.Errorf("read what %s printed: %w", o.Result, err)
			}
			if len(data) > bundle.MaxOutput {
				data = slices.Concat(data[:bundle.MaxOutput/2], []byte("\n"), data[len(data)-bundle.MaxOutput/2+1:])
			}
			text = runtime.Clean(string(data))
		}
		out = append(out, bundle.Output{BundleOutput: o, Text: text})
	}
	return out, nil
}

// file is one of the paper's branch.
func (x *bundling) file(ctx context.Context, b *event.BundleCall, name string, most int64) ([]byte, error) {
	e, err := repo.At(ctx, x.q.Blobs, b.Tree, strings.TrimPrefix(name, "./"))
	switch {
	case err != nil:
		return nil, err
	case e == nil || e.Kind != blob.File:
		return nil, refuse("there is no file %.200q in the last checkpoint of %s; links are not followed", name, b.Branch)
	case e.Size > most:
		return nil, refuse("%.200q has %d bytes, and may have %d", name, e.Size, most)
	}
	return x.q.Blobs.Get(ctx, e.Hash)
}

// keepTree keeps files as a tree. They stand at most one folder deep.
func keepTree(ctx context.Context, store blob.Store, files []bundle.File) (event.TreeRef, error) {
	below := map[string]blob.Tree{}
	for _, f := range files {
		ref, err := store.Put(ctx, f.Data)
		if err != nil {
			return event.TreeRef{}, err
		}
		dir, name, deep := strings.Cut(f.Path, "/")
		if !deep {
			dir, name = "", f.Path
		}
		below[dir] = append(below[dir], blob.Entry{Name: name, Kind: blob.File, Mode: blob.ModePlain, Hash: ref.Hash, Size: ref.Size})
	}
	put := func(t blob.Tree) (event.Ref, error) {
		slices.SortFunc(t, func(a, b blob.Entry) int { return cmp.Compare(a.Name, b.Name) })
		data, err := t.Encode()
		if err != nil {
			return event.Ref{}, err
		}
		return store.Put(ctx, data)
	}
	top := below[""]
	for dir, t := range below {
		if dir == "" {
			continue
		}
		ref, err := put(t)
		if err != nil {
			return event.TreeRef{}, err
		}
		top = append(top, blob.Entry{Name: dir, Kind: blob.Dir, Hash: ref.Hash, Size: ref.Size})
	}
	ref, err := put(top)
	return event.TreeRef(ref), err
}

package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lyceum/internal/browser"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/search"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"

	json "github.com/go-json-experiment/json"
)

// SearchOf answers calls for a search of these documents as the workshop of a contract
// net does.
func SearchOf(docs []search.Document, e search.Embedder) func(context.Context, *event.SearchCall) (*event.SearchResult, error) {
	c := &corpus{rt: &runtime.Runtime{Embedder: e}, docs: docs, read: true}
	return func(ctx context.Context, b *event.SearchCall) (*event.SearchResult, error) {
		return c.search(ctx, b, e.Name())
	}
}

// AcceptOf runs acceptance commands on a tree as the workshop of an architect does.
func AcceptOf(ctx context.Context, q *runtime.Quest, seq uint64, b *event.AcceptanceCall) (*event.TestReport, error) {
	return accept(ctx, q, seq, b, q.Restored(ctx, &b.Tree))
}

// OpenGit opens a repository in a folder with a git that may take so long.
func OpenGit(ctx context.Context, dir string, patience time.Duration) error {
	was := gitPatience
	gitPatience = patience
	defer func() { gitPatience = was }()
	r, err := openRepository(ctx, dir, true)
	return errors.Join(err, r.close())
}

// ReproduceOf runs an entry point as the workshops of labs and studies do.
func ReproduceOf(ctx context.Context, q *runtime.Quest, seq uint64, b *event.ReproductionCall) (*event.ReproductionResult, error) {
	return reproduce(ctx, q, seq, b)
}

// BundleOf makes a paper as the workshop of studies does, with such programs for TeX that may take so long.
func BundleOf(ctx context.Context, q *runtime.Quest, seq uint64, b *event.BundleCall, tex [][]string, patience time.Duration) (*event.BundleResult, error) {
	x := &bundling{q: q, seq: seq, patience: patience}
	for _, e := range tex {
		x.engines = append(x.engines, engine(e))
	}
	r, blobs, err := x.make(ctx, b)
	for _, data := range blobs {
		if _, err := q.Blobs.Put(ctx, data); err != nil {
			return nil, err
		}
	}
	return r, err
}

// Engines are the programs that set LaTeX.
func Engines() (out [][]string) {
	for _, e := range engines {
		out = append(out, e)
	}
	return out
}

// WorldBench is the workshop of a world with such settings. Without see it has the browser of
// the computer, otherwise see is the browser.
type WorldBench struct{ w *worldBench }

// WorldOf makes one.
func WorldOf(q *runtime.Quest, set world.Settings, see func(browser.Visit) (*browser.Seen, error)) WorldBench {
	w := World{}.bench(q)
	w.set = set
	if see != nil {
		w.launch = func(context.Context, *computer.Computer) (visitor, error) { return seer(see), nil }
	}
	return WorldBench{w}
}

type seer func(browser.Visit) (*browser.Seen, error)

func (s seer) Visit(_ context.Context, v browser.Visit) (*browser.Seen, error) { return s(v) }
func (s seer) Version() string                                                 { return "a fake" }
func (s seer) Close() error                                                    { return nil }

// WithoutBrowser has none in its computers.
func (b WorldBench) WithoutBrowser() WorldBench {
	b.w.launch = func(context.Context, *computer.Computer) (visitor, error) {
		return nil, fmt.Errorf("%w: install chromium", browser.ErrUnavailable)
	}
	return b
}

// Answer answers a call.
func (b WorldBench) Answer(ctx context.Context, seq uint64, call event.Body) (event.Body, error) {
	s := b.w.Services()[call.Type()]
	work, err := s.Start(event.Event{Seq: seq, Body: call})
	if err != nil {
		return nil, err
	}
	ds, err := work(ctx)
	if err != nil {
		return nil, err
	}
	return ds[0].Body, nil
}

// Again runs a call again as verify --execute does, and compares it with a result.
func (b WorldBench) Again(ctx context.Context, seq uint64, call, result event.Body) (audit.Executed, error) {
	return b.w.again(ctx, &audit.Place{Quest: b.w.q}, event.Event{Seq: seq, Body: call}, event.Event{Body: result}, audit.Executed{})
}

// Forged has a result say what such runs come to, as somebody would who forges a ledger with care.
func (b WorldBench) Forged(ctx context.Context, call *event.AnalysisCall, r *event.AnalysisResult, change func(story, run int, s *trial.Sight, end *string)) error {
	data, err := b.w.q.Blob(ctx, *r.Runs)
	if err != nil {
		return err
	}
	var runs []storyRuns
	if err := json.Unmarshal(data, &runs); err != nil {
		return err
	}
	for i := range runs {
		for n := range runs[i].Runs {
			change(i, n, &runs[i].Runs[n].Sight, &runs[i].Runs[n].End)
		}
		if b.w.set.Kind != trial.Program && passes(b.w.told3(call)[i], runs[i].Runs) && runs[i].Still == nil {
			runs[i].Still = &storyRun{End: trial.Done}
		}
	}
	if data, err = json.Marshal(runs); err != nil {
		return err
	}
	ref, err := b.w.q.Blobs.Put(ctx, data)
	if err != nil {
		return err
	}
	r.Runs = &ref
	stories, verdict := judgedStories(b.w.set.Kind, b.w.told3(call), runs)
	r.Stories, r.Verdict = stories, verdict
	return nil
}

package service

import (
	"context"
	"errors"
	"maps"
	"path/filepath"

	"lyceum/internal/arxiv"
	"lyceum/internal/connector"
	"lyceum/internal/event"
	"lyceum/internal/memory"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/stages"
)

// Stages is the workshop of a study: it keeps the home's cards and baselines, records lines of
// work, runs results again, and writes the folder.
type Stages struct {
	// Papers is where papers are looked for outside; nil for arXiv.
	Papers Library
}

// Library is a place outside that has papers.
type Library interface {
	// Search returns papers that fit words. An error is in words for an agent.
	Search(ctx context.Context, words string, limit int) ([]arxiv.Paper, error)
}

// Open implements runtime.Workshop.
func (s Stages) Open(ctx context.Context, q *runtime.Quest) (runtime.Bench, error) {
	b := &stagesBench{q: q, services: resultServices(q)}
	maps.Copy(b.services, branchServices(q))
	b.services["card.call"] = &cards{q, memory.Open(q.Home)}
	b.services["files.call"] = &copies{q}
	b.services["report.call"] = &reports{q}
	b.services["literature.call"] = &literature{q, s.Papers}
	if s.Papers == nil {
		b.services["literature.call"] = &literature{q, &arxiv.Client{}}
	}
	b.services["delivery.call"] = &deliveries{q, connector.Box{Notes: q.Ledger, Clock: q.Clock}}
	if m := stages.Of(q.State); m != nil {
		b.ctx, b.pages = context.WithoutCancel(ctx), newPages(q)
		if err := b.pages.write(ctx); err != nil {
			return nil, err
		}
		b.archive = startArchive(ctx, q, m.Study)
	}
	return b, nil
}

// Looks implements audit.Witness.
func (w *resultWitness) Looks() map[event.Type]audit.Look {
	return map[event.Type]audit.Look{
		"reproduction.call": {Find: w.run},
		"baseline.call":     {Find: w.brought},
		"checkpoint.call":   {Find: w.holds},
		"bundle.call":       {Find: w.bundled},
		"folder.call":       {Nothing: "that files came into a home, nobody sees but in what is recorded of it later"},
		"files.call":        {Nothing: "that files came into a home, nobody sees but in what is recorded of it later"},
		"card.call":         {Nothing: "the memory of the home is another by now"},
		"report.call":       {Nothing: "a person's PDF is read by a program of this machine"},
		"literature.call":   {Nothing: "libraries outside say what they know today"},
		"delivery.call":     {Nothing: "what a connector delivered, its service alone knows"},
	}
}

// Make implements runtime.Maker: it pins the corpus in which papers are looked for.
func (Stages) Make(ctx context.Context, c *runtime.Creation, b *event.QuestCreated) error {
	name := stages.Corpus(c.Spec())
	if name == "" {
		return nil
	}
	tree, skipped, err := c.Folder(ctx, "corpus", name)
	if err != nil {
		return err
	}
	for _, s := range skipped {
		c.Say("corpus: %s is left out: %s", filepath.Join(name, s.Path), s.Reason)
	}
	b.Corpus = tree
	return nil
}

type stagesBench struct {
	q        *runtime.Quest
	services map[event.Type]runtime.Service
	archive  *archive
	pages    *pages
	ctx      context.Context // what was begun is written, also when the run is ended
}

func (b *stagesBench) Services() map[event.Type]runtime.Service { return b.services }

// Printed implements runtime.Bench.
func (b *stagesBench) Printed(e event.Event) {
	b.archive.printed(e, stages.Of(b.q.State).Study)
	if err := b.pages.printed(b.ctx, e); err != nil {
		b.q.Fail(err)
	}
}

// Close implements runtime.Bench.
func (b *stagesBench) Close() error {
	if b.archive == nil {
		return nil
	}
	return errors.Join(b.pages.close(b.ctx), b.archive.close())
}

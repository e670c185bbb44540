package service

import (
	"context"
	"path/filepath"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages"
)

// Stages is the workshop of a study: it keeps the home's cards and baselines, records lines of
// work, runs results again, and writes the folder.
type Stages struct{}

// Open implements runtime.Workshop.
func (Stages) Open(_ context.Context, q *runtime.Quest) (runtime.Bench, error) {
	return &stagesBench{services: resultServices(q)}, nil
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
	services map[event.Type]runtime.Service
}

func (b *stagesBench) Services() map[event.Type]runtime.Service { return b.services }
func (b *stagesBench) Printed(event.Event)                      {}
func (b *stagesBench) Close() error                             { return nil }

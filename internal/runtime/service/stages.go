package service

import (
	"context"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
)

// Stages is the workshop of a study: it keeps the home's cards and baselines, records lines of
// work, runs results again, and writes the folder.
type Stages struct{}

// Open implements runtime.Workshop.
func (Stages) Open(_ context.Context, q *runtime.Quest) (runtime.Bench, error) {
	return &stagesBench{services: resultServices(q)}, nil
}

type stagesBench struct {
	services map[event.Type]runtime.Service
}

func (b *stagesBench) Services() map[event.Type]runtime.Service { return b.services }
func (b *stagesBench) Printed(event.Event)                      {}
func (b *stagesBench) Close() error                             { return nil }

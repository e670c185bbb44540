package service

import (
	"context"

	"lyceum/internal/event"
	"lyceum/internal/memory"
	"lyceum/internal/runtime"
)

// Stages is the workshop of a study: it keeps the home's cards and baselines, records lines of
// work, runs results again, and writes the folder.
type Stages struct{}

// Open implements runtime.Workshop.
func (Stages) Open(_ context.Context, q *runtime.Quest) (runtime.Bench, error) {
	services := resultServices(q)
	services["card.call"] = &cards{q, memory.Open(q.Home)}
	return &stagesBench{services: services}, nil
}

type stagesBench struct {
	services map[event.Type]runtime.Service
}

func (b *stagesBench) Services() map[event.Type]runtime.Service { return b.services }
func (b *stagesBench) Printed(event.Event)                      {}
func (b *stagesBench) Close() error                             { return nil }

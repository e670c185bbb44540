package service

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/lab"
)

// Lab is the workshop of a lab: it runs what papers claim, and prints them.
type Lab struct{}

// Open implements runtime.Workshop.
func (Lab) Open(ctx context.Context, q *runtime.Quest) (runtime.Bench, error) {
	p := &press{q: q}
	if err := p.printAll(ctx); err != nil {
		return nil, errors.Join(err, p.git.close())
	}
	p.start(ctx)
	return &labBench{press: p, services: map[event.Type]runtime.Service{"reproduction.call": newReproductions(q)}}, nil
}

type labBench struct {
	press    *press
	services map[event.Type]runtime.Service
}

func (b *labBench) Services() map[event.Type]runtime.Service { return b.services }

// Witness implements audit.Witnessed.
func (Lab) Witness(*runtime.Runtime, event.Event, *event.QuestCreated, audit.Note) audit.Witness {
	return labWitness{}
}

type labWitness struct{}

func (labWitness) Close() {}

// Looks implements audit.Witness.
func (labWitness) Looks() map[event.Type]audit.Look {
	return map[event.Type]audit.Look{"reproduction.call": {Nothing: "verify --execute runs a paper's program again"}}
}

func (b *labBench) Printed(e event.Event) { b.press.printed(e) }
func (b *labBench) Close() error          { return b.press.stop() }

// Write implements runtime.Folder.
func (Lab) Write(ctx context.Context, q *runtime.Quest) error {
	p := &press{q: q}
	for _, x := range lab.Library(q.State).Papers {
		if err := p.write(ctx, x); err != nil {
			return fmt.Errorf("write paper %s: %w", x.Ref, err)
		}
	}
	return nil
}

// Changed implements runtime.Folder.
func (Lab) Changed(ctx context.Context, q *runtime.Quest) ([]string, error) {
	return changedPapers(ctx, q)
}

// Finish implements runtime.Folder.
func (Lab) Finish(ctx context.Context, q *runtime.Quest) error {
	p := &press{q: q}
	return errors.Join(p.printAll(ctx), p.git.close())
}

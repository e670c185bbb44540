package service

import (
	"context"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
)

// Relay is the workshop of a relay: it counts.
type Relay struct{}

// Open implements runtime.Workshop.
func (Relay) Open(_ context.Context, q *runtime.Quest) (runtime.Bench, error) {
	return &relayBench{q}, nil
}

type relayBench struct{ q *runtime.Quest }

func (b *relayBench) Services() map[event.Type]runtime.Service {
	return map[event.Type]runtime.Service{"token.count": b}
}
func (b *relayBench) Printed(event.Event) {}
func (b *relayBench) Close() error        { return nil }

// Start implements runtime.Service.
func (b *relayBench) Start(e event.Event) (runtime.Work, error) {
	so := e.Body.(*event.TokenCount).So
	return func(context.Context) ([]event.Draft, error) {
		time.Sleep(5 * time.Millisecond)
		return []event.Draft{b.q.Result(e.Seq, "core", &event.TokenCounted{Call: e.Seq, Count: so + 1})}, nil
	}, nil
}

// Witness implements audit.Witnessed.
func (Relay) Witness(*runtime.Runtime, event.Event, *event.QuestCreated, audit.Note) audit.Witness {
	return relayWitness{}
}

type relayWitness struct{}

func (relayWitness) Close() {}

// Looks implements audit.Witness.
func (w relayWitness) Looks() map[event.Type]audit.Look {
	return map[event.Type]audit.Look{"token.count": {Find: w.counted}}
}

func (relayWitness) counted(_ context.Context, call, result event.Event) (*audit.Difference, error) {
	if result.Body.(*event.TokenCounted).Count != call.Body.(*event.TokenCount).So+1 {
		return &audit.Difference{Seq: result.Seq, Recorded: "another number than the next"}, nil
	}
	return nil, nil
}

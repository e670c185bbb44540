package runtimetest

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/relay"
)

// Relay is a relay in the simulated world.
type Relay struct{ passed, counted int64 }

func (r *Relay) Society() quest.Society { return relay.Society{} }

func (r *Relay) Make(w *World, b *event.QuestCreated) {
	one := b.Agents[0]
	one.Model, one.ToolNames = "", nil
	b.Agents = nil
	for _, name := range relay.Runners {
		one.Name = name
		b.Agents = append(b.Agents, one)
	}
	if err := quest.Record(b, relay.Race{Laps: 1 + int64(w.IntN(20))}); err != nil {
		panic(err)
	}
}

func (r *Relay) Call(*World, string) (string, any) { panic("runners have no models") }

// Rows implements Caller.
func (r *Relay) Rows() map[event.Type]Row {
	return map[event.Type]Row{"token.count": func(_ *World, call event.Event) event.Body {
		return &event.TokenCounted{Call: call.Seq, Count: call.Body.(*event.TokenCount).So + 1}
	}}
}

// Count implements Part: every pass is counted once, before the next.
func (r *Relay) Count(_ *World, e event.Event) error {
	switch b := e.Body.(type) {
	case *event.TokenPassed:
		if r.passed != r.counted {
			return fmt.Errorf("the token is passed a %d. time, and %d passes were counted", r.passed+1, r.counted)
		}
		r.passed++
	case *event.TokenCounted:
		if r.counted++; b.Count != r.counted || r.counted > r.passed {
			return fmt.Errorf("after %d passes somebody counts %d, and should %d", r.passed, b.Count, r.counted)
		}
	}
	return nil
}

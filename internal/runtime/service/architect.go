package service

import (
	"context"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
)

// Architect is the workshop of an architect: it looks at what executors left, runs what
// decides whether that is accepted, and puts together what several made.
type Architect struct{}

// Open implements runtime.Workshop.
func (Architect) Open(_ context.Context, q *runtime.Quest) (runtime.Bench, error) {
	return architectBench{
		"inspection.call": &inspections{q}, "acceptance.call": &acceptances{q}, "merge.call": &merges{q},
	}, nil
}

// Looks implements audit.Witness.
func (w *planWitness) Looks() map[event.Type]audit.Look {
	return map[event.Type]audit.Look{"inspection.call": {Find: w.inspected}, "acceptance.call": {Find: w.accepted}, "merge.call": {Find: w.merged}}
}

type architectBench map[event.Type]runtime.Service

func (b architectBench) Services() map[event.Type]runtime.Service { return b }
func (b architectBench) Printed(event.Event)                      {}
func (b architectBench) Close() error                             { return nil }

// Witness implements audit.Witnessed.
func (Architect) Witness(rt *runtime.Runtime, _ event.Event, b *event.QuestCreated, note audit.Note) audit.Witness {
	return &planWitness{rt: rt, repo: b.Repo, note: note}
}

// fit shortens lists until a body fits an event: each step drops something, and reports
// whether there was anything.
func fit(b event.Body, steps ...func() bool) error {
	for {
		_, err := event.EncodeBody(b)
		if err == nil {
			return nil
		}
		dropped := false
		for _, drop := range steps {
			if dropped = drop(); dropped {
				break
			}
		}
		if !dropped {
			return err
		}
	}
}

// half drops the second half of a list that has more than least entries, and counts what
// went.
func half[T any](list *[]T, least int, count *int64) func() bool {
	return func() bool {
		n := len(*list)
		if n <= least {
			return false
		}
		keep := max(n/2, least)
		*list = (*list)[:keep]
		if count != nil {
			*count += int64(n - keep)
		}
		return true
	}
}

// clipped are the first of what was left out or is in the way, with texts that a ledger can
// bear.
func clipped(list []event.Skipped, most int) []event.Skipped {
	var out []event.Skipped
	for _, s := range list[:min(len(list), most)] {
		out = append(out, event.Skipped{Path: runtime.AtMost(s.Path, 300), Reason: runtime.AtMost(s.Reason, 200)})
	}
	return out
}

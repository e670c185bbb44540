package runtimetest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
)

// mark is what of the world outlives a process, at some moment.
type mark struct {
	events, inbox, words, named int
	now                         event.Time
	ends                        map[string]event.Time
	begun                       map[uint64]int
	saved                       []byte
}

func (w *World) mark() mark {
	return mark{
		events: len(w.log.events), inbox: len(w.inbox), words: w.words, named: w.machine.named, now: w.Now,
		ends: maps.Clone(w.machine.ends), begun: maps.Clone(w.begun), saved: w.saved,
	}
}

// from returns a world that begins with the first events of this one's ledger, and goes
// another way for each number.
func (w *World) from(events int, way uint64) (*World, error) {
	f := newWorld(w.seed, way, w.make, Options{Steps: w.opts.Steps, CrashAlways: w.opts.CrashAlways})
	f.log.events = slices.Clone(w.log.events[:events])
	f.inbox, f.begins = w.inbox, events // of which the ledger has taken some
	for _, e := range f.log.events {
		if err := f.books.count(f, e); err != nil {
			return nil, fmt.Errorf("take up event %d (%s): %w", e.Seq, e.Type, err)
		}
		if err := f.part.Count(f, e); err != nil {
			return nil, fmt.Errorf("take up event %d (%s): %w", e.Seq, e.Type, err)
		}
	}
	f.report = w.report // what came up before is counted
	return f, nil
}

// kill plays what becomes of the quest if the process dies at a moment: all that is not in the
// ledger or out in the world is gone.
func (w *World) kill(ctx context.Context, m mark, way uint64) error {
	f, err := w.from(m.events, way)
	if err != nil {
		return w.at(err)
	}
	f.Now, f.words, f.saved, f.inbox = m.now, m.words, m.saved, slices.Clone(w.inbox[:m.inbox])
	f.machine.named, f.machine.ends, f.begun = m.named, maps.Clone(m.ends), maps.Clone(m.begun)
	f.Saw("killed")
	if err := f.run(ctx); err != nil {
		return f.at(fmt.Errorf("killed after event %d, way %d: %w", m.events, way, err))
	}
	return nil
}

// fork plays a quest that begins with the first events of this one, wherever in a batch
// they end.
func (w *World) fork(ctx context.Context, at, way uint64) error {
	at = min(at, uint64(len(w.log.events)))
	f, err := w.from(int(at), way)
	if err != nil {
		return w.at(err)
	}
	f.Now, f.machine.named, f.words, f.inbox = w.Now, w.machine.named, w.words, nil
	if f.owner, err = runtime.Drive(ctx, f.log, key, nil, f.societies()); err != nil {
		return f.at(err)
	}
	s := f.State()
	b := &event.QuestForked{At: s.Seq, From: s.Name, Hash: s.Hash, Name: "fork"}
	if f.Chance(300) {
		b.Reseed, b.Seed = true, f.Uint64()
	}
	if err := f.step(ctx, []event.Draft{{Parent: s.Seq, Time: max(f.Now, s.Time), Actor: "person", Body: b}}); err != nil {
		return f.at(err)
	}
	f.crash() // whoever runs the fork is another process
	if err := f.run(ctx); err != nil {
		return f.at(fmt.Errorf("forked after event %d, way %d: %w", at, way, err))
	}
	return nil
}

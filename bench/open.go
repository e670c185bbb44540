package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
)

// idle measures what a thousand agents take that wait for their models.
func (b *bench) idle() error {
	const agents, steps = 1000, 10
	dir := b.fresh()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	store, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		return err
	}
	defer store.Close()
	w := &waiting{steps: steps, arrived: make(chan struct{}, agents)}
	c := cell{N: agents, K: steps, Dir: dir, Model: "script"}
	if w.Model, err = c.model(); err != nil {
		return err
	}
	before := heapMB()
	run, err := lyceumLoop(c, w, store, 0)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.release = ctx.Done()
	var wg sync.WaitGroup
	for i := range agents {
		wg.Go(func() { _ = run(i) })
	}
	for range agents {
		<-w.arrived
	}
	after := heapMB()
	cancel()
	wg.Wait()
	fmt.Printf("\nA thousand agents, each in its own quest, waiting for a model after %d steps: %.0f MB (heap and stacks, over an empty process)\n", steps, after-before)
	b.promise("MB of a thousand idle agents", after-before, false, 100)
	return nil
}

// waiting is a model that stops answering after some steps.
type waiting struct {
	model.Model
	steps   int64
	arrived chan struct{}
	release <-chan struct{}
}

func (w *waiting) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	if r.Turn <= w.steps {
		return w.Model.Generate(ctx, r, emit)
	}
	w.arrived <- struct{}{}
	<-w.release
	return w.Model.Generate(ctx, r, emit)
}

func heapMB() float64 {
	goruntime.GC()
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return float64(m.HeapAlloc+m.StackInuse) / (1 << 20)
}

// open measures opening and replaying a quest of a million events.
func (b *bench) open() error {
	events := 1_000_000
	if b.quick {
		events = 50_000
	}
	if err := b.replayShort(); err != nil {
		return err
	}
	dir := b.fresh()
	defer os.RemoveAll(dir)
	s, m, err := makeLong(dir, events)
	if err != nil {
		return err
	}
	if err := b.reopen(dir, m, s.Seq, s.Hash); err != nil {
		return err
	}
	return b.look(dir, m, s.Seq)
}

// makeLong makes a quest of one agent with about so many events.
func makeLong(dir string, events int) (*quest.State, model.Model, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	store, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		return nil, nil, err
	}
	defer store.Close()
	// Four events a turn.
	c := cell{N: 1, K: events / 4, Dir: dir, Model: "script"}
	m, err := c.script("") // tokens as they are, so that windows fill and are cut
	if err != nil {
		return nil, nil, err
	}
	rt, err := newRuntime(dir, store, m)
	if err != nil {
		return nil, nil, err
	}
	spec := &quest.Spec{Name: "long", Problem: "Does it hold?", Model: "script"}
	if _, err := rt.Create(context.Background(), runtime.Plan{Spec: spec, Source: []byte("name: bench\n"), Dir: dir}); err != nil {
		return nil, nil, err
	}
	begun := time.Now()
	s, err := rt.Run(context.Background(), "long", runtime.RunOptions{})
	if err != nil {
		return nil, nil, err
	}
	fmt.Printf("\nA quest of %d events (made in %.1f s by one agent)\n", s.Seq, time.Since(begun).Seconds())
	return s, m, nil
}

// replayShort measures what a person waits for who has a quest of ten thousand events
// replayed: opening the home included.
func (b *bench) replayShort() error {
	dir := b.fresh()
	defer os.RemoveAll(dir)
	_, m, err := makeLong(dir, 10_000)
	if err != nil {
		return err
	}
	begun := time.Now()
	store, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		return err
	}
	defer store.Close()
	rt, err := newRuntime(dir, store, m)
	if err != nil {
		return err
	}
	rep, err := audit.Replay(context.Background(), rt, "long", nil)
	if err != nil {
		return err
	}
	if rep.Difference != nil {
		return rep.Difference
	}
	b.promise("seconds to replay a quest of 10,000 events", time.Since(begun).Seconds(), false, 1)
	return nil
}

func (b *bench) reopen(dir string, m model.Model, events uint64, hash event.Hash) error {
	load := func() (float64, error) {
		begun := time.Now()
		store, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
		if err != nil {
			return 0, err
		}
		defer store.Close()
		rt, err := newRuntime(dir, store, m)
		if err != nil {
			return 0, err
		}
		s, err := rt.Load(context.Background(), "long")
		if err == nil && (s.Seq != events || s.Hash != hash) {
			err = fmt.Errorf("opened at event %d", s.Seq)
		}
		return time.Since(begun).Seconds(), err
	}
	fast, err := load()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, "cache")); err != nil {
		return err
	}
	slow, err := load()
	if err != nil {
		return err
	}
	fmt.Printf("  opened from its snapshot in %.3f s, without it in %.1f s\n", fast, slow)
	scale := 1_000_000 / float64(events)
	b.promise("seconds to open a million events from a snapshot", fast, false, 1)
	b.promise("seconds to open a million events without one", slow*scale, false, 15)

	store, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		return err
	}
	defer store.Close()
	rt, err := newRuntime(dir, store, m)
	if err != nil {
		return err
	}
	begun := time.Now()
	rep, err := audit.Replay(context.Background(), rt, "long", nil)
	if err != nil {
		return err
	}
	if rep.Difference != nil {
		return rep.Difference
	}
	rate := float64(rep.Events) / time.Since(begun).Seconds()
	b.promise("thousand events replayed a second", rate/1000, true, 50)
	return nil
}

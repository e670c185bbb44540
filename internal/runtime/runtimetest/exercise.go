package runtimetest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Run is a way to simulate a seed.
type Run func(ctx context.Context, seed uint64, part func() Part) (*Report, error)

// Plain runs the quest of a seed once, with what trouble comes by itself.
func Plain(ctx context.Context, seed uint64, part func() Part) (*Report, error) {
	return Simulate(ctx, seed, part, Options{})
}

// Once runs the quest of a seed once: of every sixth the process dies after each batch of
// results, and of every fourth a fork is run too.
func Once(steps int) Run {
	return func(ctx context.Context, seed uint64, part func() Part) (*Report, error) {
		opts := Options{Steps: steps, CrashAlways: seed%6 == 0}
		if seed%4 == 1 {
			opts.Fork = 1 + seed*7919%150
		}
		return Simulate(ctx, seed, part, opts)
	}
}

// EveryEvent runs the quest of a seed, and then once more for each place where it can be cut: the
// process dies with a batch of events on disk; it dies when the world has done its part and the
// batch is not on disk; and the quest is forked after each event, anywhere within a batch. A batch
// is on disk whole or not at all, so there are no other places. Each run goes on to its end, and
// each goes another way from there.
func EveryEvent(steps int) Run {
	return func(ctx context.Context, seed uint64, part func() Part) (*Report, error) {
		w := newWorld(seed, 0, part, Options{Steps: steps})
		w.marked = true
		if err := w.create(); err != nil {
			return nil, w.at(err)
		}
		w.marks = append(w.marks, w.mark())
		if err := w.run(ctx); err != nil {
			return nil, w.at(err)
		}
		for i, m := range w.marks {
			if err := w.kill(ctx, m, uint64(10*i+1)); err != nil {
				return nil, err
			}
		}
		for i := range w.log.events {
			if err := w.fork(ctx, uint64(i+1), uint64(10*i+2)); err != nil {
				return nil, err
			}
			w.Saw("events crashed at")
		}
		return w.report, nil
	}
}

// T is what Exercise needs of a test.
type T interface {
	Helper()
	Context() context.Context
	Failed() bool
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// Exercise simulates seeds, on two goroutines, and returns what they went through together.
// A seed that fails is named with what went wrong; simulated again, it fails again.
func Exercise(t T, part func() Part, first, last uint64, run Run) *Report {
	t.Helper()
	var next atomic.Uint64
	next.Store(first)
	var mu sync.Mutex
	var total Report
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for seed := next.Add(1) - 1; seed <= last && !t.Failed(); seed = next.Add(1) - 1 {
				r, err := run(t.Context(), seed, part)
				if err != nil {
					t.Errorf("%v\nsimulate it alone: give Exercise the seed %d only, or, where the test has it, the flag -sim.seed", err, seed)
					return
				}
				mu.Lock()
				total.Add(r)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%s: seeds %d to %d: %s", part().Society().Rules(), first, last, fmt.Sprint(&total))
	return &total
}

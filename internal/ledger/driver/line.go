package driver

import (
	"context"
	"runtime"
	"sync/atomic"

	"lyceum/internal/ledger"
)

// The limits of what a writer makes durable at once, so that a flood of appends still answers.
const (
	maxGroup      = 1024
	maxGroupBytes = 8 << 20
)

// Place is somebody's in the line for the writer. Until the writer takes it, whoever stands there may
// leave; from then on it waits to learn the outcome.
type Place struct {
	state atomic.Int32 // 0 in line, 1 taken by the writer, 2 left
	err   error
	done  chan struct{}
}

// Stand makes it a place that somebody waits at. One without is answered on the goroutine that asked.
func (p *Place) Stand() { p.done = make(chan struct{}) }

// Take is the writer's: it reports whether there is still somebody to write for.
func (p *Place) Take() bool { return p.state.CompareAndSwap(0, 1) }

// Answer tells the outcome, once.
func (p *Place) Answer(err error) {
	p.err = err
	if p.done != nil {
		close(p.done)
	}
}

// Err is the answer, once there is one.
func (p *Place) Err() error { return p.err }

// Wait returns the answer, or ctx's error if ctx ends before the writer has taken it.
func (p *Place) Wait(ctx context.Context) error {
	select {
	case <-p.done:
	case <-ctx.Done():
		if p.state.CompareAndSwap(0, 2) {
			return ctx.Err()
		}
		<-p.done
	}
	return p.err
}

// Gather lets those who are about to stand in line do so, as long as more come: a fuller write costs
// hardly more. With nobody about it returns at once.
func Gather[T any](line <-chan T) {
	for range 8 {
		n := len(line)
		runtime.Gosched()
		if len(line) == n {
			return
		}
	}
}

// Fill takes what else stands in line, up to what is made durable at once. have says how many the writer has.
func Fill[T any](line <-chan T, batch func(T) ledger.Batch, take func(T) (have int)) {
	have, size := 0, 0
	for have < maxGroup && size < maxGroupBytes {
		select {
		case r, ok := <-line:
			if !ok {
				return
			}
			for _, e := range batch(r).Events {
				size += len(e.Line())
			}
			have = take(r)
		default:
			return
		}
	}
}

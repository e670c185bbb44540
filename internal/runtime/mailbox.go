package runtime

import (
	"context"
	"sync"

	"lyceum/internal/event"
)

// A mailbox runs calls and collects their results for the owner. Putting never
// blocks, so a call that ends after its owner has gone is no leak.
type mailbox struct {
	ready chan struct{} // sent to when there is something
	calls sync.WaitGroup
	// jobs hands calls to workers at rest. A worker that has run one waits for
	// the next: growing a new stack for each costs more than most calls do.
	jobs chan func()

	mu      sync.Mutex
	closed  bool
	results []event.Draft
	waiting []chan struct{} // those who wait for what they put to be durable
	err     error
}

func newMailbox() *mailbox {
	return &mailbox{ready: make(chan struct{}, 1), jobs: make(chan func())}
}

// start runs f outside, at once. It reports whether it does: once the mailbox is closed
// nobody waits for it any more.
func (m *mailbox) start(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	select {
	case m.jobs <- f:
	default:
		m.calls.Go(func() {
			for f != nil {
				f()
				f = <-m.jobs
			}
		})
	}
	return true
}

// close waits for all calls. What is started after is not. It may be called again.
func (m *mailbox) close() {
	m.mu.Lock()
	if !m.closed {
		m.closed = true
		close(m.jobs)
	}
	m.mu.Unlock()
	m.calls.Wait()
}

// put hands results to the owner, which takes them in that order.
func (m *mailbox) put(ds ...event.Draft) {
	if len(ds) == 0 {
		return
	}
	m.mu.Lock()
	m.results = append(m.results, ds...)
	m.mu.Unlock()
	m.signal()
}

// record puts inputs and waits until they are durable. When ctx ends they may be or
// not.
func (m *mailbox) record(ctx context.Context, ds ...event.Draft) error {
	done := make(chan struct{})
	m.mu.Lock()
	m.results = append(m.results, ds...)
	m.waiting = append(m.waiting, done)
	m.mu.Unlock()
	m.signal()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fail notes that a call could not even record its failure: its blobs could not
// be written, say. That is an error of the run.
func (m *mailbox) fail(err error) {
	m.mu.Lock()
	if m.err == nil {
		m.err = err
	}
	m.mu.Unlock()
	m.signal()
}

func (m *mailbox) signal() {
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// take returns what was put, and what to call when that is durable.
func (m *mailbox) take() (out []event.Draft, durable func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	waiting := m.waiting
	out, m.results, m.waiting = m.results, nil, nil
	return out, func() {
		for _, done := range waiting {
			close(done)
		}
	}, m.err
}

package runtime

import (
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
	results []event.Draft
	err     error
}

func newMailbox() *mailbox {
	return &mailbox{ready: make(chan struct{}, 1), jobs: make(chan func())}
}

// start runs f outside, at once.
func (m *mailbox) start(f func()) {
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
}

// close waits for all calls. None may be started after.
func (m *mailbox) close() {
	close(m.jobs)
	m.calls.Wait()
}

func (m *mailbox) put(d event.Draft) {
	m.mu.Lock()
	m.results = append(m.results, d)
	m.mu.Unlock()
	m.signal()
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

func (m *mailbox) take() ([]event.Draft, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.results
	m.results = nil
	return out, m.err
}

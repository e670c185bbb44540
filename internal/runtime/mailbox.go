package runtime

import (
	"sync"

	"lyceum/internal/event"
)

// A mailbox collects the results of calls for the owner. Putting never blocks,
// so a call that ends after its owner has gone is no leak.
type mailbox struct {
	ready chan struct{} // sent to when there is something
	calls sync.WaitGroup

	mu      sync.Mutex
	results []event.Draft
	err     error
}

func newMailbox() *mailbox { return &mailbox{ready: make(chan struct{}, 1)} }

func (m *mailbox) start(f func()) { m.calls.Go(f) }

func (m *mailbox) wait() { m.calls.Wait() }

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

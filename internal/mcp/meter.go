package mcp

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// A meter counts what a server sends. One that sends more than anybody could want is cut
// off, for good: what the SDK queues would have no other end.
type meter struct {
	mu           sync.Mutex
	bytes, lines bucket
	fault        error
	// refused is what Lyceum itself did not connect to, the last time.
	refused error
}

// refuse notes why there is no connection, for the SDK does not pass it on. It returns it.
func (m *meter) refuse(why string, args ...any) error {
	err := &refusedError{fmt.Errorf(why, args...).Error()}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = err
	return err
}

// reached forgets what could not be reached before.
func (m *meter) reached() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = nil
}

func (m *meter) refusal() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused
}

// What a server may send at once, and how much of that comes back in a second.
const (
	burstBytes = 64 << 20
	freshBytes = 4 << 20
	burstLines = 10_000
	freshLines = 500
)

// bucket is how much was taken lately.
type bucket struct {
	used float64
	last time.Time
}

// take takes n more and reports whether that is too much.
func (b *bucket) take(n int, most, fresh float64, now time.Time) bool {
	if !b.last.IsZero() {
		b.used = max(0, b.used-fresh*now.Sub(b.last).Seconds())
	}
	b.last = now
	b.used += float64(n)
	return b.used > most
}

func (m *meter) count(p []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := now()
	if m.fault == nil && m.bytes.take(len(p), burstBytes, freshBytes, now) {
		m.fault = fmt.Errorf("it sent more than %d MiB at once", burstBytes>>20)
	}
	if m.fault == nil && m.lines.take(bytes.Count(p, []byte("\n")), burstLines, freshLines, now) {
		m.fault = fmt.Errorf("it sent more than %d lines at once", burstLines)
	}
	return m.fault
}

func (m *meter) err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fault
}

func (m *meter) broken() bool { return m.err() != nil }

// metered is a stream whose bytes are counted.
type metered struct {
	io.ReadCloser
	m *meter
}

func (r *metered) Read(p []byte) (int, error) {
	if err := r.m.err(); err != nil {
		return 0, err
	}
	n, err := r.ReadCloser.Read(p)
	if full := r.m.count(p[:n]); full != nil {
		return 0, full
	}
	return n, err
}

// Package blobtest proves that a store keeps the promises of blob.Store, and
// lends a store in memory to tests that are about something else.
package blobtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"lyceum/internal/blob"
	"lyceum/internal/event"
)

// Memory keeps blobs until the test ends. The zero value is empty.
type Memory struct {
	blobs  sync.Map // event.Hash to []byte
	writes atomic.Int64
}

var _ blob.Store = (*Memory)(nil)

// Put implements blob.Store.
func (m *Memory) Put(ctx context.Context, data []byte) (event.Ref, error) {
	if err := ctx.Err(); err != nil {
		return event.Ref{}, err
	}
	m.writes.Add(1)
	ref := event.RefOf(data)
	if _, held := m.blobs.Load(ref.Hash); !held {
		if err := blob.Charge(ctx, blob.Blocks(ref.Size)); err != nil {
			return event.Ref{}, err
		}
	}
	m.blobs.Store(ref.Hash, bytes.Clone(data))
	return ref, nil
}

// Create implements blob.Store.
func (m *Memory) Create(ctx context.Context, r io.Reader) (event.Ref, error) {
	data, err := io.ReadAll(blob.Interruptible(ctx, r))
	if err != nil {
		return event.Ref{}, err
	}
	return m.Put(ctx, data)
}

// Get implements blob.Store.
func (m *Memory) Get(ctx context.Context, h event.Hash) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, ok := m.blobs.Load(h)
	if !ok {
		return nil, fmt.Errorf("read blob %s: %w", h, blob.ErrNotFound)
	}
	if event.HashOf(data.([]byte)) != h {
		return nil, &blob.DamageError{Hash: h, Where: "memory"}
	}
	return bytes.Clone(data.([]byte)), nil
}

// Open implements blob.Store.
func (m *Memory) Open(ctx context.Context, h event.Hash) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, ok := m.blobs.Load(h)
	if !ok {
		return nil, fmt.Errorf("read blob %s: %w", h, blob.ErrNotFound)
	}
	return blob.Verify(io.NopCloser(bytes.NewReader(data.([]byte))), h, "memory"), nil
}

// Has implements blob.Store.
func (m *Memory) Has(ctx context.Context, h event.Hash) (bool, error) {
	_, ok := m.blobs.Load(h)
	return ok, ctx.Err()
}

// Writes returns how often Put and Create were called.
func (m *Memory) Writes() int64 { return m.writes.Load() }

// Forget takes a blob away, as a collection would.
func (m *Memory) Forget(h event.Hash) { m.blobs.Delete(h) }

// Damage puts other content under a name.
func (m *Memory) Damage(h event.Hash, data []byte) { m.blobs.Store(h, data) }

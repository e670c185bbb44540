package blobtest_test

import (
	"errors"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	blobtest.Exercise(t, func(*testing.T) blob.Store { return new(blobtest.Memory) })
}

func TestMemoryTellsDamage(t *testing.T) {
	t.Parallel()
	var m blobtest.Memory
	h := event.HashOf([]byte("right"))
	m.Damage(h, []byte("wrong"))
	var damage *blob.DamageError
	if _, err := m.Get(t.Context(), h); !errors.As(err, &damage) || damage.Hash != h {
		t.Errorf("Get: %v, want damage of %s", err, h)
	}
}

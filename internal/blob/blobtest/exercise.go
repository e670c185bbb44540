package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"

	"lyceum/internal/blob"
	"lyceum/internal/event"
)

// Exercise runs every promise of blob.Store against stores that open returns.
// Each is new and empty.
func Exercise(t *testing.T, open func(*testing.T) blob.Store) {
	for name, prove := range map[string]func(*testing.T, blob.Store){
		"ReturnsWhatWasPut":               returnsWhatWasPut,
		"ReturnsWhatWasStreamed":          returnsWhatWasStreamed,
		"KeepsNoHoldOfTheCallersBytes":    keepsNoHold,
		"SaysNotFound":                    saysNotFound,
		"StoresNothingWhenTheReaderFails": storesNothingOnError,
		"TakesTheSameBlobFromMany":        takesFromMany,
		"ObeysItsContext":                 obeysContext,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prove(t, open(t))
		})
	}
}

// Bytes returns n bytes that depend on n and seed alone.
func Bytes(n int, seed uint64) []byte {
	var key [32]byte
	key[0], key[1], key[2] = byte(seed), byte(seed>>8), byte(seed>>16)
	data := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(data)
	return data
}

var lengths = []int{0, 1, 4095, 64<<10 + 1, 3 << 20}

func returnsWhatWasPut(t *testing.T, s blob.Store) {
	for _, n := range lengths {
		data := Bytes(n, 1)
		ref, err := s.Put(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, s, ref, data)
	}
}

func returnsWhatWasStreamed(t *testing.T, s blob.Store) {
	for _, n := range lengths {
		data := Bytes(n, 2)
		ref, err := s.Create(t.Context(), iotest.HalfReader(bytes.NewReader(data)))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, s, ref, data)
	}
}

func expect(t *testing.T, s blob.Store, ref event.Ref, data []byte) {
	t.Helper()
	if want := event.RefOf(data); ref != want {
		t.Errorf("stored %d bytes as %v, want %v", len(data), ref, want)
	}
	if ok, err := s.Has(t.Context(), ref.Hash); err != nil || !ok {
		t.Errorf("Has(%s) = %t, %v", ref.Hash, ok, err)
	}
	if got, err := s.Get(t.Context(), ref.Hash); err != nil || !bytes.Equal(got, data) {
		t.Errorf("Get returned %d other bytes or an error: %v", len(got), err)
	}
	r, err := s.Open(t.Context(), ref.Hash)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
		t.Errorf("Open read %d other bytes or an error: %v", len(got), err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func keepsNoHold(t *testing.T, s blob.Store) {
	data := []byte("said once")
	ref, err := s.Put(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	data[0] = 'S'
	expect(t, s, ref, []byte("said once"))
	got, err := s.Get(t.Context(), ref.Hash)
	if err != nil {
		t.Fatal(err)
	}
	got[0] = 'S'
	expect(t, s, ref, []byte("said once"))
}

func saysNotFound(t *testing.T, s blob.Store) {
	h := event.HashOf([]byte("never put"))
	if _, err := s.Get(t.Context(), h); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("Get: %v, want ErrNotFound", err)
	}
	if _, err := s.Open(t.Context(), h); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("Open: %v, want ErrNotFound", err)
	}
	if ok, err := s.Has(t.Context(), h); ok || err != nil {
		t.Errorf("Has = %t, %v", ok, err)
	}
}

func storesNothingOnError(t *testing.T, s blob.Store) {
	torn := errors.New("line went dead")
	head := Bytes(70_000, 3)
	_, err := s.Create(t.Context(), io.MultiReader(bytes.NewReader(head), iotest.ErrReader(torn)))
	if !errors.Is(err, torn) {
		t.Errorf("Create: %v, want the reader's error", err)
	}
	if ok, err := s.Has(t.Context(), event.HashOf(head)); ok || err != nil {
		t.Errorf("what came before the error is stored: %t, %v", ok, err)
	}
}

func takesFromMany(t *testing.T, s blob.Store) {
	var group sync.WaitGroup
	for i := range 64 {
		group.Go(func() {
			// Every one puts what all put and something that is its own.
			for _, data := range [][]byte{Bytes(5000, 7), fmt.Appendf(nil, "mine %d", i)} {
				ref, err := s.Put(t.Context(), data)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := s.Get(t.Context(), ref.Hash); err != nil || !bytes.Equal(got, data) {
					t.Errorf("goroutine %d reads %d other bytes or an error: %v", i, len(got), err)
				}
			}
		})
	}
	group.Wait()
	for i := range 64 {
		data := fmt.Appendf(nil, "mine %d", i)
		expect(t, s, event.RefOf(data), data)
	}
}

func obeysContext(t *testing.T, s blob.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := event.HashOf([]byte("x"))
	_, put := s.Put(ctx, []byte("x"))
	_, create := s.Create(ctx, bytes.NewReader([]byte("x")))
	_, get := s.Get(ctx, h)
	_, open := s.Open(ctx, h)
	_, has := s.Has(ctx, h)
	for i, err := range []error{put, create, get, open, has} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d: %v, want context.Canceled", i, err)
		}
	}
	if ok, err := s.Has(t.Context(), h); ok || err != nil {
		t.Errorf("stored after its context was done: %t, %v", ok, err)
	}
}

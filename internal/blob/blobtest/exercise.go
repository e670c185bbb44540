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
		"ReturnsContentOfEveryKind":       returnsEveryKind,
		"ReadsFromAnyPlace":               readsFromAnyPlace,
		"ChargesForWhatIsNew":             chargesForWhatIsNew,
		"StoresNothingThatIsRefused":      storesNothingRefused,
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

// Contents are bytes of every kind that a store may treat in its own way: what packs
// well, what does not, what is both, and zeros, around the lengths at which forms change.
func Contents() map[string][]byte {
	text := bytes.Repeat([]byte("the quick brown fox, line after line\n"), 40_000)
	return map[string][]byte{
		"text of a block":   text[:4<<10],
		"text of 5 KiB":     text[:5<<10],
		"text":              text,
		"a frame of text":   text[:256<<10],
		"a frame and one":   text[:256<<10+1],
		"zeros":             make([]byte, 3<<20+17),
		"noise":             Bytes(2<<20+5, 11),
		"noise, then zeros": append(Bytes(300_000, 12), make([]byte, 1<<20)...),
		"text, then noise":  append(bytes.Clone(text), Bytes(700_000, 13)...),
	}
}

func returnsEveryKind(t *testing.T, s blob.Store) {
	for name, data := range Contents() {
		ref, err := s.Put(t.Context(), data)
		if err != nil {
			t.Fatalf("put %s: %v", name, err)
		}
		expect(t, s, ref, data)
		other := append([]byte("streamed "), data...)
		if ref, err = s.Create(t.Context(), iotest.HalfReader(bytes.NewReader(other))); err != nil {
			t.Fatalf("stream %s: %v", name, err)
		}
		expect(t, s, ref, other)
	}
}

// readsFromAnyPlace is for stores that can.
func readsFromAnyPlace(t *testing.T, s blob.Store) {
	at, ok := s.(blob.Ranger)
	if !ok {
		return
	}
	for name, data := range Contents() {
		ref, err := s.Create(t.Context(), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []int{0, 1, 4095, 256<<10 - 1, 256 << 10, 256<<10 + 1, len(data) - 1, len(data)} {
			if from > len(data) {
				continue
			}
			r, err := at.OpenAt(t.Context(), ref.Hash, int64(from))
			if err != nil {
				t.Fatalf("%s from %d: %v", name, from, err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data[from:]) {
				t.Errorf("%s from %d: %d bytes, %v; want the last %d", name, from, len(got), err, len(data)-from)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func chargesForWhatIsNew(t *testing.T, s blob.Store) {
	var spent int64
	ctx := blob.WithSpend(t.Context(), func(n int64) error { spent += n; return nil })
	data := Bytes(1<<20, 21)
	for i, want := range []struct{ least, most int64 }{{1 << 20, 1<<20 + 64<<10}, {0, 0}} {
		spent = 0
		if _, err := s.Put(ctx, data); err != nil {
			t.Fatal(err)
		}
		if spent < want.least || spent > want.most {
			t.Errorf("put %d of a mebibyte of noise: charged %d, want %d to %d", i+1, spent, want.least, want.most)
		}
	}
	spent = 0
	if _, err := s.Create(ctx, bytes.NewReader(data)); err != nil || spent != 0 {
		t.Errorf("streaming what is there: charged %d, %v, want nothing", spent, err)
	}
	torn := errors.New("line went dead")
	if _, err := s.Create(ctx, io.MultiReader(bytes.NewReader(Bytes(1<<20, 22)), iotest.ErrReader(torn))); !errors.Is(err, torn) || spent != 0 {
		t.Errorf("a torn stream: charged %d, %v, want nothing", spent, err)
	}
	if _, err := s.Put(ctx, []byte("x")); err != nil || spent != blob.Block {
		t.Errorf("a byte: charged %d, %v, want a block", spent, err)
	}
}

func storesNothingRefused(t *testing.T, s blob.Store) {
	enough := errors.New("that is enough")
	ctx := blob.WithSpend(t.Context(), func(n int64) error {
		if n > 0 {
			return enough
		}
		return nil
	})
	small, large := Bytes(100, 31), Bytes(2<<20, 32)
	_, put := s.Put(ctx, small)
	_, create := s.Create(ctx, bytes.NewReader(large))
	for i, err := range []error{put, create} {
		if !errors.Is(err, enough) {
			t.Errorf("call %d: %v, want the refusal", i, err)
		}
	}
	for _, data := range [][]byte{small, large} {
		if ok, err := s.Has(t.Context(), event.HashOf(data)); ok || err != nil {
			t.Errorf("%d bytes were refused and are there: %t, %v", len(data), ok, err)
		}
	}
}

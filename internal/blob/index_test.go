package blob_test

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
)

func indexBytes(t *testing.T, x *blob.Index) []byte {
	t.Helper()
	data, err := x.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestIndex(t *testing.T) {
	t.Parallel()
	some := func(t *testing.T) []byte {
		d := newFolder(t)
		d.write("a", "1")
		d.write("sub/b", "2")
		blob.Settle(d.root)
		_, x := d.snapshot(new(blobtest.Memory), nil)
		return indexBytes(t, x)
	}
	t.Run("ComesBackAsItWas", func(t *testing.T) {
		t.Parallel()
		data := some(t)
		var x blob.Index
		if err := x.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(indexBytes(t, &x), data) {
			t.Error("encodes to other bytes")
		}
	})
	t.Run("NilIsEmpty", func(t *testing.T) {
		t.Parallel()
		var x blob.Index
		if err := x.UnmarshalBinary(indexBytes(t, nil)); err != nil {
			t.Error(err)
		}
	})
	t.Run("RefusesAnyFlippedByte", func(t *testing.T) {
		t.Parallel()
		data := some(t)
		for i := range data {
			bad := bytes.Clone(data)
			bad[i] ^= 1
			if new(blob.Index).UnmarshalBinary(bad) == nil {
				t.Errorf("byte %d flipped and nobody noticed", i)
			}
		}
	})
	t.Run("RefusesAnyTornTail", func(t *testing.T) {
		t.Parallel()
		data := some(t)
		for i := range data {
			if new(blob.Index).UnmarshalBinary(data[:i]) == nil {
				t.Errorf("%d of %d bytes are taken for all", i, len(data))
			}
		}
	})
}

// FuzzIndex gives every input a right sum, so that the fields are what is tried.
func FuzzIndex(f *testing.F) {
	f.Add([]byte{0, 0})
	f.Add([]byte{1, 1, 'a', 2, 4, 6, 8, 9})
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, fields []byte) {
		data := append([]byte("lyceum index 1\n"), fields...)
		sum := sha256.Sum256(data)
		var x blob.Index
		if x.UnmarshalBinary(append(data, sum[:]...)) != nil {
			return
		}
		var again blob.Index
		if err := again.UnmarshalBinary(indexBytes(t, &x)); err != nil {
			t.Error(err)
		}
	})
}

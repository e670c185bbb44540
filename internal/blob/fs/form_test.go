package fs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"

	"github.com/klauspost/compress/zstd"
)

// onDisk is how many bytes the files of a store have together.
func onDisk(t *testing.T, s *Store) (sum int64) {
	t.Helper()
	for held, err := range s.List(t.Context()) {
		must(t, err)
		sum += held.Bytes
	}
	return sum
}

func TestPacking(t *testing.T) {
	t.Parallel()
	t.Run("MakesTextAndZerosSmall", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"text", "zeros", "text of 5 KiB", "noise, then zeros"} {
			data := blobtest.Contents()[name]
			s := open(t, t.TempDir())
			put(t, s, string(data))
			must(t, s.Pack(t.Context()))
			if got := onDisk(t, s); got > int64(len(data))/3 && got > 4096 && name != "noise, then zeros" || got > 310_000 {
				t.Errorf("%s: %d bytes take %d", name, len(data), got)
			}
		}
	})
	t.Run("StreamsAGigabyteOfZerosIntoNothing", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		ref, err := s.Create(t.Context(), io.LimitReader(zeroes{}, 1<<28))
		must(t, err)
		if got := onDisk(t, s); ref.Size != 1<<28 || got > 128<<10 {
			t.Errorf("%d bytes of zeros take %d", ref.Size, got)
		}
	})
	t.Run("LeavesPlainWhatDoesNotPack", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		ref := put(t, s, string(blobtest.Contents()["noise"]))
		must(t, s.Pack(t.Context()))
		if info, err := os.Lstat(s.path(ref.Hash)); err != nil || info.Size() != ref.Size {
			t.Errorf("noise of %d bytes: %v, %v", ref.Size, info, err)
		}
	})
	t.Run("IsReadByTheProgramZstdToo", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		data := blobtest.Contents()["text, then noise"]
		ref := put(t, s, string(data))
		must(t, s.Pack(t.Context()))
		f, err := os.Open(s.path(ref.Hash) + packed)
		must(t, err)
		defer f.Close()
		z, err := zstd.NewReader(f)
		must(t, err)
		defer z.Close()
		if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, data) {
			t.Errorf("a plain decoder reads %d of %d bytes: %v", len(got), len(data), err)
		}
	})
	t.Run("ReadsOnlyTheFramesOfARange", func(t *testing.T) {
		t.Parallel()
		s := open(t, t.TempDir())
		data := bytes.Repeat(blobtest.Contents()["text"], 3)
		ref := put(t, s, string(data))
		must(t, s.Pack(t.Context()))
		// All frames but the last are broken: whoever unpacks one of them fails.
		name := s.path(ref.Hash) + packed
		f, err := os.Open(name)
		must(t, err)
		frames, plain, err := readTable(f)
		must(t, errors.Join(err, f.Close()))
		file, err := os.ReadFile(name)
		must(t, err)
		at := 0
		for _, fr := range frames[:len(frames)-1] {
			clear(file[at : at+int(fr.packed)])
			at += int(fr.packed)
		}
		must(t, os.WriteFile(name, file, 0o600))
		r, err := s.OpenAt(t.Context(), ref.Hash, plain-10)
		must(t, err)
		defer r.Close()
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data[len(data)-10:]) {
			t.Errorf("the last ten bytes: %q, %v", got, err)
		}
	})
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestBlobsFromBeforePacking(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	data := blobtest.Contents()["text"]
	ref := event.RefOf(data)
	must(t, os.MkdirAll(filepath.Dir(s.path(ref.Hash)), 0o700))
	must(t, os.WriteFile(s.path(ref.Hash), data, 0o600))
	if got, err := s.Get(t.Context(), ref.Hash); err != nil || !bytes.Equal(got, data) {
		t.Errorf("get: %d bytes, %v", len(got), err)
	}
	r, err := s.OpenAt(t.Context(), ref.Hash, 1000)
	must(t, err)
	got, err := io.ReadAll(r)
	must(t, errors.Join(err, r.Close()))
	if !bytes.Equal(got, data[1000:]) {
		t.Errorf("from 1000 on: %d bytes", len(got))
	}
	put(t, s, string(data))
	if list := files(t, s.dir); len(list) != 1 {
		t.Errorf("put again, it is there as %v", list)
	}
	if n, _, err := s.Collect(t.Context(), keeping()); n != 1 || err != nil || len(files(t, s.dir)) > 0 {
		t.Errorf("collected %d, %v, left %v", n, err, files(t, s.dir))
	}
}

func TestPackedDamage(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), &Options{Volatile: true})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	data := append(bytes.Repeat([]byte("some text\n"), 600), blobtest.Bytes(100, 1)...)
	ref := put(t, s, string(data))
	name := s.path(ref.Hash) + packed
	good, err := os.ReadFile(name)
	must(t, err)
	damaged := func(what string, bad []byte) {
		t.Helper()
		must(t, os.WriteFile(name, bad, 0o600))
		got, err := s.Get(t.Context(), ref.Hash)
		if err == nil && bytes.Equal(got, data) {
			return // a byte that nobody needs
		}
		var damage *blob.DamageError
		if !errors.As(err, &damage) || damage.Where != name {
			t.Errorf("%s: %d bytes, %v, want damage of %s", what, len(got), err, name)
		}
		if r, err := s.Open(t.Context(), ref.Hash); err == nil {
			if _, err = io.ReadAll(r); !errors.As(err, &damage) {
				t.Errorf("%s, read piece by piece: %v, want damage", what, err)
			}
			r.Close()
		} else if !errors.As(err, &damage) {
			t.Errorf("%s, opened: %v, want damage", what, err)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		damaged("a flipped byte", bad)
		damaged("a torn tail", good[:i])
	}
	damaged("an added byte", append(bytes.Clone(good), 0))
	put(t, s, string(data))
	if got, err := s.Get(t.Context(), ref.Hash); err != nil || !bytes.Equal(got, data) {
		t.Errorf("put again, %d bytes: %v", len(got), err)
	}
}

// bombs are files that declare, or hold, more than a blob of ours ever does.
func TestBombs(t *testing.T) {
	t.Parallel()
	z, err := zstd.NewWriter(nil)
	must(t, err)
	bomb := z.EncodeAll(make([]byte, 64<<20), nil)
	table := func(rows ...frame) []byte { return (&packer{frames: rows}).table() }
	forged := table(frame{uint32(len(bomb)), frameSize})
	binary.LittleEndian.PutUint32(forged[len(forged)-footBytes:], 1<<26)
	for name, file := range map[string][]byte{
		"AFrameLongerThanItSays":  append(bytes.Clone(bomb), table(frame{uint32(len(bomb)), frameSize})...),
		"AFrameLongerThanOurs":    append(bytes.Clone(bomb), table(frame{uint32(len(bomb)), 64 << 20})...),
		"ATableLongerThanTheFile": append(bytes.Clone(bomb), forged...),
		"ARowLongerThanTheFile":   append(bytes.Clone(bomb), table(frame{1 << 31, frameSize})...),
		"NoTable":                 bomb,
		"NothingAtAll":            {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.TempDir())
			h := event.HashOf(make([]byte, 64<<20))
			must(t, os.MkdirAll(filepath.Dir(s.path(h)), 0o700))
			must(t, os.WriteFile(s.path(h)+packed, file, 0o600))
			var damage *blob.DamageError
			if got, err := s.Get(t.Context(), h); !errors.As(err, &damage) {
				t.Errorf("got %d bytes, %v, want damage", len(got), err)
			}
		})
	}
}

func TestReserve(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left, err := free(dir)
	must(t, err)
	s, err := Open(dir, &Options{Reserve: left + 1<<40})
	must(t, err)
	defer s.Close()
	var full *blob.FullError
	_, put := s.Put(t.Context(), []byte("x"))
	_, create := s.Create(t.Context(), strings.NewReader("x"))
	for _, err := range []error{put, create, s.Room()} {
		if !errors.As(err, &full) || !blob.Full(err) {
			t.Errorf("got %v, want that the reserve is reached", err)
		}
	}
	if left := files(t, s.dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if s, err = Open(t.TempDir(), &Options{Reserve: 1}); err != nil || s.Room() != nil {
		t.Errorf("with room: %v, %v", err, s.Room())
	}
	must(t, s.Close())
}

func TestAStreamEndsAtTheReserve(t *testing.T) {
	t.Parallel()
	s := open(t, smallDisk(t))
	s.reserve = 200 << 10
	_, err := s.Create(t.Context(), bytes.NewReader(blobtest.Bytes(3<<20, 1)))
	if !errors.Is(err, blob.ErrFull) {
		t.Errorf("got %v, want that the reserve is reached, not the end of the disk", err)
	}
	if left := files(t, s.dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

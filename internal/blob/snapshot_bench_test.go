package blob_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/need"
)

// BenchmarkSnapshotTenOfTenThousand is what a turn of an agent costs: a home of
// 10,000 files, of which ten have changed, into a store that flushes to disk.
func BenchmarkSnapshotTenOfTenThousand(b *testing.B) {
	dir, blobs := b.TempDir(), b.TempDir()
	name := func(i int) string { return filepath.Join(dir, fmt.Sprintf("d%02d/e%d/f%d", i%100, i%7, i)) }
	write := func(i int, content string) {
		if err := os.MkdirAll(filepath.Dir(name(i)), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name(i), []byte(content), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 10_000 {
		write(i, fmt.Sprintf("file %d\n", i))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	blob.Settle(root)
	index := warm(b, blobs, root)
	store, err := blobfs.Open(blobs, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	round := 0
	for b.Loop() {
		b.StopTimer()
		round++
		for i := range 10 {
			write(i*991, fmt.Sprintf("file %d in round %d\n", i, round))
		}
		b.StartTimer()
		if _, index, _, err = blob.Snapshot(b.Context(), store, root, index); err != nil {
			b.Fatal(err)
		}
	}
}

// warm takes the first snapshot without waiting for the disk.
func warm(b *testing.B, blobs string, root *os.Root) *blob.Index {
	store, err := blobfs.Open(blobs, &blobfs.Options{Volatile: true})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	_, index, _, err := blob.Snapshot(b.Context(), store, root, nil)
	if err != nil {
		b.Fatal(err)
	}
	return index
}

// BenchmarkSnapshotOfNewFiles is what it costs to store what was not there before, into a
// store that flushes to disk: sources, logs, and what nobody can pack. Stores that pack
// later, at once and never take turns, so that what else the machine does slows down all of
// them. ms are medians; disk/plain is how much room the files take once they are packed.
func BenchmarkSnapshotOfNewFiles(b *testing.B) {
	source := filepath.Join("..", "..", "internal") // our own
	for name, fill := range map[string]func(b *testing.B, dir string){
		"Sources": func(b *testing.B, dir string) {
			if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
				need.Missing(b, "the sources of Lyceum are not here (%v): run it in its repository", err)
			}
		},
		"Logs": func(b *testing.B, dir string) {
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range 10 {
				var log []byte
				for n := 0; len(log) < 4<<20; n++ {
					log = fmt.Appendf(log, "2026-11-16 10:%02d:%02d worker-%d step %d loss=%.6f in %d ms\n", n/60%60, n%60, i, n, rng.Float64(), rng.IntN(2000))
				}
				put(b, dir, i, log)
			}
		},
		"Noise": func(b *testing.B, dir string) {
			for i := range 4 {
				put(b, dir, i, blobtest.Bytes(16<<20, uint64(i)))
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			fill(b, dir)
			root, err := os.OpenRoot(dir)
			if err != nil {
				b.Fatal(err)
			}
			defer root.Close()
			plain := weigh(b, dir)
			stores := []struct {
				name string
				when blobfs.When
				took []float64
			}{{"later", blobfs.Later, nil}, {"at-once", blobfs.AtOnce, nil}, {"never", blobfs.Never, nil}}
			for b.Loop() {
				for i := range stores {
					s := &stores[i]
					took, room := snapshotInto(b, root, s.when)
					s.took = append(s.took, took)
					b.ReportMetric(float64(room)/float64(plain), "disk/plain-"+s.name)
				}
			}
			for _, s := range stores {
				slices.Sort(s.took)
				b.ReportMetric(s.took[len(s.took)/2], "ms-"+s.name)
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// snapshotInto takes a snapshot into a new store, and tells how many milliseconds that took
// and how much room what is stored takes in the end.
func snapshotInto(b *testing.B, root *os.Root, when blobfs.When) (took float64, room int64) {
	blobs := b.TempDir()
	store, err := blobfs.Open(blobs, &blobfs.Options{Pack: when})
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if _, _, _, err := blob.Snapshot(b.Context(), store, root, nil); err != nil {
		b.Fatal(err)
	}
	took = 1000 * time.Since(began).Seconds()
	if err := errors.Join(store.Pack(b.Context()), store.Close()); err != nil {
		b.Fatal(err)
	}
	room = weigh(b, blobs)
	if err := os.RemoveAll(blobs); err != nil {
		b.Fatal(err)
	}
	return took, room
}

func put(b *testing.B, dir string, i int, data []byte) {
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), data, 0o600); err != nil {
		b.Fatal(err)
	}
}

// weigh is how many bytes of a disk files take, in blocks.
func weigh(b *testing.B, dir string) (sum int64) {
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += (info.Size() + 4095) / 4096 * 4096
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return sum
}

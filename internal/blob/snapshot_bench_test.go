package blob_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lyceum/internal/blob"
	blobfs "lyceum/internal/blob/fs"
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

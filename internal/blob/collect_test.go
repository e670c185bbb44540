package blob_test

import (
	"context"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
)

// aging is a store of which everything may soon be collected.
type aging struct{ *blobtest.Memory }

func (aging) Held(context.Context, event.Hash) (bool, error) { return false, nil }

func TestSnapshotPutsAgainWhatIsThereAndMaySoonBeCollected(t *testing.T) {
	t.Parallel()
	d := newFolder(t)
	d.write("a", "1")
	d.write("sub/b", "2")
	blob.Settle(d.root)
	m := new(blobtest.Memory)
	_, x := d.snapshot(m, nil)
	before := m.Writes()
	d.snapshot(m, x)
	if n := m.Writes() - before; n != 0 {
		t.Errorf("a snapshot of what is unchanged, of a store that keeps it: %d blobs were put, want none", n)
	}
	d.snapshot(aging{m}, x)
	if n := m.Writes() - before; n != 4 {
		t.Errorf("a snapshot of what is unchanged, of a store that does not hold it: %d blobs were put, want 2 files and 2 trees", n)
	}
}

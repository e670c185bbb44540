package blob

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/event"
)

// A store that keeps sums only.
type nowhere struct{ Store }

func (nowhere) Put(_ context.Context, data []byte) (event.Ref, error) { return event.RefOf(data), nil }

func TestSnapshotStaysWithinItsBounds(t *testing.T) {
	t.Parallel()
	home := func(t *testing.T) (*os.Root, string) {
		dir := t.TempDir()
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		return root, dir
	}
	write := func(t *testing.T, dir string, n, long int) {
		for i := range n {
			name := filepath.Join(dir, fmt.Sprintf("%0*d", long, i))
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("OfEntries", func(t *testing.T) {
		t.Parallel()
		root, dir := home(t)
		write(t, dir, 50, 3)
		// One folder comes before the files, and uses up what they would need.
		for _, sub := range []string{"!sub", "sub"} {
			if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, sub), 50, 3)
		}
		_, index, skipped, err := snapshotWithin(t.Context(), nowhere{}, root, nil, bounds{names: 70, trees: 1 << 20, holes: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(index.files); n > 70 || len(skipped) < 30 || !strings.Contains(skipped[0].Reason, "too many entries") {
			t.Errorf("70 entries are allowed: %d files are there, left out %v", n, skipped)
		}
	})
	t.Run("OfNames", func(t *testing.T) {
		t.Parallel()
		root, dir := home(t)
		write(t, dir, 100, 200)
		_, _, skipped, err := snapshotWithin(t.Context(), nowhere{}, root, nil, bounds{names: 1000, trees: 10_000, holes: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(skipped); n < 50 || n > 80 || !strings.Contains(skipped[0].Reason, "too long together") {
			t.Errorf("%d of 100 names of 200 bytes were left out of a tree of 10000: %v", n, skipped[:min(n, 1)])
		}
	})
	t.Run("OfHolesOfManyFiles", func(t *testing.T) {
		t.Parallel()
		root, dir := home(t)
		for i := range 10 {
			f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.Truncate(1<<20), f.Close()); err != nil {
				t.Fatal(err)
			}
		}
		_, _, skipped, err := snapshotWithin(t.Context(), nowhere{}, root, nil, bounds{names: 1000, trees: 1 << 20, holes: 4 << 20}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(skipped) != 6 || !strings.Contains(skipped[0].Reason, "holes") {
			t.Errorf("10 MiB of holes, and 4 allowed: left out %v", skipped)
		}
	})
}

// torn gives an error in the middle of a file.
func TestWhatCannotBeReadIsNotTheStoresFault(t *testing.T) {
	t.Parallel()
	in := &source{in: strings.NewReader("more than was there"), most: 4}
	s := snapshot{store: nowhere{}}
	_, err := s.content(t.Context(), in, 4, "store a file")
	if err == nil || in.err == nil {
		t.Errorf("a file that grows without end: %v, %v", err, in.err)
	}
	if worldly(t.Context(), err) {
		t.Error("a file that grows without end ends the snapshot")
	}
}

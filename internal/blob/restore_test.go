package blob_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
)

func (d *folder) expect(name, content string) {
	d.t.Helper()
	got, err := os.ReadFile(d.path(name))
	if err != nil || string(got) != content {
		d.t.Errorf("%s holds %q, want %q: %v", name, got, content, err)
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	t.Run("RemovesWhatIsNotInTheTree", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		d.write("keep", "old")
		d.write("gone/deep/er", "x")
		d.restore(s, event.TreeRef(plant(t, s, plantFile(t, s, "keep", "new"))))
		d.expect("keep", "new")
		if _, err := os.Lstat(d.path("gone")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("still there: %v", err)
		}
	})
	t.Run("SetsTheModes", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		tool := plantFile(t, s, "tool", "x")
		tool.Mode = blob.ModeExec
		d.restore(s, event.TreeRef(plant(t, s, plantFile(t, s, "plain", "x"), tool)))
		for name, want := range map[string]fs.FileMode{"plain": blob.ModePlain, "tool": blob.ModeExec} {
			if info, err := os.Stat(d.path(name)); err != nil || info.Mode() != want {
				t.Errorf("the mode that was restored: got %s: %v, %v", name, info.Mode(), err)
			}
		}
	})
	t.Run("MakesHolesOfZeros", func(t *testing.T) {
		t.Parallel()
		from, d, s := newFolder(t), newFolder(t), new(blobtest.Memory)
		from.write("h", "begin")
		from.must(os.Truncate(from.path("h"), 50<<20))
		from.write("end", strings.Repeat("\x00", 3<<20)+"end")
		want, _ := from.snapshot(s, nil)
		d.restore(s, want)
		if got, _ := d.snapshot(s, nil); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
		for name, size := range map[string]int64{"h": 50 << 20, "end": 3<<20 + 3} {
			info, err := os.Stat(d.path(name))
			d.must(err)
			if held := info.Sys().(*syscall.Stat_t).Blocks * 512; info.Size() != size || held > 256<<10 {
				t.Errorf("%s has %d bytes, of which the disk has %d", name, info.Size(), held)
			}
		}
	})
	t.Run("PutsEachKindInPlaceOfEachOther", func(t *testing.T) {
		t.Parallel()
		s := new(blobtest.Memory)
		shapes := map[string]event.Ref{
			"file":  plant(t, s, plantFile(t, s, "x", "x")),
			"dir":   plant(t, s, dir("x", plant(t, s, plantFile(t, s, "y", "y")))),
			"link":  plant(t, s, link("x", "y")),
			"empty": plant(t, s),
		}
		for before, from := range shapes {
			for after, to := range shapes {
				d := newFolder(t)
				d.restore(s, event.TreeRef(from))
				d.restore(s, event.TreeRef(to))
				if got, _ := d.snapshot(s, nil); got != event.TreeRef(to) {
					t.Errorf("%s after %s: got %v, want %v", after, before, got, to)
				}
			}
		}
	})
	t.Run("LeavesTheOtherNameOfAFileAlone", func(t *testing.T) {
		t.Parallel()
		outside, d, s := newFolder(t), newFolder(t), new(blobtest.Memory)
		outside.write("precious", "precious")
		d.must(os.Link(outside.path("precious"), d.path("a")))
		a := plantFile(t, s, "a", "overwritten")
		a.Mode = blob.ModeExec
		d.restore(s, event.TreeRef(plant(t, s, a)))
		d.expect("a", "overwritten")
		outside.expect("precious", "precious")
		if info, err := os.Stat(outside.path("precious")); err != nil || info.Mode() != 0o644 {
			t.Errorf("its mode is now %v: %v", info.Mode(), err)
		}
	})
	t.Run("WritesThroughNoLink", func(t *testing.T) {
		t.Parallel()
		outside, d, s := newFolder(t), newFolder(t), new(blobtest.Memory)
		outside.write("f", "precious")
		d.must(os.Symlink(outside.path("f"), d.path("a")))
		d.must(os.Symlink(outside.dir, d.path("d")))
		d.write("within/f", "kept")
		d.must(os.Symlink("within", d.path("e")))
		sub := plant(t, s, plantFile(t, s, "f", "overwritten"))
		within := plant(t, s, plantFile(t, s, "f", "kept"))
		want := plant(t, s, plantFile(t, s, "a", "overwritten"), dir("d", sub), dir("e", sub), dir("within", within))
		d.restore(s, event.TreeRef(want))
		outside.expect("f", "precious")
		d.expect("d/f", "overwritten")
		d.expect("e/f", "overwritten")
		d.expect("within/f", "kept")
	})
	t.Run("RemovesALinkAndNotWhatItPointsTo", func(t *testing.T) {
		t.Parallel()
		outside, d, s := newFolder(t), newFolder(t), new(blobtest.Memory)
		outside.write("f", "precious")
		d.must(os.Symlink(outside.dir, d.path("d")))
		d.restore(s, event.TreeRef(plant(t, s)))
		outside.expect("f", "precious")
	})
}

// hostile trees are written by hand, for Encode refuses to.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	raw := func(entries string) func(*testing.T, *blobtest.Memory) event.Ref {
		return func(t *testing.T, s *blobtest.Memory) event.Ref {
			inner := plant(t, s, plantFile(t, s, "passwd", "owned"))
			entries = strings.ReplaceAll(entries, "HASH", inner.Hash.String())
			return plantBytes(t, s, []byte(`{"entries":[`+entries+`],"tree":1}`))
		}
	}
	for name, build := range map[string]func(*testing.T, *blobtest.Memory) event.Ref{
		"ALinkAndThenAFolderOfThatName": raw(`{"kind":"link","name":"a","target":"/etc"},{"hash":"HASH","kind":"dir","name":"a","size":157}`),
		"ANameThatClimbs":               raw(`{"hash":"HASH","kind":"dir","name":"..","size":157}`),
		"ANameWithASlash":               raw(`{"hash":"HASH","kind":"dir","name":"a/../..","size":157}`),
		"AnAbsoluteName":                raw(`{"kind":"link","name":"/etc/x","target":"a"}`),
		"ANameWithNUL":                  raw(`{"kind":"link","name":"a\u0000","target":"a"}`),
		"TheFolderItself":               raw(`{"hash":"HASH","kind":"dir","name":".","size":157}`),
		"ASetuidFile":                   raw(`{"hash":"HASH","kind":"file","mode":"4755","name":"a","size":1}`),
		"ADevice":                       raw(`{"hash":"HASH","kind":"dev","name":"a","size":1}`),
		"NotATree": func(t *testing.T, s *blobtest.Memory) event.Ref {
			return plantBytes(t, s, []byte("just text"))
		},
		"MoreFilesThanAnyDiskHolds": func(t *testing.T, s *blobtest.Memory) event.Ref { return bomb(t, s, 40) },
		"ATreeThatIsNotThere": func(t *testing.T, s *blobtest.Memory) event.Ref {
			return plant(t, s, dir("a", event.RefOf([]byte("nowhere"))))
		},
		"AFileThatIsNotThere": func(t *testing.T, s *blobtest.Memory) event.Ref {
			return plant(t, s, dir("a", plant(t, s, file("b"))))
		},
		"ATreeOfAnotherSize": func(t *testing.T, s *blobtest.Memory) event.Ref {
			sub := plant(t, s)
			sub.Size++
			return plant(t, s, dir("a", plant(t, s)), dir("b", sub))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := newFolder(t), new(blobtest.Memory)
			d.write("sub/work", "of days")
			before, _ := d.snapshot(s, nil)
			ref := build(t, s)
			if err := blob.Restore(t.Context(), s, event.TreeRef(ref), d.root); err == nil {
				t.Error("restored")
			}
			if after, _ := d.snapshot(s, nil); after != before {
				t.Error("refused, but only after changing the folder")
			}
		})
	}
}

func TestRestoreFails(t *testing.T) {
	t.Parallel()
	t.Run("OnADamagedFileAndLeavesNoneOfIt", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		e := plantFile(t, s, "a", "right")
		s.Damage(e.Hash, []byte("wrong"))
		err := blob.Restore(t.Context(), s, event.TreeRef(plant(t, s, e)), d.root)
		var damage *blob.DamageError
		if !errors.As(err, &damage) || damage.Hash != e.Hash {
			t.Errorf("got %v, want damage of %s", err, e.Hash)
		}
		if _, err := os.Lstat(d.path("a")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("damaged bytes were left: %v", err)
		}
	})
	t.Run("OnAFileOfAnotherSizeThanListed", func(t *testing.T) {
		t.Parallel()
		for _, by := range []int64{-1, 1} {
			d, s := newFolder(t), new(blobtest.Memory)
			e := plantFile(t, s, "a", "right")
			e.Size += by
			if blob.Restore(t.Context(), s, event.TreeRef(plant(t, s, e)), d.root) == nil {
				t.Errorf("restored with %d bytes too many", by)
			}
		}
	})
	t.Run("WhenItsContextIsDone", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		ref := plant(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := blob.Restore(ctx, s, event.TreeRef(ref), d.root); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRestoreIntoAFolderInMotion(t *testing.T) {
	t.Parallel()
	outside := newFolder(t)
	outside.write("f", "precious")
	d, s := newFolder(t), new(blobtest.Memory)
	d.write("real/f", "x")
	d.must(os.Symlink(outside.dir, d.path("evil")))
	sub := plant(t, s, plantFile(t, s, "f", "overwritten"), plantFile(t, s, "g", "added"))
	// The names of the hostile program are in the tree, or it would soon be out
	// of things to swap.
	tree := plant(t, s, dir("d", sub), link("evil", outside.dir), dir("real", sub))
	stop := swapUntilStopped(t, d, [][3]string{{"real", "evil", "d"}})
	for range 150 {
		// It may fail, and will at times; it may not reach out.
		_ = blob.Restore(t.Context(), s, event.TreeRef(tree), d.root)
	}
	stop()
	outside.expect("f", "precious")
	if entries, err := os.ReadDir(outside.dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder outside now has %d entries: %v", len(entries), err)
	}
	d.restore(s, event.TreeRef(tree))
	if got, _ := d.snapshot(s, nil); got != event.TreeRef(tree) {
		t.Error("in peace it does not come out right either")
	}
}

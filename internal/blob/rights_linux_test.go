package blob_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
	"lyceum/internal/need"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// asNobody runs do with the rights of a user who owns dir and nothing else. To
// root everything is allowed, so root steps down for one thread.
func asNobody(t *testing.T, dir string, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	const nobody = 65534
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	})
	if err != nil {
		t.Fatal(err)
	}
	asNobodyIs(t, do)
}

// asNobodyIs is asNobody without a folder.
func asNobodyIs(t *testing.T, do func()) {
	t.Helper()
	const nobody = 65534
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	defer unix.Setfsuid(0)
	do()
}

func TestWithoutRights(t *testing.T) {
	t.Parallel()
	t.Run("SnapshotNamesWhatItMayNotRead", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		d.write("file", "x")
		d.write("folder/a", "x")
		d.write("names-only/a", "x")
		d.write("open", "x")
		d.must(os.Chmod(d.path("file"), 0))
		d.must(os.Chmod(d.path("folder"), 0o300))
		d.must(os.Chmod(d.path("names-only"), 0o600))
		t.Cleanup(func() { os.Chmod(d.path("folder"), 0o700); os.Chmod(d.path("names-only"), 0o700) })
		asNobody(t, d.dir, func() {
			ref, _, skipped, err := blob.Snapshot(t.Context(), s, d.root, nil)
			d.must(err)
			var want []blob.Skipped
			for _, name := range []string{"file", "folder", "names-only"} {
				want = append(want, blob.Skipped{Path: name, Reason: "no right to read it"})
			}
			if diff := cmp.Diff(want, skipped); diff != "" {
				t.Errorf("what was left out differs (-want +got):\n%s", diff)
			}
			if ref != event.TreeRef(plant(t, s, plantFile(t, s, "open", "x"))) {
				t.Error("the readable file is not alone in the tree")
			}
		})
	})
	t.Run("SnapshotTakesTheRightToTheFolderItselfBack", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		d.write("a", "x")
		d.must(os.Chmod(filepath.Dir(d.dir), 0o755))
		want, _ := d.snapshot(s, nil)
		for _, mode := range []fs.FileMode{0, 0o300, 0o400} {
			d.must(os.Chmod(d.dir, mode))
			asNobody(t, d.dir, func() {
				if got, _ := d.snapshot(s, nil); got != want {
					t.Errorf("after chmod %o: got %v, want %v", mode, got, want)
				}
			})
		}
	})
	t.Run("SnapshotSaysWhoseFolderCannotBeRead", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() != 0 {
			need.Missing(t, "giving a folder to somebody else takes root: run the tests with sudo")
		}
		d, s := newFolder(t), new(blobtest.Memory)
		asNobody(t, d.dir, func() {})
		d.must(os.Chown(d.dir, 0, 0))
		d.must(os.Chmod(d.dir, 0o700))
		var unreadable *blob.UnreadableError
		asNobodyIs(t, func() {
			if _, _, _, err := blob.Snapshot(t.Context(), s, d.root, nil); !errors.As(err, &unreadable) {
				t.Errorf("got %v, want that the folder cannot be read", err)
			}
		})
	})
	t.Run("SnapshotDoesNotTakeTheStoresTroubleForTheFolders", func(t *testing.T) {
		t.Parallel()
		d := newFolder(t)
		d.write("sub/a", "x")
		if _, _, _, err := blob.Snapshot(t.Context(), new(denied), d.root, nil); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v, want the store's error", err)
		}
	})
	t.Run("SnapshotReadsAFolderItMayNotWrite", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		d.write("a", "x")
		d.must(os.Chmod(d.dir, 0o555))
		t.Cleanup(func() { os.Chmod(d.dir, 0o755) })
		asNobody(t, d.dir, func() {
			first, x := d.snapshot(s, nil)
			if second, _ := d.snapshot(s, x); first != second {
				t.Errorf("%v then %v", first, second)
			}
		})
	})
	t.Run("RestoreGetsIntoReadOnlyFolders", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		d.write("mod/pkg/old", "x")
		d.write("other/pkg/old", "x")
		want := plant(t, s, dir("mod", plant(t, s, dir("pkg", plant(t, s, plantFile(t, s, "new", "y"))))))
		for _, name := range []string{"mod/pkg", "mod", "other/pkg", "other", "."} {
			d.must(os.Chmod(d.path(name), 0o555))
		}
		asNobody(t, d.dir, func() {
			d.restore(s, event.TreeRef(want))
			if got, _ := d.snapshot(s, nil); got != event.TreeRef(want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	})
}

// denied is a store on a disk that is not ours.
type denied struct{ blobtest.Memory }

func (*denied) Put(context.Context, []byte) (event.Ref, error) {
	return event.Ref{}, &fs.PathError{Op: "open", Path: "blobs", Err: unix.EACCES}
}

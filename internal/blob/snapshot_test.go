package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
	"lyceum/internal/need"

	"github.com/google/go-cmp/cmp"
)

// folder is a folder on disk under test.
type folder struct {
	t    *testing.T
	dir  string
	root *os.Root
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &folder{t, dir, root}
}

func (d *folder) path(name string) string { return filepath.Join(d.dir, name) }

func (d *folder) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *folder) write(name, content string) {
	d.t.Helper()
	d.must(os.MkdirAll(filepath.Dir(d.path(name)), 0o755))
	d.must(os.WriteFile(d.path(name), []byte(content), 0o644))
}

func (d *folder) snapshot(s blob.Store, prev *blob.Index) (event.TreeRef, *blob.Index) {
	d.t.Helper()
	ref, next, skipped, err := blob.Snapshot(d.t.Context(), s, d.root, prev)
	d.must(err)
	if len(skipped) > 0 {
		d.t.Errorf("skipped %v", skipped)
	}
	return ref, next
}

func (d *folder) restore(s blob.Store, ref event.TreeRef) {
	d.t.Helper()
	d.must(blob.Restore(d.t.Context(), s, ref, d.root))
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	t.Run("ListsEachKindWithItsContent", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		d.write("plain", "hello")
		d.write("sub/deep", "")
		d.write("tool", "#!/bin/sh\n")
		d.must(os.Chmod(d.path("tool"), 0o700))
		d.must(os.Chmod(d.path("plain"), 0o606))
		d.must(os.Symlink("/nowhere", d.path("ln")))
		ref, _ := d.snapshot(s, nil)
		got, err := blob.ReadTree(t.Context(), s, ref)
		d.must(err)
		want := blob.Tree{
			link("ln", "/nowhere"),
			plantFile(t, s, "plain", "hello"),
			dir("sub", plant(t, s, plantFile(t, s, "deep", ""))),
			plantFile(t, s, "tool", "#!/bin/sh\n"),
		}
		want[3].Mode = blob.ModeExec
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the snapshot differs (-want +got):\n%s", diff)
		}
	})
	t.Run("KeepsDotFoldersAndEmptyOnes", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		d.write(".git/HEAD", "ref")
		d.must(os.Mkdir(d.path("empty"), 0o755))
		ref, _ := d.snapshot(s, nil)
		got, err := blob.ReadTree(t.Context(), s, ref)
		d.must(err)
		if len(got) != 2 || got[0].Name != ".git" || got[1].Name != "empty" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("DependsOnContentAlone", func(t *testing.T) {
		t.Parallel()
		a, b, s := newFolder(t), newFolder(t), new(blobtest.Memory)
		names := []string{"x", "y", "sub/z", "sub/w", "a b"}
		for i, name := range names {
			a.write(name, name)
			b.write(names[len(names)-1-i], names[len(names)-1-i])
		}
		long := time.Unix(1_000_000_000, 0)
		b.must(os.Chtimes(b.path("x"), long, long))
		b.must(os.Chmod(b.path("sub"), 0o700))
		refA, _ := a.snapshot(s, nil)
		refB, _ := b.snapshot(s, nil)
		if refA != refB {
			t.Errorf("%v and %v", refA, refB)
		}
		b.write("sub/z", "Z")
		if refB, _ = b.snapshot(s, nil); refA == refB {
			t.Error("other content, same tree")
		}
	})
	t.Run("StreamsLargeFiles", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		big := string(blobtest.Bytes(3<<20, 9))
		d.write("big", big)
		ref, _ := d.snapshot(s, nil)
		got, err := blob.ReadTree(t.Context(), s, ref)
		d.must(err)
		if got[0].Ref() != event.RefOf([]byte(big)) {
			t.Errorf("got %v", got)
		}
	})
}

func TestSnapshotSkips(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make   func(string) error
		name   string
		reason string
	}{
		"APipe":            {func(p string) error { return syscall.Mkfifo(p, 0o600) }, "p", "it is a pipe"},
		"ANameNotUTF8":     {func(p string) error { return os.WriteFile(p, nil, 0o600) }, "a\xffb", "its name is not UTF-8"},
		"AFolderNotUTF8":   {func(p string) error { return os.Mkdir(p, 0o700) }, "a\xffb", "its name is not UTF-8"},
		"AnOddLink":        {func(p string) error { return os.Symlink("\xfe", p) }, "l", "the target of the link is not UTF-8"},
		"ASocket":          {listenAt, "s", "it is a socket"},
		"ACharacterDevice": {makeDevice, "null", "it is a device"},
		"AHole": {func(p string) error {
			return errors.Join(os.WriteFile(p, []byte("x"), 0o600), os.Truncate(p, 10<<30))
		}, "h", "10737414144 of its 10737418240 bytes are holes, and 1024 MiB of holes are recorded at most"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := newFolder(t), new(blobtest.Memory)
			d.must(os.Mkdir(d.path("sub"), 0o755))
			want, _ := d.snapshot(s, nil)
			err := c.make(d.path("sub/" + c.name))
			if errors.Is(err, fs.ErrPermission) {
				need.Missing(t, "making a device takes root: run the tests with sudo")
			}
			d.must(err)
			ref, _, skipped, err := blob.Snapshot(t.Context(), s, d.root, nil)
			d.must(err)
			path := "sub/" + c.name
			if strings.Contains(path, "\xff") {
				path = `"sub/a\xffb"`
			}
			if diff := cmp.Diff([]blob.Skipped{{Path: path, Reason: c.reason}}, skipped); diff != "" {
				t.Errorf("what was left out differs (-want +got):\n%s", diff)
			}
			if ref != want {
				t.Error("what was skipped is in the tree all the same")
			}
		})
	}
}

// listenAt leaves a socket behind. Its path may be too long for the kernel, so
// it is made under a short name first.
func listenAt(path string) error {
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	defer os.RemoveAll(short)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(short, "s"), Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return errors.Join(os.Rename(filepath.Join(short, "s"), path), l.Close())
}

func makeDevice(path string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|3) }

func TestIncrementalSnapshot(t *testing.T) {
	t.Parallel()
	t.Run("ReadsNothingTwice", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		for i := range 50 {
			d.write(fmt.Sprintf("d%d/f%d", i%5, i), fmt.Sprint(i))
		}
		blob.Settle(d.root)
		first, x := d.snapshot(s, nil)
		before := s.Writes()
		second, x := d.snapshot(s, x)
		if first != second || s.Writes() != before {
			t.Errorf("%v then %v, with %d writes", first, second, s.Writes()-before)
		}
		d.write("d3/f3", "changed")
		d.snapshot(s, x)
		if n := s.Writes() - before; n != 3 {
			t.Errorf("%d writes for one file and the two folders above it", n)
		}
	})
	t.Run("SeesAFileSwappedForOneOfTheSameSizeAndTime", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		d.write("a", "old")
		blob.Settle(d.root)
		was, x := d.snapshot(s, nil)
		info, err := os.Stat(d.path("a"))
		d.must(err)
		d.write("b", "new")
		d.must(os.Chtimes(d.path("b"), info.ModTime(), info.ModTime()))
		d.must(os.Rename(d.path("b"), d.path("a")))
		if now, _ := d.snapshot(s, x); now == was {
			t.Error("the swap went unnoticed")
		}
	})
	t.Run("SeesTheExecutableBit", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		d.write("a", "x")
		blob.Settle(d.root)
		was, x := d.snapshot(s, nil)
		d.must(os.Chmod(d.path("a"), 0o755))
		if now, _ := d.snapshot(s, x); now == was {
			t.Error("same tree")
		}
	})
	t.Run("SeesEveryChangeHoweverQuick", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		var x *blob.Index
		for i := range 200 {
			content := fmt.Sprintf("%03d", i)
			d.write("a", content)
			var ref event.TreeRef
			ref, x = d.snapshot(s, x)
			if want := plant(t, s, plantFile(t, s, "a", content)); ref != event.TreeRef(want) {
				t.Fatalf("change %d went unnoticed", i)
			}
		}
	})
	t.Run("ReadsAgainWhatTheStoreHasLost", func(t *testing.T) {
		t.Parallel()
		d, s := newFolder(t), new(blobtest.Memory)
		d.write("sub/a", "x")
		blob.Settle(d.root)
		ref, x := d.snapshot(s, nil)
		var all []event.Hash
		d.must(blob.Walk(t.Context(), s, ref, func(r event.Ref) error {
			all = append(all, r.Hash)
			return nil
		}))
		for _, h := range all {
			s.Forget(h)
		}
		again, _ := d.snapshot(s, x)
		if again != ref {
			t.Errorf("%v then %v", ref, again)
		}
		for _, h := range all {
			if ok, _ := s.Has(t.Context(), h); !ok {
				t.Errorf("blob %s is still missing", h)
			}
		}
	})
}

// full is a store with no room left.
type full struct{ blobtest.Memory }

var errFull = fmt.Errorf("write: %w", syscall.ENOSPC)

func (*full) Put(context.Context, []byte) (event.Ref, error) { return event.Ref{}, errFull }

func (*full) Create(context.Context, io.Reader) (event.Ref, error) { return event.Ref{}, errFull }

func TestSnapshotFails(t *testing.T) {
	t.Parallel()
	t.Run("WhenTheStoreDoes", func(t *testing.T) {
		t.Parallel()
		d := newFolder(t)
		d.write("sub/a", "x")
		if _, _, _, err := blob.Snapshot(t.Context(), new(full), d.root, nil); !errors.Is(err, errFull) {
			t.Errorf("got %v, want the store's error", err)
		}
	})
	t.Run("WhenItsContextIsDone", func(t *testing.T) {
		t.Parallel()
		d := newFolder(t)
		d.write("a", "x")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, _, err := blob.Snapshot(ctx, new(blobtest.Memory), d.root, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// grow makes or changes something at random. All it does follows from r.
func (d *folder) grow(r *rand.Rand) {
	names := []string{"a", "b", "c.go", ".hidden", "two words", "ünï", "new\nline", "\"q\"", "\u2028", "-rf"}
	name := names[r.IntN(len(names))]
	for r.IntN(2) == 0 {
		name = filepath.Join(names[r.IntN(len(names))], name)
	}
	// A parent that is a file or a link stands in the way; that is fine, and the
	// reason why links are not followed here: Mkdir goes through the root.
	parent := filepath.Dir(name)
	if d.root.MkdirAll(parent, 0o755) != nil {
		return
	}
	switch r.IntN(6) {
	case 0:
		d.must(d.root.RemoveAll(name))
	case 1:
		_ = d.root.Symlink([]string{"a", "..", "/etc/passwd", name, "gone"}[r.IntN(5)], filepath.Join(parent, "link"))
	default:
		d.growFile(r, name)
	}
}

func (d *folder) growFile(r *rand.Rand, name string) {
	size := []int{0, 1, 10, 5000}[r.IntN(4)]
	if r.IntN(100) == 0 {
		size = 1<<20 + r.IntN(1000)
	}
	if d.root.WriteFile(name, blobtest.Bytes(size, r.Uint64N(3)), 0o644) != nil {
		return
	}
	_ = d.root.Chmod(name, []fs.FileMode{0o600, 0o644, 0o755, 0o700}[r.IntN(4)])
}

func TestRandomFolders(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		t.Run(fmt.Sprintf("ComeBackTheSame%d", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			a, b, s := newFolder(t), newFolder(t), new(blobtest.Memory)
			for range 60 {
				a.grow(r)
				b.grow(r)
			}
			want, _ := a.snapshot(s, nil)
			b.restore(s, want) // over something else
			c := newFolder(t)
			c.restore(s, want) // into nothing
			for _, d := range []*folder{b, c} {
				if got, _ := d.snapshot(s, nil); got != want {
					t.Errorf("restored %v, found %v", want, got)
				}
			}
		})
		t.Run(fmt.Sprintf("AreTheSameReadInFullOrInPart%d", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 2))
			d, s := newFolder(t), new(blobtest.Memory)
			var x *blob.Index
			for range 15 {
				for range r.IntN(8) {
					d.grow(r)
				}
				var part event.TreeRef
				part, x = d.snapshot(s, x)
				if whole, _ := d.snapshot(new(blobtest.Memory), nil); part != whole {
					t.Fatalf("in part %v, in full %v", part, whole)
				}
				stored := indexBytes(t, x)
				x = new(blob.Index)
				d.must(x.UnmarshalBinary(stored))
			}
			d.must(blob.Walk(t.Context(), s, first(d.snapshot(s, x)), func(ref event.Ref) error {
				_, err := s.Get(t.Context(), ref.Hash)
				return err
			}))
		})
	}
}

func first(ref event.TreeRef, _ *blob.Index) event.TreeRef { return ref }

func TestSnapshotOfAFolderInMotion(t *testing.T) {
	t.Parallel()
	outside := newFolder(t)
	outside.write("secret", "the secret")
	d, s := newFolder(t), new(blobtest.Memory)
	d.write("real/secret", "harmless")
	d.write("real/more", "harmless too")
	d.must(os.Symlink(outside.dir, d.path("evil")))
	d.must(os.Symlink(outside.path("secret"), d.path("evil2")))
	stop := swapUntilStopped(t, d, [][3]string{{"real", "evil", "d"}, {"real/more", "evil2", "f"}})
	for range 150 {
		_, _, _, err := blob.Snapshot(t.Context(), s, d.root, nil)
		d.must(err)
	}
	stop()
	if ok, _ := s.Has(t.Context(), event.HashOf([]byte("the secret"))); ok {
		t.Error("a link was followed out of the folder")
	}
}

// swapUntilStopped lets the third name of each triple be now the first thing,
// now the second, as fast as it can.
func swapUntilStopped(t *testing.T, d *folder, triples [][3]string) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			for _, n := range triples {
				for _, side := range n[:2] {
					_ = os.Rename(d.path(side), d.path(n[2]))
					_ = os.Rename(d.path(n[2]), d.path(side))
				}
			}
			select {
			case <-quit:
				return
			default:
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

func TestSnapshotOfAGrowingFileNamesWhatWasRead(t *testing.T) {
	t.Parallel()
	d, s := newFolder(t), new(blobtest.Memory)
	d.write("log", "")
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		f, err := os.OpenFile(d.path("log"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
				fmt.Fprintf(f, "line %d\n", i)
			}
		}
	}()
	var x *blob.Index
	for range 50 {
		var ref event.TreeRef
		ref, x = d.snapshot(s, x)
		d.must(blob.Walk(t.Context(), s, ref, func(r event.Ref) error {
			data, err := s.Get(t.Context(), r.Hash)
			if int64(len(data)) != r.Size {
				t.Errorf("blob of %d bytes is listed with %d", len(data), r.Size)
			}
			return err
		}))
	}
	close(quit)
	<-done
	part, _ := d.snapshot(s, x)
	if whole, _ := d.snapshot(s, nil); part != whole {
		t.Error("the last lines went unnoticed")
	}
}

func TestSnapshotOfADeepFolder(t *testing.T) {
	t.Parallel()
	d, s := newFolder(t), new(blobtest.Memory)
	ref := plant(t, s, plantFile(t, s, "f", "x"))
	for range blob.MaxDepth - 1 {
		ref = plant(t, s, dir("d", ref))
	}
	d.restore(s, event.TreeRef(ref))
	if got, _ := d.snapshot(s, nil); got != event.TreeRef(ref) {
		t.Errorf("got %v, want %v", got, ref)
	}
	err := blob.Restore(t.Context(), s, event.TreeRef(plant(t, s, dir("d", ref))), d.root)
	if err == nil || !strings.Contains(err.Error(), "folders in each other") {
		t.Errorf("one folder deeper: %v", err)
	}
	// The disk can hold what a tree cannot: put it all one folder deeper.
	d.must(os.Rename(d.path("d"), d.path("tmp")))
	d.must(os.Mkdir(d.path("d"), 0o755))
	d.must(os.Rename(d.path("tmp"), d.path("d/d")))
	_, _, skipped, err := blob.Snapshot(t.Context(), s, d.root, nil)
	d.must(err)
	if len(skipped) != 1 || !slices.ContainsFunc(skipped, func(s blob.Skipped) bool { return strings.HasSuffix(s.Reason, "folders deep") }) {
		t.Errorf("skipped %d", len(skipped))
	}
}

func TestSnapshotButLeavesOutWhatItIsTold(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(dir string) error{
		"AFolder": func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, ".git", "deep"), 0o755), os.WriteFile(filepath.Join(dir, ".git", "deep", "x"), nil, 0o644))
		},
		"ALink": func(dir string) error { return os.Symlink("/", filepath.Join(dir, ".git")) },
		"APipe": func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, ".git"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := errors.Join(make(dir), os.MkdirAll(filepath.Join(dir, "sub", ".git"), 0o755)); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			store := new(blobtest.Memory)
			ref, _, skipped, err := blob.SnapshotBut(t.Context(), store, root, nil, func(p string) bool { return p == ".git" })
			if err != nil {
				t.Fatal(err)
			}
			tree, err := blob.ReadTree(t.Context(), store, ref)
			if err != nil || len(tree) != 1 || tree[0].Name != "sub" || len(skipped) > 0 {
				t.Errorf("got %v, skipped %v, %v; want the rest, and nothing told of what was left", tree, skipped, err)
			}
			sub, err := blob.ReadTree(t.Context(), store, event.TreeRef(tree[0].Ref()))
			if err != nil || len(sub) != 1 {
				t.Errorf("below there is %v, %v; want what has the same name elsewhere", sub, err)
			}
		})
	}
}

package blob

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func openRoot(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// TestOpen plays the hostile program: between the listing and the opening
// something else takes the name. An open that waits on a pipe would hang here.
func TestOpen(t *testing.T) {
	t.Parallel()
	swaps := map[string]func(name string) error{
		"APipe":            func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"ALinkWithin":      func(name string) error { return os.Symlink("other", name) },
		"ALinkOut":         func(name string) error { return os.Symlink(os.TempDir(), name) },
		"ALinkToNothing":   func(name string) error { return os.Symlink("nowhere", name) },
		"ALinkToItself":    func(name string) error { return os.Symlink(filepath.Base(name), name) },
		"AnotherFolder":    func(name string) error { return os.Mkdir(name, 0o700) },
		"AnotherFile":      func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"NothingAtAll":     func(string) error { return nil },
		"ALinkToTheFolder": func(name string) error { return os.Symlink(".", name) },
	}
	for name, swap := range swaps {
		for kind, build := range map[string]func(string) error{
			"InsteadOfAFolder": func(name string) error { return os.Mkdir(name, 0o700) },
			"InsteadOfAFile":   func(name string) error { return os.WriteFile(name, nil, 0o600) },
		} {
			t.Run("Notices"+name+kind, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				root := openRoot(t, dir)
				victim := filepath.Join(dir, "victim")
				if err := errors.Join(build(filepath.Join(dir, "other")), build(victim)); err != nil {
					t.Fatal(err)
				}
				info, err := root.Lstat("victim")
				if err != nil {
					t.Fatal(err)
				}
				// Renamed and not removed, so that its inode is not used again.
				if err := errors.Join(os.Rename(victim, victim+".old"), swap(victim)); err != nil {
					t.Fatal(err)
				}
				if info.IsDir() {
					_, err = openFolder(root, info)
				} else {
					_, _, err = openFile(root, info)
				}
				if !errors.Is(err, errReplaced) {
					t.Errorf("got %v, want errReplaced", err)
				}
			})
		}
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	start := stamp{mtime: 100, ctime: 100, dev: 7}
	for name, c := range map[string]struct {
		file stamp
		want bool
	}{
		"IsSettledWhenOlderThanTheSnapshot":   {stamp{mtime: 99, ctime: 99, dev: 7}, true},
		"IsRacyWhenWrittenInTheSameTick":      {stamp{mtime: 100, ctime: 100, dev: 7}, false},
		"IsRacyWhenTouchedBackInTheSameTick":  {stamp{mtime: 5, ctime: 100, dev: 7}, false},
		"IsRacyWhenDatedInTheFuture":          {stamp{mtime: 500, ctime: 99, dev: 7}, false},
		"IsRacyOnAFileSystemWithAnotherClock": {stamp{mtime: 99, ctime: 99, dev: 8}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.file.settled(start); got != c.want {
				t.Errorf("settled = %t", got)
			}
			if c.file.settled(stamp{}) {
				t.Error("settled by a clock that could not be read")
			}
		})
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := openRoot(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := root.Lstat("a")
	if err != nil {
		t.Fatal(err)
	}
	file, ok := stampOf(info)
	if !ok {
		t.Fatal("no stamp")
	}
	if now := clock(root); now.mtime < file.mtime || now.dev != file.dev {
		t.Errorf("clock %+v is behind a file made before: %+v", now, file)
	}
	if infos, err := list(root); err != nil || len(infos) != 1 {
		t.Errorf("the clock left %d files: %v", len(infos)-1, err)
	}
}

// Settle returns once a file changed before the call is old enough for an index
// to believe in. It is the test's way to wait for the file system's next tick.
func Settle(root *os.Root) {
	for first := clock(root); clock(root).mtime <= first.mtime; {
	}
}

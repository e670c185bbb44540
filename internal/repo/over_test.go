package repo_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
	"lyceum/internal/repo"

	"github.com/google/go-cmp/cmp"
)

// TestFilesLaidOver a base count over what was read, and cannot be where nothing can.
func TestFilesLaidOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "a", "d/b": "b", "d/run": "r"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "d/run"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	store := &blobtest.Memory{}
	over := map[string][]byte{
		"a": []byte("A"), "d/run": []byte("R"), "d/new/er": []byte("n"), "z": []byte("z"),
		"a/below": nil, "d": nil, "link": nil, "link/x": nil, "../out": nil, ".git/config": nil, "/abs": nil, "": nil, "d//x": nil, "b\x1bc": nil,
	}
	base, err := repo.Read(context.Background(), store, dir, repo.Options{Over: over})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if err := blob.Files(context.Background(), store, base.Tree, func(path string, ref event.Ref) error {
		data, err := store.Get(context.Background(), ref.Hash)
		got[path] = string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "A", "d/b": "b", "d/run": "R", "d/new/er": "n", "z": "z"}, got); diff != "" {
		t.Errorf("the files are others (-want +got):\n%s", diff)
	}
	if e, err := repo.At(context.Background(), store, base.Tree, "d/run"); err != nil || e.Mode != blob.ModeExec {
		t.Errorf("a program is one no more: %+v, %v", e, err)
	}
	if e, err := repo.At(context.Background(), store, base.Tree, "link"); err != nil || e.Kind != blob.Link {
		t.Errorf("the link was replaced: %+v, %v", e, err)
	}
	if n := len(base.LeftOut); n != 10 {
		t.Errorf("%d are left out, want those 10 that cannot be: %v", n, base.LeftOut)
	}
	for _, l := range base.LeftOut {
		if strings.Contains(l.Path, "\x1b") || l.Reason == "" {
			t.Errorf("left out as %+v", l)
		}
	}
}

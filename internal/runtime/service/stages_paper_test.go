package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages/bundle"
	"lyceum/internal/society/stages/study"
)

// The folder has the last revision of a paper to the byte; what only an earlier one had goes, and
// what somebody else put there stays.
func TestThePaperInTheFolder(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	rt := &runtime.Runtime{Blobs: &blobtest.Memory{}}
	tree := func(files ...bundle.File) event.TreeRef {
		ref, err := keepTree(ctx, rt.Blobs, files)
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	s := &study.Study{}
	f := &paperFiles{}
	if list, err := f.of(ctx, rt, s); err != nil || len(list) != 0 {
		t.Errorf("without a paper there are %v, %v", list, err)
	}
	first := tree(bundle.File{Path: "paper.md", Data: []byte("one")}, bundle.File{Path: "figures/old.svg", Data: []byte("old")}, bundle.File{Path: "figures/kept.svg", Data: []byte("kept")}, bundle.File{Path: "figures/mine.svg", Data: []byte("theirs")})
	second := tree(bundle.File{Path: "paper.md", Data: []byte("two")}, bundle.File{Path: "figures/kept.svg", Data: []byte("kept")})
	s.Papers = []*study.Paper{{ID: "paper-1", Seq: 5, Tree: first}, {ID: "paper-1", Seq: 9, Tree: second}}
	for name, data := range map[string]string{"paper/figures/old.svg": "old", "paper/figures/kept.svg": "kept", "paper/figures/mine.svg": "changed by hand", "paper/notes.txt": "a person's"} {
		if err := runtime.ReplaceFile(filepath.Join(dir, name), []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := f.of(ctx, rt, s)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range list {
		data, err := rt.Blobs.Get(ctx, x.File.Hash)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, x.Path+" "+string(data))
	}
	if got, want := strings.Join(names, ", "), "paper/figures/kept.svg kept, paper/paper.md two"; got != want {
		t.Errorf("the folder should have %s, want %s", got, want)
	}
	if !f.was("paper/paper.md", []byte("one")) || f.was("paper/paper.md", []byte("forged")) || f.was("paper/paper.md", []byte("two")) {
		t.Error("a file of an earlier revision is told from another by its bytes, and was not")
	}
	if err := f.tidy(dir); err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]bool{"paper/figures/old.svg": false, "paper/figures/kept.svg": true, "paper/figures/mine.svg": true, "paper/notes.txt": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s is there: %v, want %v", name, err == nil, there)
		}
	}
}

package service

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
	"lyceum/internal/need"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages/study"
)

// steps are checkpoints of one line of work with 50 files, of which each changes two.
func steps(tb testing.TB, store blob.Store, n int) *study.Study {
	tb.Helper()
	put := func(data []byte) event.Ref {
		ref, err := store.Put(tb.Context(), data)
		if err != nil {
			tb.Fatal(err)
		}
		return ref
	}
	s := study.New(study.Copilot, study.Scout, false)
	files := make([]string, 50)
	for i := range n {
		for _, k := range []int{i % 50, i * 7 % 50} {
			files[k] = fmt.Sprintf("file %d of step %d\n%s", k, i, bytes.Repeat([]byte("some line\n"), 200))
		}
		var tree blob.Tree
		for k, text := range files {
			ref := put([]byte(text))
			tree = append(tree, blob.Entry{Name: fmt.Sprintf("f%03d", k), Kind: blob.File, Mode: blob.ModePlain, Hash: ref.Hash, Size: ref.Size})
		}
		data, err := tree.Encode()
		if err != nil {
			tb.Fatal(err)
		}
		c := study.Checkpoint{Seq: uint64(10 + i), Time: event.Time(i) * 1e6, Actor: "researcher", Branch: study.Main, Message: fmt.Sprint("step ", i), Tree: event.TreeRef(put(data))}
		if i > 0 {
			c.Parent = c.Seq - 1
		}
		s.Checkpoints = append(s.Checkpoints, c)
		s.Branches[0].Head = c.Seq
	}
	return s
}

// quiet is a quest in a folder of its own.
func quiet(tb testing.TB, store blob.Store) *runtime.Quest {
	home := tb.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "quests", "q"), 0o755); err != nil {
		tb.Fatal(err)
	}
	return &runtime.Quest{Runtime: &runtime.Runtime{Home: home, Blobs: store}, Key: "q", Progress: func(line string) { tb.Error(line) }}
}

// 500 commits are made again, and git fast-import alone takes in the same stream:
//
//	go test ./internal/runtime/service -run '^$' -bench CommitsAgain -benchtime 5x
func BenchmarkCommitsAgain(b *testing.B) {
	need.Program(b, "git")
	store := &blobtest.Memory{}
	s := steps(b, store, 500)
	b.Run("Lyceum", func(b *testing.B) {
		for b.Loop() {
			if err := commitAll(b.Context(), quiet(b, store), s); err != nil {
				b.Fatal(err)
			}
		}
	})
	var all bytes.Buffer
	out := bufio.NewWriter(&all)
	w := &stream{store: store, ids: map[uint64]string{}, marks: map[uint64]int{}, blobs: map[event.Hash]int{}, trees: map[uint64]event.TreeRef{}}
	for _, c := range s.Checkpoints {
		w.trees[c.Seq] = c.Tree
	}
	if err := w.write(b.Context(), out, s.Checkpoints, nil, nil); err != nil {
		b.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	b.Run("FastImport", func(b *testing.B) {
		for b.Loop() {
			r, err := openRepository(b.Context(), b.TempDir(), true)
			if err != nil {
				b.Fatal(err)
			}
			if _, _, err := r.once(b.Context(), nil, bytes.NewReader(all.Bytes()), "fast-import", "--quiet", "--done"); err != nil {
				b.Fatal(err)
			}
			if err := r.close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Commits of any number are the same, written at once or one after another.
func TestCommitsAreTheSameHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	store := &blobtest.Memory{}
	s := steps(t, store, 60)
	heads := func(q *runtime.Quest) string {
		refs, err := readRepository(context.Background(), q.QuestDir(q.Key))
		if err != nil {
			t.Fatal(err)
		}
		return refs[study.Main]
	}
	whole, piecewise := quiet(t, store), quiet(t, store)
	if err := commitAll(t.Context(), whole, s); err != nil {
		t.Fatal(err)
	}
	for n := 7; ; n = min(n+13, len(s.Checkpoints)) {
		part := study.New(study.Copilot, study.Scout, false)
		part.Checkpoints = s.Checkpoints[:n]
		part.Branches[0].Head = s.Checkpoints[n-1].Seq
		if err := commitAll(t.Context(), piecewise, part); err != nil {
			t.Fatal(err)
		}
		if n == len(s.Checkpoints) {
			break
		}
	}
	if a, b := heads(whole), heads(piecewise); a == "" || a != b {
		t.Errorf("at once main is at %s, piece by piece at %s", a, b)
	}
	// The id itself is part of what was promised: another means that old repositories are others.
	if got, want := heads(whole), "7684ba96b4732ee20eebe5237e3d38205e15718f"; got != want {
		t.Errorf("main is at %s, want %s", got, want)
	}
}

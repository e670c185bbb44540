package runtime_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/need"
	"lyceum/internal/quest"
	"lyceum/internal/runtime/audit"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// place is where bytes of a quest stand, and how verify must name what is wrong there.
type place struct {
	kind, name string
	data       []byte
	write      func([]byte) error
	names      func(*audit.Difference) bool
}

// places are all rows, blobs and files of a lab's quest.
func (l *lab) places(name string, conn *sq.Conn) (out []place) {
	l.t.Helper()
	exec := func(query string, args ...any) error {
		return sqlitex.Execute(conn, query, &sqlitex.ExecOptions{Args: args})
	}
	used := map[event.Hash]bool{}
	trees := blob.NewWalker(l.Blobs, func(r event.Ref) error { used[r.Hash] = true; return nil })
	for _, e := range l.events(name) {
		out = append(out, place{"event", fmt.Sprint(e.Seq), e.Line(),
			func(b []byte) error { return exec("UPDATE events SET line = ? WHERE seq = ?", b, int64(e.Seq)) },
			func(d *audit.Difference) bool { return d.Seq == e.Seq }})
		refs, roots := event.Refs(e.Body)
		for _, r := range refs {
			used[r.Hash] = true
		}
		for _, r := range roots {
			must(l.t, trees.Walk(l.t.Context(), r))
		}
	}
	for h := range used {
		names := func(d *audit.Difference) bool { return d.Seq > 0 && strings.Contains(d.What, h.String()) }
		if data, err := l.Ledger.Blob(l.t.Context(), h); err == nil {
			out = append(out, place{"blob", h.String(), data, func(b []byte) error { return exec("UPDATE blobs SET data = ? WHERE hash = ?", b, h[:]) }, names})
		}
	}
	files := func(kind, dir string, names func(path string) func(*audit.Difference) bool) {
		must(l.t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if h, err := event.ParseHash(strings.ReplaceAll(strings.TrimPrefix(path, dir+"/"), "/", "")); kind == "blob" && (err != nil || !used[h]) {
				return nil
			}
			data, err := os.ReadFile(path)
			out = append(out, place{kind, path, data, func(b []byte) error {
				_ = os.Chmod(path, 0o600)
				return os.WriteFile(path, b, 0o600)
			}, names(path)})
			return err
		}))
	}
	files("blob", filepath.Join(l.Home, "blobs"), func(path string) func(*audit.Difference) bool {
		return func(d *audit.Difference) bool { return d.Seq > 0 && strings.Contains(d.What, filepath.Base(path)) }
	})
	file := func(path string) func(*audit.Difference) bool {
		return func(d *audit.Difference) bool { return d.File == path }
	}
	files("paper", filepath.Join(l.QuestDir(name), "publications"), file)
	for _, f := range []string{"SUMMARY.md", "brief.md", "quest.yaml"} {
		files("file", filepath.Join(l.QuestDir(name), f), file)
	}
	return out
}

// finishedLab is a lab that has published, with attachments in every paper.
func finishedLab(t *testing.T) (*lab, string) {
	t.Helper()
	l := research(t, t.TempDir(), trio)
	name := l.found(3, "")
	for i := range 3 {
		must(t, file("data.csv")(l.home(name, fmt.Sprint("agent-", i))))
	}
	if s := l.run(name); s.Status != quest.Finished {
		t.Fatalf("the quest is %v (%v), want it finished", s.Status, s.Reason)
	}
	l.whole(name)
	return l, name
}

// TestVerifyFindsAThousandChangedBytes changes one byte anywhere in what a lab has left,
// a thousand times, and each time verify says where.
func TestVerifyFindsAThousandChangedBytes(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	l, name := finishedLab(t)
	conn, err := sq.OpenConn(filepath.Join(l.Home, "lyceum.db"), sq.OpenReadWrite)
	must(t, err)
	defer conn.Close()
	must(t, sqlitex.ExecuteTransient(conn, "PRAGMA synchronous = OFF", nil))
	byKind := map[string][]place{}
	for _, p := range l.places(name, conn) {
		if len(p.data) > 0 {
			byKind[p.kind] = append(byKind[p.kind], p)
		}
	}
	rng := rand.New(rand.NewPCG(1853, 4))
	kinds := []string{"event", "blob", "paper", "file"}
	seen := map[string]bool{}
	for i := range 1000 {
		all := byKind[kinds[i%len(kinds)]]
		if len(all) == 0 {
			t.Fatalf("there is no %s to change", kinds[i%len(kinds)])
		}
		p := all[rng.IntN(len(all))]
		at, other := rng.IntN(len(p.data)), bytes.Clone(p.data)
		other[at] ^= byte(1 + rng.IntN(255))
		must(t, p.write(other))
		rep, err := audit.Verify(t.Context(), l.Runtime, name, nil)
		must(t, err)
		if rep.Difference == nil || !p.names(rep.Difference) {
			t.Fatalf("byte %d of the %s %s was changed from %q to %q; found %v", at, p.kind, p.name, p.data[at], other[at], rep.Difference)
		}
		must(t, p.write(p.data))
		seen[filepath.Base(p.name)] = true
	}
	for _, want := range []string{"publication.md", "reviews.md", "data.csv", "SUMMARY.md", "quest.yaml"} {
		if !seen[want] {
			t.Errorf("no byte of any %s was changed", want)
		}
	}
	l.whole(name)
}

func TestVerifyFindsWhatTheLedgerDoesNotKnow(t *testing.T) {
	t.Parallel()
	l, name := finishedLab(t)
	papers := filepath.Join(l.QuestDir(name), "publications")
	list, err := os.ReadDir(papers)
	must(t, err)
	first := filepath.Join(papers, list[0].Name())
	for what, c := range map[string]struct {
		do    func(path string) error
		path  string
		found bool
	}{
		"a paper that nobody handed in": {func(p string) error { return os.Mkdir(p, 0o755) }, filepath.Join(papers, strings.Repeat("0", 32)), true},
		"a file beside a paper":         {func(p string) error { return os.WriteFile(p, nil, 0o600) }, filepath.Join(first, "proof.txt"), true},
		"a link beside a paper":         {func(p string) error { return os.Symlink("/etc/passwd", p) }, filepath.Join(first, "link"), true},
		"what a killed process began":   {func(p string) error { return os.WriteFile(p, []byte("x"), 0o600) }, filepath.Join(first, ".new-1"), false},
	} {
		must(t, c.do(c.path))
		rep, err := audit.Verify(t.Context(), l.Runtime, name, nil)
		must(t, err)
		if (rep.Difference != nil && rep.Difference.File == c.path) != c.found || !c.found && rep.Difference != nil {
			t.Errorf("%s: found %v", what, rep.Difference)
		}
		must(t, os.RemoveAll(c.path))
	}
	// What was written and is gone is found, and written again.
	must(t, os.RemoveAll(first))
	rep, err := audit.Verify(t.Context(), l.Runtime, name, nil)
	must(t, err)
	if d := rep.Difference; d == nil || d.File != first || !strings.Contains(d.What, "removed") {
		t.Errorf("the folder of a paper is removed: got %v, want it found", d)
	}
	if _, err := l.TidyUp(t.Context(), name, nil); err != nil {
		t.Fatal(err)
	}
	l.whole(name)
	// What is not there yet will be written: a process that was killed came to neither the
	// papers nor the summary.
	must(t, os.RemoveAll(papers))
	must(t, os.Remove(filepath.Join(l.QuestDir(name), "SUMMARY.md")))
	l.whole(name)
}

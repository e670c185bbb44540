package api_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// isCache reports whether a file of a home holds only what the home has anyway: the
// index that SQLite makes of its log in shared memory, and projections and states that
// are folded from the ledger again where they are missing.
func isCache(name string) bool {
	return name == "lyceum.db-shm" || name == "cache" || strings.HasPrefix(name, "cache"+string(filepath.Separator))
}

// snapshot is every file of a folder but the caches: what it is, and what is in it.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || isCache(name) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			out[name] += fmt.Sprintf(" %d %x", len(data), sha256.Sum256(data))
			return err
		}
		return nil
	}))
	return out
}

// changed are the names that two snapshots do not have alike.
func changed(before, after map[string]string) (out []string) {
	for name, was := range before {
		if after[name] != was {
			out = append(out, fmt.Sprintf("%s: %s, then %s", name, was, after[name]))
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			out = append(out, name+" is new")
		}
	}
	slices.Sort(out)
	return out
}

// TestReadingChangesNothing asks every route that reads, with and without what it can be
// asked, and compares the ledgers line by line and the home byte by byte.
func TestReadingChangesNothing(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	w := newWorld(t)
	w.create("fresh", nil) // nobody has ever run it
	names := []string{"alone", "net", "lab", "fresh"}
	ledgers := func() map[string]string {
		out := map[string]string{}
		for _, name := range names {
			out[name] = strings.Join(lines(t, w.rt, name), "\n")
		}
		return out
	}
	lines, files := ledgers(), snapshot(t, w.rt.Home)
	asked := 0
	ask := func(method, path string, change ...func(*http.Request)) {
		w.do(method, path, nil, change...)
		asked++
	}
	look := func(what string) {
		if now := snapshot(t, w.rt.Home); !maps.Equal(files, now) {
			t.Errorf("files were changed by %s: %s", what, strings.Join(changed(files, now), "\n"))
			files = now
		}
	}
	c := readDocument(t)
	for pattern, op := range c.ops {
		if !strings.HasPrefix(pattern, "GET ") {
			continue
		}
		for _, quest := range append(names, "nope") {
			path := w.path(pattern, quest)
			ask("GET", path)
			ask("HEAD", path)
			for _, q := range op.Parameters {
				if q.In == "query" {
					for _, value := range []string{"1", "true", "lab", "../x"} {
						ask("GET", path+"?"+q.Name+"="+value)
					}
				}
			}
		}
		look(pattern)
	}
	ask("GET", "/api/diff?a=alone&b=net")
	ask("GET", "/api/trees/"+w.tree)
	for _, quest := range []string{"alone", "net", "lab"} { // they have ended, and so do their streams
		ask("GET", "/api/quests/"+quest+"/events", streaming)
		ask("GET", "/api/quests/"+quest+"/events?format=acp", streaming)
	}
	ask("GET", "/?token="+token, bare)
	ask("GET", "/quests/lab/papers")
	look("streams and the page")
	if after := ledgers(); !maps.Equal(lines, after) {
		t.Error("the ledgers are not what they were")
	}
	t.Logf("%d requests", asked)
}

package search

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func openTest(t *testing.T, path string, docs []Document) *Store {
	t.Helper()
	s, err := OpenStore(context.Background(), path, docs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// identity changes when a file is put in place anew.
func identity(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestStore(t *testing.T) {
	t.Parallel()
	t.Run("FindsWhatAnIndexFinds", func(t *testing.T) {
		t.Parallel()
		docs := texts(zipfian(11, 3000, 60)...)
		docs = append(docs, Document{ID: "b/two.md", Title: "Two", Paragraphs: []string{"化学反应 the parseHTTPRequest", "w1 w1 w1 w1 w2 energy", strings.Repeat("w3 ", 900)}}, Document{ID: "c/empty.md"})
		s, x := openTest(t, filepath.Join(t.TempDir(), "s.db"), docs), NewIndex(docs)
		for _, query := range []string{"w0", "w1 w2", "w0 w5 w77 w1000", "w3 w3 w9", "反应", "http request", "unknown w40", "", "w4999 w4998 w4997"} {
			for _, limit := range []int{1, 10, 5000} {
				got, want := find(t, s, query, limit), find(t, x, query, limit)
				if !slices.Equal(got, want) {
					t.Errorf("%q, %d: got %d hits, want %d, or others", query, limit, len(got), len(want))
				}
			}
		}
	})
	t.Run("IsOpenedAndNotBuiltAgain", func(t *testing.T) {
		t.Parallel()
		path, docs := filepath.Join(t.TempDir(), "new", "s.db"), texts("one two", "three")
		openTest(t, path, docs)
		before := identity(t, path)
		slices.Reverse(docs)
		s := openTest(t, path, docs)
		if !os.SameFile(before, identity(t, path)) {
			t.Error("the same documents in another order were indexed again")
		}
		if hits := find(t, s, "three", 5); len(hits) != 1 {
			t.Errorf("found %v", hits)
		}
		if info := identity(t, path); info.Mode().Perm() != 0o600 {
			t.Errorf("others may read it: %v", info.Mode())
		}
	})
	t.Run("IsBuiltAnewForOtherDocuments", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "s.db")
		openTest(t, path, texts("one two", "three"))
		// The same letters, in other paragraphs.
		s := openTest(t, path, texts("one", "two three"))
		if hits := find(t, s, "two", 5); len(hits) != 1 || hits[0].Text != "two three" {
			t.Errorf("found %v", hits)
		}
	})
	t.Run("IsBuiltAnewWhenTorn", func(t *testing.T) {
		t.Parallel()
		docs := texts(zipfian(1, 200, 50)...)
		whole := filepath.Join(t.TempDir(), "s.db")
		openTest(t, whole, docs)
		data, err := os.ReadFile(whole)
		if err != nil {
			t.Fatal(err)
		}
		for name, torn := range map[string][]byte{
			"empty": {}, "cut": data[:len(data)/2], "cut at a page": data[:8192*3], "garbage": bytes.Repeat([]byte("x"), 20000),
			"no marks": append(append(slices.Clone(data[:60]), 0, 0, 0, 0), data[64:]...), "longer": append(slices.Clone(data), make([]byte, 8192)...),
		} {
			path := filepath.Join(t.TempDir(), "s.db")
			if err := os.WriteFile(path, torn, 0o600); err != nil {
				t.Fatal(err)
			}
			if hits := find(t, openTest(t, path, docs), "w1 w2", 5); len(hits) != 5 {
				t.Errorf("%s: found %v", name, hits)
			}
		}
	})
	t.Run("NamesDamageInside", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "s.db")
		docs := texts("needle in the haystack, nothing else", "three")
		openTest(t, path, docs)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Replace(data, []byte("haystack,"), []byte("haystock,"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = openTest(t, path, docs).Search(context.Background(), "needle", 1)
		if err == nil || !strings.Contains(err.Error(), "delete it") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("SweepsAwayWhatAKilledBuilderLeft", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		path := filepath.Join(dir, "s.db")
		for _, name := range []string{"s.db.123.unfinished", "other.db.123.unfinished"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		openTest(t, path, texts("a"))
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(names) != 2 {
			t.Errorf("there are %v, want the index and what another left: %v", names, err)
		}
	})
	t.Run("LeavesAloneWhatAnotherIsBuilding", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		f, err := os.Create(filepath.Join(dir, "s.db.123.unfinished"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		openTest(t, filepath.Join(dir, "s.db"), texts("a"))
		identity(t, f.Name())
	})
	t.Run("TellsDocumentsFromParagraphs", func(t *testing.T) {
		t.Parallel()
		one := newCorpus([]Document{{ID: "a", Title: "t", Paragraphs: []string{"p", "b", "t", "q"}}})
		two := newCorpus([]Document{{ID: "a", Title: "t", Paragraphs: []string{"p"}}, {ID: "b", Title: "t", Paragraphs: []string{"q"}}})
		again := newCorpus([]Document{{ID: "a", Title: "t", Paragraphs: []string{"p", "b", "t"}}, {ID: "q", Title: ""}})
		if one.key() == two.key() || one.key() == again.key() {
			t.Error("two corpora have one key")
		}
	})
	t.Run("StopsBuildingWhenToldTo", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := OpenStore(ctx, filepath.Join(dir, "s.db"), texts("a")); err == nil {
			t.Error("it was built")
		}
		if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 0 {
			t.Errorf("left behind: %v", names)
		}
	})
	t.Run("SearchesForSeveralAtOnce", func(t *testing.T) {
		t.Parallel()
		s := openTest(t, filepath.Join(t.TempDir(), "s.db"), texts(zipfian(2, 300, 40)...))
		want := find(t, s, "w1 w9", 10)
		errs := make(chan error, 16)
		for range cap(errs) {
			go func() {
				got, err := s.Search(context.Background(), "w1 w9", 10)
				if err == nil && !slices.Equal(got, want) {
					err = fmt.Errorf("another answer")
				}
				errs <- err
			}()
		}
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzStoreQuery: whatever is asked, the answer is that of an index; nothing is an error.
func FuzzStoreQuery(f *testing.F) {
	for _, s := range []string{`"`, `one" OR names:*`, "NEAR(one two)", "^one -two", "1x1", "0x1*", `'; DROP TABLE terms; --`, "{names}: one", "\x00one", "one\xff", "化学'"} {
		f.Add(s)
	}
	docs := texts("one two three", "two parseQuery 化学反应", "names OR NEAR 1x1 0x1 drop table")
	s, err := OpenStore(context.Background(), filepath.Join(f.TempDir(), "s.db"), docs)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	x := NewIndex(docs)
	f.Fuzz(func(t *testing.T, query string) {
		if got, want := find(t, s, query, 5), find(t, x, query, 5); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	})
}

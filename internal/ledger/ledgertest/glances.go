package ledgertest

import (
	"testing"

	"lyceum/internal/ledger"
)

// testGlances: what a list says of quests is kept by form and version, across stores, until the quest is removed.
func testGlances(t *testing.T, s *suite) {
	dir := t.TempDir()
	st := s.store(t, dir)
	for _, quest := range []string{"one", "two"} {
		must(t, st.Append(t.Context(), ledger.Batch{Quest: quest, Events: Chain(t, ledger.Head{Quest: quest}, 1)}))
	}
	head := func(quest string) ledger.Head {
		h, err := st.Head(t.Context(), quest)
		must(t, err)
		return h
	}
	put := func(form, version, quest, body string) {
		t.Helper()
		must(t, st.PutGlances(t.Context(), form, version, []ledger.Glance{{Quest: quest, Hash: head(quest).Hash, Body: []byte(body)}}))
	}
	want := func(st ledger.Store, form, version string, bodies ...string) {
		t.Helper()
		list, err := st.Glances(t.Context(), form, version)
		must(t, err)
		said := map[string]bool{}
		for _, g := range list {
			said[g.Quest+" "+string(g.Body)] = g.Hash == head(g.Quest).Hash
		}
		for _, b := range bodies {
			if !said[b] {
				t.Errorf("glances of %s %s: %q is not there as of its head, but %v", form, version, b, said)
			}
		}
		if len(said) != len(bodies) {
			t.Errorf("glances of %s %s are %v, want %q", form, version, said, bodies)
		}
	}
	put("list", "1", "one", "a")
	put("list", "1", "two", "b")
	put("server", "1", "one", "c")
	want(st, "list", "1", "one a", "two b")
	want(st, "server", "1", "one c")
	want(st, "list", "2")
	put("list", "1", "one", "d")
	want(st, "list", "1", "one d", "two b")
	put("list", "2", "one", "e")
	want(st, "list", "1", "two b")
	want(s.store(t, dir), "list", "2", "one e")
	must(t, st.Remove(t.Context(), "two"))
	want(st, "list", "1")
	want(st, "server", "1", "one c")
}

package ledgertest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// keys names the notes of a kind that are due, in the store's order.
func keys(t *testing.T, st ledger.Store, kind string, due event.Time, most int) string {
	t.Helper()
	notes, err := st.Notes(t.Context(), kind, due, most)
	must(t, err)
	var out []string
	for _, n := range notes {
		out = append(out, n.Key)
	}
	return strings.Join(out, " ")
}

// testNotes is long because each of its parts goes on with what the one before has left.
func testNotes(t *testing.T, s *suite) {
	dir := t.TempDir()
	first, second := s.store(t, dir), s.store(t, dir)
	swap := func(st ledger.Store, n ledger.Note, old string, want bool) {
		t.Helper()
		var was []byte
		if old != "" {
			was = []byte(old)
		}
		if ok, err := st.SwapNote(t.Context(), n, was); err != nil || ok != want {
			t.Errorf("swap %s for %q: got %v %v, want %v", n.Key, old, ok, err, want)
		}
	}
	note := func(key string, due event.Time, body string) ledger.Note {
		return ledger.Note{Kind: "k", Key: key, Due: due, Body: []byte(body)}
	}
	swap(first, note("late", 30, "l"), "", true)
	swap(first, note("early", 10, "e"), "", true)
	swap(second, note("middle", 20, "m"), "", true)
	swap(second, ledger.Note{Kind: "other", Key: "early", Body: []byte("o")}, "", true)
	t.Run("DueOnesOfAKindTheEarliestFirst", func(t *testing.T) {
		if got := keys(t, first, "k", 20, 9); got != "early middle" {
			t.Errorf("due at 20 are %q, want early and middle", got)
		}
		if got := keys(t, second, "k", 30, 2); got != "early middle" {
			t.Errorf("two of those due at 30 are %q, want early and middle", got)
		}
	})
	t.Run("AnotherProcessSeesAllOfIt", func(t *testing.T) {
		n, err := second.Note(t.Context(), "k", "late")
		must(t, err)
		if n.Number != 1 || n.Due != 30 || string(n.Body) != "l" || n.Kind != "k" || n.Key != "late" {
			t.Errorf("the other process sees %+v", n)
		}
		if n, err := second.Note(t.Context(), "k", "none"); err != nil || n.Body != nil {
			t.Errorf("a note that is not there: got %+v %v, want none", n, err)
		}
	})
	t.Run("RefusesWhoeverIsLate", func(t *testing.T) {
		swap(second, note("late", 40, "x"), "", false)
		swap(second, note("late", 40, "x"), "other", false)
		swap(second, note("nothing", 40, "x"), "y", false)
		if got := keys(t, first, "k", 30, 9); got != "early middle late" {
			t.Errorf("a refused swap changed something: %q", got)
		}
	})
	t.Run("ChangedItKeepsItsNumber", func(t *testing.T) {
		swap(second, note("late", 5, "again"), "l", true)
		if n, err := first.Note(t.Context(), "k", "late"); err != nil || n.Number != 1 || string(n.Body) != "again" {
			t.Errorf("got %+v %v", n, err)
		}
		if got := keys(t, first, "k", 30, 9); got != "late early middle" {
			t.Errorf("the order is %q, want that of the new times", got)
		}
	})
	t.Run("WithoutABodyItIsGone", func(t *testing.T) {
		swap(first, note("early", 0, ""), "wrong", false)
		swap(first, ledger.Note{Kind: "k", Key: "early"}, "e", true)
		if n, err := second.Note(t.Context(), "k", "early"); err != nil || n.Body != nil {
			t.Errorf("got %+v %v, want no note", n, err)
		}
	})
	t.Run("OfManyWhoPutOneNoteOneWins", func(t *testing.T) {
		var wg sync.WaitGroup
		won := make([]bool, 8)
		for i := range won {
			wg.Go(func() {
				ok, err := []ledger.Store{first, second}[i%2].SwapNote(t.Context(), note("shared", 0, fmt.Sprint(i)), nil)
				if err != nil {
					t.Error(err)
				}
				won[i] = ok
			})
		}
		wg.Wait()
		n, err := first.Note(t.Context(), "k", "shared")
		must(t, err)
		for i, ok := range won {
			if ok != (fmt.Sprint(i) == string(n.Body)) {
				t.Errorf("writer %d was told %v, and the note is %s", i, ok, n.Body)
			}
		}
	})
	t.Run("OutlastsTheStore", func(t *testing.T) {
		must(t, first.Close())
		if got := keys(t, s.store(t, dir), "k", 30, 9); got != "shared late middle" {
			t.Errorf("after closing and opening the notes are %q", got)
		}
	})
	t.Run("RefusesOneWithoutAName", func(t *testing.T) {
		if _, err := second.SwapNote(t.Context(), ledger.Note{Kind: "k", Body: []byte("x")}, nil); err == nil {
			t.Error("a note without a key was kept")
		}
	})
}

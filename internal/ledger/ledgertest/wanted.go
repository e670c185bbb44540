package ledgertest

import (
	"fmt"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// testWanted is about which quests are to run.
func testWanted(t *testing.T, s *suite) {
	dir := t.TempDir()
	first, second := s.store(t, dir), s.store(t, dir)
	ctx := t.Context()
	for _, q := range []string{"b", "a", "c"} {
		must(t, first.Append(ctx, ledger.Batch{Quest: q, Events: Chain(t, ledger.Head{Quest: q}, 1)}))
	}
	rest := &ledger.Rest{Seq: 1, Hash: event.HashOf([]byte("x")), Inbox: 7, Due: 12}
	all := func(st ledger.Store) string {
		t.Helper()
		list, err := st.AllWanted(ctx)
		must(t, err)
		out := ""
		for _, w := range list {
			out += w.Quest + " "
			if w.Rest != nil {
				out += fmt.Sprint(*w.Rest == *rest, " ")
			}
		}
		return out
	}
	must(t, first.Want(ctx, ledger.Wanted{Quest: "b"}))
	must(t, second.Want(ctx, ledger.Wanted{Quest: "a", Rest: rest}))
	t.Run("AnotherProcessSeesAllOfIt", func(t *testing.T) {
		if got := all(first) + all(second); got != "a true b a true b " {
			t.Errorf("wanted are %q, want a, at rest, and b for both", got)
		}
		w, err := first.Wanted(ctx, "a")
		must(t, err)
		if w == nil || w.Quest != "a" || w.Rest == nil || *w.Rest != *rest {
			t.Errorf("of a is noted %+v, want that it rests", w)
		}
		if w, err := first.Wanted(ctx, "c"); err != nil || w != nil {
			t.Errorf("of c, which nobody wants, is noted %+v %v", w, err)
		}
	})
	t.Run("WantedAgainItIsAsItWasSaidLast", func(t *testing.T) {
		must(t, first.Want(ctx, ledger.Wanted{Quest: "a"}))
		must(t, first.Want(ctx, ledger.Wanted{Quest: "b", Rest: rest}))
		if got := all(second); got != "a b true " {
			t.Errorf("wanted are %q, want a, and b at rest", got)
		}
	})
	t.Run("TakenBackItIsGone", func(t *testing.T) {
		must(t, second.Unwant(ctx, "a"))
		must(t, second.Unwant(ctx, "a"))
		must(t, second.Unwant(ctx, "none"))
		if got := all(first); got != "b true " {
			t.Errorf("wanted are %q, want b", got)
		}
	})
	t.Run("AQuestThatIsNotThereIsNotWanted", func(t *testing.T) {
		wantError(t, first.Want(ctx, ledger.Wanted{Quest: "none"}), ledger.ErrNoQuest)
	})
	t.Run("GoesWithTheQuestAndIsNoOtherOfTheName", func(t *testing.T) {
		must(t, second.Remove(ctx, "b"))
		must(t, second.Append(ctx, ledger.Batch{Quest: "b", Events: Chain(t, ledger.Head{Quest: "b"}, 1)}))
		if got := all(first); got != "" {
			t.Errorf("wanted are %q, want none: the quest was removed", got)
		}
	})
	t.Run("OutlastsTheStore", func(t *testing.T) {
		must(t, first.Want(ctx, ledger.Wanted{Quest: "c"}))
		must(t, first.Close())
		if got := all(s.store(t, dir)); got != "c " {
			t.Errorf("after closing and opening wanted are %q, want c", got)
		}
	})
}

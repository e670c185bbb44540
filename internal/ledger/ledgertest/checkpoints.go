package ledgertest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/ledger"
)

// points names the checkpoints of a quest, in the store's order.
func points(t *testing.T, st ledger.Store, quest string, most int) string {
	t.Helper()
	list, err := st.Checkpoints(t.Context(), quest, most)
	must(t, err)
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s@%d:%s:%s:%v", c.Origin, c.Size, c.Edge, c.Body, c.Own))
	}
	return strings.Join(out, " ")
}

func testCheckpoints(t *testing.T, s *suite) {
	dir := t.TempDir()
	first, second := s.store(t, dir), s.store(t, dir)
	for _, quest := range []string{"q", "r"} {
		must(t, first.Append(t.Context(), ledger.Batch{Quest: quest, Events: Chain(t, ledger.Head{Quest: quest}, 20)}))
	}
	put := func(st ledger.Store, quest, origin string, size uint64, body string, own bool) error {
		return st.PutCheckpoint(t.Context(), quest, ledger.Checkpoint{Origin: origin, Size: size, Own: own, Edge: []byte("e"), Body: []byte(body)})
	}
	must(t, put(first, "q", "a", 10, "ten", true))
	must(t, put(first, "q", "a", 9, "nine", false))
	must(t, put(second, "q", "b", 10, "other", false))
	must(t, put(second, "r", "a", 10, "else", true))
	t.Run("InOrderOfTheirSizes", func(t *testing.T) {
		if got, want := points(t, second, "q", 0), "a@9:e:nine:false a@10:e:ten:true b@10:e:other:false"; got != want {
			t.Errorf("the checkpoints are %q, want %q", got, want)
		}
		if got, want := points(t, second, "q", 1), "b@10:e:other:false"; got != want {
			t.Errorf("the last checkpoint is %q, want %q", got, want)
		}
	})
	t.Run("OneIsPutInPlaceOfAnother", func(t *testing.T) {
		must(t, put(second, "q", "a", 10, "cosigned", true))
		if got, want := points(t, first, "q", 2), "a@10:e:cosigned:true b@10:e:other:false"; got != want {
			t.Errorf("the last two are %q, want %q", got, want)
		}
	})
	t.Run("RefusesWhatTheQuestDoesNotHave", func(t *testing.T) {
		if err := put(first, "q", "a", 21, "more", true); err == nil {
			t.Error("a checkpoint of 21 events was kept for a quest of 20")
		}
		if err := put(first, "r", "c", 21, "more", false); err != nil {
			t.Errorf("somebody else's checkpoint of 21 events, for a quest of 20: got %v, want it kept", err)
		}
		if err := put(first, "none", "a", 1, "x", true); !errors.Is(err, ledger.ErrNoQuest) {
			t.Errorf("a checkpoint of no quest: got %v, want ErrNoQuest", err)
		}
	})
	t.Run("ComeWithAQuestFromElsewhere", func(t *testing.T) {
		events := Chain(t, ledger.Head{Quest: "s"}, 20)
		brought := []ledger.Checkpoint{{Origin: "z", Size: 5, Edge: []byte("e"), Body: []byte("five")}, {Origin: "z", Size: 30, Body: []byte("thirty")}}
		must(t, first.Append(t.Context(), ledger.Batch{Quest: "s", Events: events, Checkpoints: brought}))
		// Nobody is taken at their word who comes to a quest that is there.
		must(t, first.Append(t.Context(), ledger.Batch{Quest: "s", Events: events, Checkpoints: []ledger.Checkpoint{{Origin: "again", Size: 1}}}))
		other := Chain(t, ledger.Head{Quest: "s", Seq: 3}, 2)
		if err := first.Append(t.Context(), ledger.Batch{Quest: "s", Events: other, Checkpoints: []ledger.Checkpoint{{Origin: "other", Size: 1}}}); !errors.Is(err, ledger.ErrConflict) {
			t.Errorf("events that do not follow: got %v, want ErrConflict", err)
		}
		if got, want := points(t, second, "s", 0), "z@5:e:five:false z@30::thirty:false"; got != want {
			t.Errorf("the checkpoints that came along are %q, want %q", got, want)
		}
	})
	t.Run("TheyGoWithTheirQuest", func(t *testing.T) {
		must(t, first.Remove(t.Context(), "q"))
		must(t, first.Append(t.Context(), ledger.Batch{Quest: "q", Events: Chain(t, ledger.Head{Quest: "q"}, 20)}))
		if got := points(t, second, "q", 0); got != "" {
			t.Errorf("a new quest has the checkpoints of an old one of its name: %q", got)
		}
		if got := points(t, second, "r", 0); got != "a@10:e:else:true c@21:e:more:false" {
			t.Errorf("another quest's are %q", got)
		}
	})
	t.Run("OutlastTheStore", func(t *testing.T) {
		must(t, first.Close())
		if got := points(t, s.store(t, dir), "r", 0); got != "a@10:e:else:true c@21:e:more:false" {
			t.Errorf("after closing and opening they are %q", got)
		}
	})
}

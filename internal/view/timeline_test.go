package view

import (
	"fmt"
	"slices"
	"testing"

	"lyceum/internal/event"
)

// made is an event of a type, as far as a timeline looks at it.
func made(kind event.Type, actor, tool string, at event.Time) event.Event {
	return event.Event{Type: kind, Actor: actor, Tool: tool, Time: at}
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	line := &Timeline{}
	for i := range 100 {
		kind, tool := event.Type("model.call"), ""
		if i%3 == 0 {
			kind, tool = "tool.call", "calculate"
		}
		line.Take(made(kind, fmt.Sprintf("agent-%d", i%2), tool, event.Time(i*10)))
	}
	seqs := func(f Filter) (out []uint64) {
		line.Each(f, func(seq uint64) bool { out = append(out, seq); return true })
		return out
	}
	t.Run("FindsWhatAFilterWants", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			filter Filter
			want   int
		}{
			{Filter{}, 100}, {Filter{Types: []string{"tool."}}, 34}, {Filter{Types: []string{"tool.call", "model.call"}}, 100},
			{Filter{Types: []string{"tool"}}, 0}, {Filter{Actors: []string{"agent-1"}}, 50}, {Filter{Tools: []string{"calculate"}, Actors: []string{"agent-0"}}, 17},
			{Filter{Actors: []string{"nobody"}}, 0},
		} {
			if got := seqs(c.filter); len(got) != c.want || !slices.IsSorted(got) {
				t.Errorf("%+v finds %d, want %d", c.filter, len(got), c.want)
			}
			for i, r := range line.rows {
				want := slices.Contains(seqs(c.filter), uint64(i)+1)
				if got := c.filter.Match(event.Type(line.types.list[r.kind]), line.actors.list[r.actor], line.tools.list[r.tool]); got != want {
					t.Errorf("%+v matches event %d: %v, want %v", c.filter, i+1, got, want)
				}
			}
		}
	})
	t.Run("CutsTheLedgerIntoEqualParts", func(t *testing.T) {
		t.Parallel()
		var events, matching int64
		last := uint64(0)
		for _, b := range line.Buckets(7, seqs(Filter{Types: []string{"tool."}})) {
			if b.First != last+1 {
				t.Errorf("a bucket begins with %d after %d", b.First, last)
			}
			last = b.Last
			events += int64(b.Last - b.First + 1)
			matching += b.Matching
		}
		if events != 100 || matching != 34 || last != 100 {
			t.Errorf("%d events, %d of them match, up to %d", events, matching, last)
		}
	})
	t.Run("KnowsEffects", func(t *testing.T) {
		t.Parallel()
		tree := &Timeline{}
		for _, parent := range []uint64{0, 1, 1, 2, 1} {
			tree.Take(event.Event{Parent: parent})
		}
		if got := tree.Effects(1, 10); !slices.Equal(got, []uint64{2, 3, 5}) {
			t.Errorf("the effects of 1 are %v", got)
		}
		if got := tree.Effects(1, 2); len(got) != 2 {
			t.Errorf("%v are more than 2", got)
		}
		if got := tree.Effects(9, 2); len(got) != 0 {
			t.Errorf("an event that is not there has the effects %v", got)
		}
	})
	t.Run("CountsWords", func(t *testing.T) {
		t.Parallel()
		if got := line.Types(); len(got) != 2 || got[0] != (Count{"model.call", 66}) || got[1] != (Count{"tool.call", 34}) {
			t.Errorf("types %v", got)
		}
		if got := line.Tools(); len(got) != 1 {
			t.Errorf("tools %v", got)
		}
	})
}

// TestManyWords: a forged ledger may name more actors than can be told apart.
func TestManyWords(t *testing.T) {
	t.Parallel()
	line := &Timeline{}
	for i := range maxWords + 100 {
		line.Take(made("x", fmt.Sprint("actor-", i), "", 0))
	}
	if n := len(line.Actors()); n != maxWords {
		t.Errorf("%d actors", n)
	}
}

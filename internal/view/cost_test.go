package view

import (
	"encoding/json"
	"testing"

	"lyceum/internal/event"
)

func TestCostSeries(t *testing.T) {
	t.Parallel()
	c := &CostSeries{}
	for i := range 1000 {
		c.Take(event.Event{Seq: uint64(i) + 1, Actor: []string{"a", "b"}[i%2], Body: &event.ModelResult{
			Cost: int64(i), Usage: event.Usage{Input: 10, Cached: 4, Output: 1}, Wasted: &event.Usage{Input: 2}, Unpriced: i == 7,
		}})
		c.Take(event.Event{Seq: uint64(i) + 1, Actor: "a", Body: &event.ToolCall{}})
	}
	t.Run("KeepsItsSumsWhenItIsThinned", func(t *testing.T) {
		t.Parallel()
		for _, agent := range []string{"", "a", "b"} {
			for _, max := range []int{1, 7, 100, 5000} {
				var cost USD
				var tokens int64
				points := c.Points(agent, max)
				for _, p := range points {
					cost += p.Cost
					tokens += p.Input + p.Output
				}
				last := points[len(points)-1]
				if len(points) > max || cost != last.Total || tokens != last.Tokens {
					t.Errorf("%q, %d: %d points, cost %d of %d, tokens %d of %d", agent, max, len(points), cost, last.Total, tokens, last.Tokens)
				}
			}
		}
	})
	t.Run("AddsUp", func(t *testing.T) {
		t.Parallel()
		cost, tokens, unpriced := c.Total()
		if cost != 999*1000/2 || tokens != 13_000 || unpriced != 1 {
			t.Errorf("cost %d, tokens %d, unpriced %d", cost, tokens, unpriced)
		}
		by := c.Agents()
		if len(by) != 2 || by[0].Agent != "a" || by[0].Cost+by[1].Cost != cost || by[1].Turns != 500 {
			t.Errorf("by agent %+v", by)
		}
	})
	t.Run("OfNothingIsNothing", func(t *testing.T) {
		t.Parallel()
		if p := (&CostSeries{}).Points("", 10); p == nil || len(p) != 0 {
			t.Errorf("points of no cost: got %v, want an empty list", p)
		}
	})
}

func TestUSDComesBack(t *testing.T) {
	t.Parallel()
	for _, u := range []USD{0, 1, 1_500_000_000, 999_999_999_999_999} {
		data, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		var back USD
		if err := json.Unmarshal(data, &back); err != nil || back != u {
			t.Errorf("%d becomes %s becomes %d, %v", u, data, back, err)
		}
	}
	var u USD
	if json.Unmarshal([]byte(`"nonsense"`), &u) == nil {
		t.Error("nonsense is an amount")
	}
}

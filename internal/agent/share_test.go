package agent_test

import (
	"slices"
	"testing"

	"lyceum/internal/agent"
)

func TestFitLeavesOutWholeThingsTheWorstFirst(t *testing.T) {
	t.Parallel()
	cost := func(n int64) int64 { return n }
	for name, tc := range map[string]struct {
		items      []int64
		room       int64
		kept, left []int64
	}{
		"all":             {[]int64{1, 2, 3}, 6, []int64{1, 2, 3}, nil},
		"not the worst":   {[]int64{1, 2, 3}, 5, []int64{1, 2}, []int64{3}},
		"not the largest": {[]int64{1, 9, 3}, 5, []int64{1, 3}, []int64{9}},
		"nothing":         {[]int64{1}, 0, nil, []int64{1}},
		"less than that":  {[]int64{1}, -5, nil, []int64{1}},
	} {
		kept, left := agent.Fit(tc.items, tc.room, cost)
		if !slices.Equal(kept, tc.kept) || !slices.Equal(left, tc.left) {
			t.Errorf("%s: kept %v and left out %v, want %v and %v", name, kept, left, tc.kept, tc.left)
		}
	}
	if got := []int64{agent.Room(200_000, agent.ToolShare), agent.Room(200_000, agent.SkillShare), agent.Room(200_000, agent.RuleShare), agent.Room(200_000, agent.RelationShare), agent.Room(-1, 10)}; !slices.Equal(got, []int64{30_000, 20_000, 20_000, 10_000, 0}) {
		t.Errorf("the shares of a window are %v", got)
	}
	if agent.Tokens(9) != 3 {
		t.Errorf("nine bytes have %d tokens, want 3", agent.Tokens(9))
	}
}

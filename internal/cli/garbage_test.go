package cli

import "testing"

func TestASmallHeapIsLeftToGrow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		memory, live int64
		want         int
	}{
		{0, 0, 1600}, {0, 8 << 20, 700}, {0, 32 << 20, 100}, {0, 500 << 20, 100},
		{128 << 20, 8 << 20, 300}, // a quarter of the memory
		{64 << 20, 16 << 20, 100},
		{1 << 40, 8 << 20, 700},
	} {
		g := &goal{floor: floorOf(c.memory)}
		if got := g.growthOf(c.live); got != c.want {
			t.Errorf("a heap of %d MB in %d MB may grow by %d %%, want %d", c.live>>20, c.memory>>20, got, c.want)
		}
	}
}

// TestAShortCommandCollectsNothing: most commands end before they have made as much garbage as
// a collection costs.
func TestAShortCommandCollectsNothing(t *testing.T) {
	t.Parallel()
	g := &goal{floor: firstFloor}
	if got := g.growthOf(0); got < 4*leastGrow {
		t.Errorf("how much the heap of a command that begins may grow: got %d %%, want at least %d: Go's first goal is 4 MB at 100", got, 4*leastGrow)
	}
	if got := g.growthOf(500 << 20); got != leastGrow {
		t.Errorf("how much a large heap may grow: got %d %%, want %d", got, leastGrow)
	}
}

func TestAServerGivesMemoryBackOnceWhenItComesToRest(t *testing.T) {
	t.Parallel()
	var r resting
	for i, step := range []struct {
		made uint64
		want bool
	}{
		{100 << 20, false}, {200 << 20, false}, {201 << 20, true}, {202 << 20, false}, {210 << 20, false}, {220 << 20, false}, {220 << 20, true},
	} {
		if got := r.begins(step.made); got != step.want {
			t.Errorf("look %d, after %d MB: it comes to rest: %v, want %v", i+1, step.made>>20, got, step.want)
		}
	}
}

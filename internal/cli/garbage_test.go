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

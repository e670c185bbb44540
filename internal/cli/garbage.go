package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"lyceum/internal/computer/cgroup"
)

// The collector's goal. A process with a small heap would collect it every few milliseconds for
// nothing: a quest that runs alone holds some megabytes, and makes as many in a few steps. So the heap
// may grow to a floor before it is collected, and from there on by as much as it holds, as ever.
const (
	heapFloor  = 64 << 20
	mostGrowth = 1600 // percent
	leastGrow  = 100
	// leastMemory is what a server cannot do with less than.
	leastMemory = 64 << 20
)

// tend sets the collector's goal, and sets it anew after each collection. memory is how many bytes the
// process may have, 0 for what its control groups leave it. What a person says by GOGC or GOMEMLIMIT stands.
func tend(memory int64) {
	if memory == 0 {
		memory = cgroup.MemoryOf("/sys/fs/cgroup", "/proc/self/cgroup")
	}
	if memory > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory / 10 * 9) // stacks, and what SQLite has, come on top
	}
	if os.Getenv("GOGC") == "" {
		collected(&goal{floor: floorOf(memory)})
	}
}

// floorOf is the floor within so much memory: a quarter of it at most.
func floorOf(memory int64) int64 {
	if memory > 0 {
		return min(heapFloor, memory/4)
	}
	return heapFloor
}

// goal is the collector's. It is touched by the one goroutine of the finalizers alone.
type goal struct {
	floor  int64
	growth int
}

// growthOf is by how much, in percent, a heap may grow that holds so many bytes.
func (g *goal) growthOf(live int64) int {
	return int(min(max(100*(g.floor-live)/max(live, 1), leastGrow), mostGrowth))
}

// set sets the goal, if it is another: that stops the process for a moment.
func (g *goal) set(live int64) {
	growth := g.growthOf(live)
	if d := growth - g.growth; d > g.growth/8 || -d > g.growth/8 {
		g.growth = growth
		debug.SetGCPercent(growth)
	}
}

// collected sets the goal now, and after each collection again, which finds the mark.
func collected(g *goal) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	g.set(int64(live[0].Value.Uint64()))
	type mark struct{ *goal }
	runtime.SetFinalizer(&mark{g}, func(*mark) { collected(g) })
}

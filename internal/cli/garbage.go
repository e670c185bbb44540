package cli

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"lyceum/internal/computer/cgroup"
)

// The collector's goal. A process with a small heap would collect it every few milliseconds for
// nothing: a quest that runs alone holds some megabytes, and makes as many in a few steps. So the heap
// may grow to a floor before it is collected, and from there on by as much as it holds, as ever.
const (
	heapFloor  = 64 << 20
	firstFloor = 16 << 20 // of a command that does one thing and ends
	mostGrowth = 1600     // percent
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
	heap.raise(floorOf(memory))
}

// heap is the goal of this process's collector.
var heap goal

// floorOf is the floor within so much memory: a quarter of it at most.
func floorOf(memory int64) int64 {
	if memory > 0 {
		return min(heapFloor, memory/4)
	}
	return heapFloor
}

// goal is the collector's.
type goal struct {
	mu     sync.Mutex // guards what follows
	floor  int64
	growth int
}

// raise sets the floor, and from the first time on the goal after each collection. What a person says by GOGC stands.
func (g *goal) raise(floor int64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	g.mu.Lock()
	first := g.floor == 0
	g.floor = floor
	g.mu.Unlock()
	if g.set(); first {
		g.mark()
	}
}

// growthOf is by how much, in percent, a heap may grow that holds so many bytes.
func (g *goal) growthOf(live int64) int {
	return int(min(max(100*(g.floor-live)/max(live, 1), leastGrow), mostGrowth))
}

// set sets the goal, if it is another: that stops the process for a moment.
func (g *goal) set() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	g.mu.Lock()
	defer g.mu.Unlock()
	growth := g.growthOf(int64(live[0].Value.Uint64()))
	if d := growth - g.growth; d > g.growth/8 || -d > g.growth/8 {
		g.growth = growth
		debug.SetGCPercent(growth)
	}
}

// mark has the next collection, which finds the mark, set the goal anew.
func (g *goal) mark() {
	type mark struct{ *goal }
	runtime.SetFinalizer(&mark{g}, func(*mark) { g.set(); g.mark() })
}

// restEvery is how often a server looks whether it is at rest, quiet how many bytes one makes in that time at most that is.
const (
	restEvery = 15 * time.Second
	quiet     = 8 << 20
)

// rests gives memory back that a process took when it had much to do, once it has little, until ctx ends: the collector
// comes by when things are made, and a server at rest would keep what a busy hour took.
func rests(ctx context.Context) {
	tick := time.NewTicker(restEvery)
	defer tick.Stop()
	var r resting
	for {
		select {
		case <-tick.C:
			made := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
			metrics.Read(made)
			if r.begins(made[0].Value.Uint64()) {
				debug.FreeOSMemory()
			}
		case <-ctx.Done():
			return
		}
	}
}

// resting tells when a process comes to rest.
type resting struct {
	made  uint64
	rests bool
}

// begins reports whether a process that has made so many bytes by now rests, and did not before.
func (r *resting) begins(made uint64) bool {
	did := r.rests
	r.rests = made-r.made <= quiet
	r.made = made
	return r.rests && !did
}

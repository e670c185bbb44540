package runtime_test

import (
	"bytes"
	"flag"
	"sync"
	"sync/atomic"
	"testing"

	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/solo"
)

var (
	simSeed  = flag.Uint64("sim.seed", 0, "simulate this seed alone")
	simSeeds = flag.Uint64("sim.seeds", defaultSeeds, "how many seeds to simulate")
)

var societies = []quest.Society{solo.Society{}}

// TestSimulation runs thousands of made-up worlds. A seed that fails is printed
// and can be run alone: go test ./internal/runtime -run Simulation -sim.seed N
func TestSimulation(t *testing.T) {
	t.Parallel()
	first, last := uint64(1), *simSeeds
	if *simSeed != 0 {
		first, last = *simSeed, *simSeed
	}
	var next atomic.Uint64
	next.Store(first)
	var mu sync.Mutex
	var total runtime.SimReport
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for seed := next.Add(1) - 1; seed <= last && !t.Failed(); seed = next.Add(1) - 1 {
				rep, err := runtime.Simulate(seed, runtime.SimOptions{Societies: societies, CrashAlways: seed%3 == 0})
				if err != nil {
					t.Errorf("%v\nrun it alone: go test ./internal/runtime -run Simulation -sim.seed %d", err, seed)
					return
				}
				mu.Lock()
				total.Events += rep.Events
				total.Crashes += rep.Crashes
				total.Full += rep.Full
				total.Lost += rep.Lost
				total.Doubled += rep.Doubled
				total.Cuts += rep.Cuts
				total.Commands += rep.Commands
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d seeds: %+v", last-first+1, total)
	if *simSeed == 0 && (total.Crashes == 0 || total.Full == 0 || total.Lost == 0 || total.Doubled == 0 || total.Cuts == 0 || total.Commands == 0) {
		t.Error("some kind of trouble never came up")
	}
}

func TestSimulationOfASeedIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 20; seed++ {
		var ledgers [2][]byte
		for i := range ledgers {
			rep, err := runtime.Simulate(seed, runtime.SimOptions{Societies: societies})
			if err != nil {
				t.Fatal(err)
			}
			ledgers[i] = rep.Ledger
		}
		if !bytes.Equal(ledgers[0], ledgers[1]) {
			t.Fatalf("seed %d gave two ledgers", seed)
		}
	}
}

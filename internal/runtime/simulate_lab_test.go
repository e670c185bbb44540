package runtime_test

import (
	"flag"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"lyceum/internal/runtime"
	rules "lyceum/internal/society/lab"
)

var (
	labSeed   = flag.Uint64("lab.seed", 0, "simulate the lab of this seed alone")
	labSeeds  = flag.Uint64("lab.seeds", defaultLabSeeds, "how many labs to simulate")
	labAgents = flag.Int64("lab.agents", defaultLabAgents, "how many agents they have")
	labTurns  = flag.Int64("lab.turns", defaultLabTurns, "how many turns each agent has")
)

// simulateLabs runs a lab for each seed, and adds up what they went through.
func simulateLabs(t *testing.T, first, last uint64, agents, turns int64) *runtime.LabSimReport {
	t.Helper()
	var next atomic.Uint64
	next.Store(first)
	var mu sync.Mutex
	var total runtime.LabSimReport
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for seed := next.Add(1) - 1; seed <= last && !t.Failed(); seed = next.Add(1) - 1 {
				rep, err := runtime.SimulateLab(seed, runtime.LabSimOptions{Agents: agents, Turns: turns, Society: rules.Society{}})
				if err != nil {
					t.Errorf("%v\nrun it alone: go test ./internal/runtime -run LabSimulation -lab.agents %d -lab.turns %d -lab.seed %d", err, agents, turns, seed)
					return
				}
				mu.Lock()
				total.Add(rep)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d agents, %d turns each: %+v", agents, turns, total)
	return &total
}

// TestLabSimulation runs made-up labs. A seed that fails is printed and can be run
// alone.
func TestLabSimulation(t *testing.T) {
	t.Parallel()
	first, last := uint64(1), *labSeeds
	if *labSeed != 0 {
		first, last = *labSeed, *labSeed
	}
	r := simulateLabs(t, first, last, *labAgents, *labTurns)
	if last-first < 3 || t.Failed() {
		return
	}
	for name, n := range map[string]int64{
		"published": r.Published, "rejected": r.Rejected, "revisions": r.Revisions, "reviews": r.Reviews, "expired": r.Expired, "votes": r.Votes,
		"cited": r.Cited, "self-cited": r.SelfCited, "reproductions": r.Reproductions, "parked": r.Parked, "budgets": r.Budgets, "refused": r.Refused,
		"blocked": r.Blocked, "delivered": r.Delivered, "crashes": r.Crashes, "restored": r.Restored, "full": r.Full, "unheard": r.Unheard,
		"lost": r.Lost, "doubled": r.Doubled, "finished": r.Finished,
	} {
		if n == 0 {
			t.Errorf("%s never came up: the simulation shows nothing of it", name)
		}
	}
}

// Few agents meet cases that many do not: nobody left to review, one agent, all who
// agree.
func TestLabSimulationOfFewAgents(t *testing.T) {
	t.Parallel()
	for agents := int64(1); agents <= 5; agents++ {
		t.Run(fmt.Sprint(agents), func(t *testing.T) {
			t.Parallel()
			simulateLabs(t, 1, smallLabSeeds, agents, 40)
		})
	}
}

func TestLabSimulationOfManyAgents(t *testing.T) {
	t.Parallel()
	simulateLabs(t, 1, manyLabSeeds, 256, 20)
}

func TestLabSimulationOfASeedIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	heads := map[string]uint64{}
	for seed := uint64(1); seed <= 6; seed++ {
		for range 2 {
			rep, err := runtime.SimulateLab(seed, runtime.LabSimOptions{Agents: 8, Turns: 25, Society: rules.Society{}})
			if err != nil {
				t.Fatal(err)
			}
			heads[rep.Head.String()]++
		}
	}
	for head, n := range heads {
		if n != 2 || len(heads) != 6 {
			t.Fatalf("6 seeds, twice each, gave %d ledgers, one of them, %s, %d times", len(heads), head, n)
		}
	}
}

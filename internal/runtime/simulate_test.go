package runtime_test

import (
	"bytes"
	"flag"
	"sync"
	"sync/atomic"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/solo"
)

var (
	simSeed  = flag.Uint64("sim.seed", 0, "simulate this seed alone")
	simSeeds = flag.Uint64("sim.seeds", defaultSeeds, "how many seeds to simulate")
)

// simPolicies are all that are built in, and threads that use what YAML can say.
const simPolicies = `
- {use: repetition, warn: 2, park: 4}
- {use: max-calls, max: 4, tools: [unsafe]}
- {use: same-error, max: 2}
- {use: allowed-tools, role: agent, tools: [safe, unsafe]}
- {use: no-touch, paths: [secret]}
- {use: one-at-a-time, domains: [a, b]}
- {use: analysis-first, analysis: [safe], execution: [unsafe]}
- name: look-first
  per: agent
  repeat: true
  steps:
    - wait: {type: tool.result, where: {tool: safe, error: false}}
      block: {type: quest.finished, reason: Look before you answer.}
    - wait: {type: user.message}
- name: cheer
  repeat: true
  steps:
    - wait: {type: tool.result, where: {error: false}}
      times: 5
    - request: {type: message.sent, with: {text: Well done.}}
- name: two-at-a-time
  repeat: true
  steps:
    - wait: {type: tool.call}
      times: 2
    - wait: {type: tool.result}
      block: {type: tool.call, later: true, reason: Two are under way.}
`

// simulated are the policies of a seed: all of them, or what every quest has.
func simulated(t *testing.T, seed uint64) []event.PolicySpec {
	t.Helper()
	text := simPolicies
	switch seed % 4 {
	case 0:
		text = "[]"
	case 2: // those that the others hardly let come up
		text = "[{use: repetition, warn: 0, park: 2}, {use: max-calls, max: 4, tools: [unsafe]}, {use: same-error, max: 2}]"
	}
	chosen, err := policy.ParseFile("policies.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all, err := policy.Complete(chosen)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

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
				rep, err := runtime.Simulate(seed, runtime.SimOptions{Societies: societies, Policies: simulated(t, seed), CrashAlways: seed%3 == 0})
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
				total.Waited += rep.Waited
				total.Warned += rep.Warned
				total.Ran += rep.Ran
				total.Kept += rep.Kept
				total.Abandoned += rep.Abandoned
				total.Diffs += rep.Diffs
				for name, n := range rep.Blocked {
					if total.Blocked == nil {
						total.Blocked = map[string]int{}
					}
					total.Blocked[name] += n
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d seeds: %+v", last-first+1, total)
	if *simSeed == 0 && (total.Crashes == 0 || total.Full == 0 || total.Lost == 0 || total.Doubled == 0 || total.Cuts == 0 || total.Commands == 0) {
		t.Error("some kind of trouble never came up")
	}
	for _, name := range []string{"budget", "repetition", "max-calls", "same-error", "allowed-tools", "no-touch", "analysis-first", "look-first"} {
		if last-first >= 1000 && total.Blocked[name] == 0 {
			t.Errorf("the policy %s never blocked anything", name)
		}
	}
	if last-first >= 100 && (total.Ran == 0 || total.Kept == 0 || total.Abandoned == 0 || total.Diffs == 0) {
		t.Error("no command ran, was found again, was lost, or changed a file")
	}
	if last-first >= 100 && (total.Waited == 0 || total.Warned == 0) {
		t.Error("no policy had a call wait, or an agent warned")
	}
}

func TestSimulationOfASeedIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 20; seed++ {
		var ledgers [2][]byte
		for i := range ledgers {
			rep, err := runtime.Simulate(seed, runtime.SimOptions{Societies: societies, Policies: simulated(t, seed)})
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

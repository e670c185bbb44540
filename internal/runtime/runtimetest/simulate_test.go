package runtimetest_test

import (
	"cmp"
	"flag"
	"fmt"
	"testing"

	"lyceum/internal/need"
	"lyceum/internal/runtime/runtimetest"
	"lyceum/internal/society"
)

var (
	simSeed   = flag.Uint64("sim.seed", 0, "simulate this seed alone")
	simFirst  = flag.Uint64("sim.first", 1, "the first of the seeds, where a run of many is done in parts")
	simSeeds  = flag.Uint64("sim.seeds", 0, "how many seeds to simulate, for each society; 0 is as many as usual")
	labAgents = flag.Int64("sim.agents", 64, "how many agents a simulated lab has")
	labTurns  = flag.Int64("sim.turns", 0, "how many turns each agent of a lab has; 0 is as many as usual")
)

// simulate runs the seeds that the flags ask for, usual many otherwise, and reports what
// never came up although so many were run that it should have.
func simulate(t *testing.T, part func() runtimetest.Part, usual int, run runtimetest.Run, want ...string) {
	t.Helper()
	first, last := *simFirst, *simFirst-1+uint64(usual)
	if *simSeeds != 0 {
		last = *simFirst - 1 + *simSeeds
	}
	if *simSeed != 0 {
		first, last = *simSeed, *simSeed
	}
	r := runtimetest.Exercise(t, part, first, last, run)
	if t.Failed() || last-first+1 < uint64(usual) {
		return
	}
	for _, name := range r.Unseen(want...) {
		t.Errorf("%s never came up: the simulation shows nothing of it", name)
	}
}

// trouble is what every society must have gone through.
var trouble = []string{"outages", "outages over", "crashes", "restored", "full", "unheard", "lost", "doubled", "commands", "commands ran", "diffs"}

func TestSoloSimulation(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	want := append([]string{
		"late doubles", "cuts", "compactions", "told where they stand", "early timers", "waited", "warned", "commands kept", "commands abandoned", "quest.paused", "quest.stopped", "quest.finished",
		"quest.failed", "budget.exceeded", "blocked by budget", "forks", "strict limits", "servers listed", "servers away", "servers changed", "changed tools taken", "tools found", "told how to work", "recalled", "samples",
		"notes", "notes taken away", "servers ask", "servers heard", "blocked by sampling",
		"servers came", "servers went", "servers slow", "resources changed",
	}, trouble...)
	for _, name := range []string{"repetition", "whole-answers", "max-calls", "same-error", "allowed-tools", "no-touch", "analysis-first", "look-first"} {
		want = append(want, "blocked by "+name)
	}
	simulate(t, runtimetest.Parts()["solo"], need.Times(700, 1500), runtimetest.Once(80), want...)
}

func TestContractSimulation(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	want := append([]string{
		"forks", "again", "budget.exceeded", "searches failed", "searches without a hit", "computations failed", "second bidders", "tasks failed", "waits", "early timers",
		"attacks", "justifications", "retractions", "replans", "claims defeated", "claims that stand", "answers that hold", "answers with warnings",
		"audits lite", "audits standard", "audits strict", "with a coder", "with a model", "by rules alone", "recalled", "samples",
	}, trouble...)
	for _, rule := range []string{"enough-evidence", "relevance", "confidence", "cited", "numbers", "related", "needs-met", "recomputed"} {
		want = append(want, "challenges by "+rule)
	}
	simulate(t, runtimetest.Parts()["contract"], 300, runtimetest.Once(0), want...)
}

// Requests of outside agents are judged, go out once, and are paid for, whatever happens.
func TestOutsideSimulation(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	part := func() runtimetest.Part { return runtimetest.NewOutside() }
	simulate(t, part, 150, runtimetest.Once(60), "requests", "requests cut", "blocked by large", "blocked by budget", "blocked by third", "budget.exceeded", "questions answered", "crashes", "forks", "strict limits")
	simulate(t, part, 1, runtimetest.EveryEvent(12), "killed", "forks")
}

// Executors work while they are prompted, and at no other time; what they ask for is answered
// once, and each prompt ends once, wherever the process dies.
func TestExecutorSimulation(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	part := func() runtimetest.Part { return runtimetest.NewExecutor() }
	simulate(t, part, 150, runtimetest.Once(80), "prompts", "prompts ended", "prompts interrupted", "prompts untold", "permissions given", "permissions refused", "executors away",
		"sessions new", "sessions loaded", "requests", "skipped", "interaction.withdrawn", "commands ran", "diffs", "blocked by budget", "budget.exceeded", "questions answered", "crashes", "forks", "quest.finished", "quest.failed")
	simulate(t, part, 1, runtimetest.EveryEvent(12), "killed", "forks")
}

// In a lab executors take part by what they propose, and the lab goes on without those that
// cannot be used.
func TestMixedLabSimulation(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	part := func() runtimetest.Part { return runtimetest.NewMixedLab(4, 25) }
	simulate(t, part, need.Times(20, 60), runtimetest.Once(0), "prompts", "prompts ended", "permissions given", "executors away", "published", "reviews", "votes", "finished", "crashes", "forks")
}

// Wherever the process dies, the quest goes on to its end, and nothing is done twice.
func TestContractSimulationWithACrashAtEveryEvent(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	part := func() runtimetest.Part { return runtimetest.NewContract(5) }
	simulate(t, part, 2, runtimetest.EveryEvent(0), "killed", "forks")
}

func TestSoloSimulationWithACrashAtEveryEvent(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	simulate(t, runtimetest.Parts()["solo"], 1, runtimetest.EveryEvent(40), "killed", "forks")
}

func TestLabSimulationWithACrashAtEveryEvent(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	simulate(t, lab(3, 4), 1, runtimetest.EveryEvent(0), "killed", "forks")
}

func lab(agents, turns int64) func() runtimetest.Part {
	return func() runtimetest.Part { return runtimetest.NewLab(agents, turns) }
}

func TestLabSimulation(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	want := []string{
		"published", "rejected", "revisions", "reviews", "expired", "votes", "cited", "self-cited", "reproductions", "parked", "budgets", "refused", "blocked",
		"delivered", "finished", "recalled", "samples",
	}
	turns := cmp.Or(*labTurns, int64(need.Times(60, 200)))
	simulate(t, lab(*labAgents, turns), need.Times(4, 8), runtimetest.Plain, append(want, trouble...)...)
}

// Few agents meet cases that many do not: nobody left to review, one agent, all who agree.
func TestLabSimulationOfFewAgents(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	for agents := int64(1); agents <= 5; agents++ {
		t.Run(fmt.Sprint(agents), func(t *testing.T) {
			t.Parallel()
			simulate(t, lab(agents, 40), need.Times(20, 60), runtimetest.Once(0))
		})
	}
}

func TestLabSimulationOfManyAgents(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	simulate(t, lab(256, 20), need.Times(1, 2), runtimetest.Plain)
}

func TestSimulationOfASeedIsAlwaysTheSame(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	seeds := need.Times(4, 8)
	for name, part := range runtimetest.Parts() {
		heads := map[string]int{}
		for seed := uint64(1); seed <= uint64(seeds); seed++ {
			for range 2 {
				opts := runtimetest.Options{CrashAlways: seed%4 == 0}
				if name == "solo" || name == "stages" { // which need not end
					opts.Steps = 80
				}
				r, err := runtimetest.Simulate(t.Context(), seed, part, opts)
				if err != nil {
					t.Fatal(err)
				}
				heads[r.Head.String()]++
			}
		}
		for head, n := range heads {
			if n != 2 || len(heads) != seeds {
				t.Fatalf("%d seeds of %s, twice each, gave %d ledgers, one of them, %s, %d times", seeds, name, len(heads), head, n)
			}
		}
	}
}

// TestEveryCallIsSimulated: whoever adds a call to the catalogue says what it is in a
// simulation, by a row of its society's part.
func TestEveryCallIsSimulated(t *testing.T) {
	t.Parallel()
	parts := runtimetest.Parts()
	if missing := runtimetest.Missing(parts); len(missing) > 0 {
		t.Errorf("nobody simulates %v: give the part of their society a row for them", missing)
	}
	delete(parts, "contract")
	if got, want := fmt.Sprint(runtimetest.Missing(parts)), "[compute.call search.call]"; got != want {
		t.Errorf("without the part of contract nets nobody simulates %s, want %s", got, want)
	}
}

func TestEverySocietyIsSimulated(t *testing.T) {
	t.Parallel()
	for _, name := range society.All().Names() {
		if runtimetest.Parts()[name] == nil {
			t.Errorf("nobody simulates the society %s: add its part to Parts", name)
		}
	}
	for name, part := range runtimetest.Parts() {
		if rules := part().Society().Rules(); len(rules) <= len(name) || rules[:len(name)+1] != name+"/" {
			t.Errorf("the part %s is of the rules %s, want those of that name", name, rules)
		}
	}
}

// Whatever executors do, each handover has one end, nothing is accepted that was not checked,
// and no limit is passed; wherever the process dies.
func TestArchitectSimulation(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	simulate(t, runtimetest.Parts()["architect"], need.Times(150, 500), runtimetest.Once(0), "handovers checked", "handovers error", "tasks accepted", "tasks failed", "repairs", "changes outside", "manifests",
		"merges", "crashes", "forks", "quest.finished", "modes", "recalled", "samples")
}

func TestArchitectSimulationWithACrashAtEveryEvent(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	simulate(t, runtimetest.Parts()["architect"], 1, runtimetest.EveryEvent(0), "killed", "forks")
}

// Whatever is made, judged and tried, and wherever the process dies: one result for each call, one
// verdict for each story, no tier skipped, no prediction after its observation.
func TestWorldSimulation(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	simulate(t, runtimetest.Parts()["world"], need.Times(150, 500), runtimetest.Once(0), "tier 1 passed", "tier 1 failed", "tier 2 passed", "tier 2 failed", "tier 2 waived", "tier 2 unavailable", "tier 3 passed", "tier 3 failed",
		"tier 4 passed", "tier 4 failed", "tiers unavailable", "observed done", "observed timeout", "surprises", "marks", "quotations missing", "rewards", "crashes", "forks", "quest.finished", "quest.failed", "samples")
}

func TestWorldSimulationWithACrashAtEveryEvent(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	simulate(t, runtimetest.Parts()["world"], need.Times(1, 3), runtimetest.EveryEvent(0), "killed", "forks", "rewards")
}

// Whatever is said when, and whoever dies when: each message is heard once and in order, there is
// one sitting at a time, and nothing happens while a study waits.
func TestStagesSimulation(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	simulate(t, runtimetest.Parts()["stages"], need.Times(150, 2000), runtimetest.Once(150), append([]string{
		"sittings", "sittings in the same window", "sittings rested", "sittings failed", "messages heard", "messages led again", "withdrawn", "turns cut", "waits", "retries", "parked",
		"mail with interact", "briefs", "briefs too late", "mail with results", "mail with now", "questions answered", "interaction.withdrawn", "cards of the home", "files copied", "papers outside", "quest.finished", "quest.paused", "quest.stopped", "forks",
		"results run, own.sh", "results run, run.sh", "baselines attached", "blocked by idea-first", "papers made", "reviews", "reports", "points answered",
		"conversations bound", "conversations let go", "deliveries", "said to several", "recalled", "samples",
	}, trouble...)...)
}

// A sitting of a runner is one prompt; what it hears, says and writes holds as with a model,
// whatever becomes of its process and of ours.
func TestRunnerSimulation(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	part := func() runtimetest.Part { return runtimetest.NewRunner() }
	simulate(t, part, need.Times(150, 2000), runtimetest.Once(150), "sittings", "sittings in the same window", "sittings rested", "sittings failed", "sittings interrupted", "messages heard", "messages led again",
		"mail with interact", "mail with now", "prompts ended", "prompts interrupted", "prompts untold", "executors away", "sessions new", "sessions loaded", "permissions given", "requests",
		"files copied", "deliveries", "questions answered", "papers made", "reviews", "points answered", "waits", "retries", "crashes", "forks")
}

func TestRunnerSimulationWithACrashAtEveryEvent(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	part := func() runtimetest.Part { return runtimetest.NewRunner() }
	simulate(t, part, need.Times(1, 20), runtimetest.EveryEvent(40), "killed", "forks")
}

func TestStagesSimulationWithACrashAtEveryEvent(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	simulate(t, runtimetest.Parts()["stages"], need.Times(2, 20), runtimetest.EveryEvent(40), "killed", "forks")
}

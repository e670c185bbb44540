package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/need"
)

// workplaces are the computers of a quest that are up or were left, whose names begin so.
func (h *home) workplaces(quest string, prefixes ...string) (out []string) {
	list, err := os.ReadDir(filepath.Join(h.dir, "quests", quest, "computers"))
	if err != nil {
		return nil
	}
	for _, e := range list {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(e.Name(), p) }) {
			out = append(out, e.Name())
		}
	}
	return out
}

var atWork = []string{"checks-", "stories-", "try-", "browser"}

// killedAt runs lyceum and kills it with -9 as soon as the workshop has a computer of that kind, in
// which a call is under way. It reports whether there was one before the quest was over.
func (h *home) killedAt(quest, prefix string, args ...string) bool {
	h.t.Helper()
	cmd := command(h.t.Context(), h.dir, h.work, args...)
	must(h.t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case <-ended:
			return false
		case <-time.After(2 * time.Millisecond): // to look again
		}
		if len(h.workplaces(quest, prefix)) > 0 {
			must(h.t, cmd.Process.Kill())
			<-ended
			return true
		}
	}
}

// endedWhole fails the test unless a quest that was killed has become what it becomes otherwise: the same
// tiers, one result for each call, no prediction twice, and nothing left behind.
func (h *home) endedWhole(quest string, tiers []string, tries int) {
	h.t.Helper()
	if got := h.judgedTiers(quest); !slices.Equal(got, tiers) {
		h.t.Errorf("tiers: got %q, want %q", got, tiers)
	}
	for call, result := range map[string]string{"analysis.call": "analysis.result", "world.call": "world.observed", "attempt.proposed": "tool.prepared"} {
		answered := map[float64]int{}
		for _, e := range h.told(quest, result) {
			var x struct{ Body struct{ Call float64 } }
			must(h.t, json.Unmarshal([]byte(e.line), &x))
			answered[x.Body.Call]++
		}
		calls := h.told(quest, call)
		if len(calls) == 0 || len(answered) != len(calls) {
			h.t.Errorf("%d of %s have %d answers", len(calls), call, len(answered))
		}
		for seq, n := range answered {
			if n != 1 {
				h.t.Errorf("%s %v has %d results, want one", call, seq, n)
			}
		}
	}
	for _, kind := range []string{"prediction.made", "world.observed", "surprise.measured"} {
		if n := len(h.told(quest, kind)); n != tries {
			h.t.Errorf("%s: got %d, want %d", kind, n, tries)
		}
	}
	if left := h.workplaces(quest, atWork...); len(left) > 0 {
		h.t.Errorf("the quest is over, and %q are left", left)
	}
	h.sound(quest)
}

// TestSorterIsKilledWhileItWorks: kill -9 while checks, stories and tries run. Each is done again, and
// the quest ends as it would have.
func TestSorterIsKilledWhileItWorks(t *testing.T) {
	t.Parallel()
	h := architects(t, "sorter")
	args := []string{"run", "q/quest.yaml"}
	for _, at := range []string{"checks-", "stories-", "try-", "stories-"} {
		if !h.killedAt("sorter", at, args...) {
			t.Errorf("the quest was over before anything at %s was under way", at)
		}
		args = []string{"resume", "sorter"}
	}
	h.run("resume", "sorter").want(t, 0, "attempt 2: passed every tier")
	h.endedWhole("sorter", []string{"1 1 passed", "1 2 waived", "1 3 failed", "2 1 passed", "2 2 waived", "2 3 passed", "2 4 passed"}, 2)
}

// TestCounterIsKilledWhileItWorks: the same while a browser visits the page.
func TestCounterIsKilledWhileItWorks(t *testing.T) {
	t.Parallel()
	need.Program(t, "chromium")
	h := architects(t, "counter")
	args := []string{"run", "q/quest.yaml"}
	for _, at := range []string{"browser", "stories-", "try-"} {
		if !h.killedAt("counter", at, args...) {
			t.Errorf("the quest was over before anything at %s was under way", at)
		}
		if args = []string{"resume", "counter"}; at == "browser" { // before it has begun
			args[0] = "run"
		}
	}
	h.run("resume", "counter").want(t, 0, "attempt 3: passed every tier")
	h.endedWhole("counter", []string{"1 1 failed", "2 1 passed", "2 2 waived", "2 3 failed", "3 1 passed", "3 2 waived", "3 3 passed", "3 4 passed"}, 2)
}

// TestSorterLosesEveryResult: each process dies as it is about to record what its last call came to,
// that of prepare included. So every call is made more than once, and has one result.
func TestSorterLosesEveryResult(t *testing.T) {
	t.Parallel()
	h := architects(t, "sorter")
	args, lost := []string{"run", "q/quest.yaml"}, ""
	for n := 0; ; n++ {
		l := h.dies(3+n%2, "before", args...)
		if l.code == 0 {
			break
		}
		if n > 100 {
			t.Fatalf("after %d deaths the quest is not over: %s", n, l.errOut)
		}
		lost, args = lost+l.errOut, []string{"resume", "sorter"}
	}
	for _, kind := range []string{"tool.prepared", "analysis.result", "world.observed"} {
		if !strings.Contains(lost, kind) {
			t.Errorf("no process died with a %s: %s", kind, lost)
		}
	}
	h.endedWhole("sorter", []string{"1 1 passed", "1 2 waived", "1 3 failed", "2 1 passed", "2 2 waived", "2 3 passed", "2 4 passed"}, 2)
}

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
	"lyceum/internal/quest"
)

// dear is a home with a provider whose answers are as long as they can be, and go on for
// ever.
func dear(t *testing.T) *home {
	t.Helper()
	var requests atomic.Int64
	return provided(t, "anthropic", modeltest.Handler(wires["anthropic"].wire, func(*modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
		n := requests.Add(1)
		return modeltest.Reply{Usage: event.Usage{Input: 4000, Output: 1000}, Stop: model.StopTools, Parts: []model.Part{
			{Kind: event.PartText, Text: fmt.Sprintf("Step %d.", n)},
			{Kind: event.PartToolCall, ID: fmt.Sprint("call_", n), Name: "calculate", Args: fmt.Sprintf(`{"code":"print(%d)"}`, n)},
		}}, ""
	}))
}

// TestStrictLimitIsKept: eight agents at once stay below a strict limit, and a run without
// it says beforehand how far it may go.
func TestStrictLimitIsKept(t *testing.T) {
	t.Parallel()
	h := dear(t)
	must(t, os.WriteFile(filepath.Join(h.work, "quest.yaml"), []byte(`name: q
problem: What is six times seven?
society: lab
agents: 8
model: claude-sonnet-5
max_output: 1000
window: 20000
limits: {cost: 0.50, strict: true}
`), 0o600))
	run := h.run("run", "quest.yaml")
	run.want(t, 3, "the limit on cost is reached", "and the next call can use $")
	if strings.Contains(run.errOut, "can be passed") {
		t.Errorf("a strict limit is said to be passed:\n%s", run.errOut)
	}
	spent, err := quest.ParseUSD(strings.TrimPrefix(h.cost("q"), "$"))
	must(t, err)
	if spent > 500_000_000 || spent < 250_000_000 {
		t.Errorf("of a strict limit of $0.50, %s were spent, want at most that, and more than half", spent)
	}
	h.sound("q")
	before := len(h.events("q"))
	h.run("run", "q").want(t, 3, "has reached its limit on cost")
	if after := len(h.events("q")); after != before {
		t.Errorf("a run without a higher limit recorded %d events, want none", after-before)
	}
	h.run("run", "q", "--max-cost", "0.60").want(t, 3, "the limit on cost is reached")
	h.run("fork", "q", "--model", "claude-opus-5").want(t, 2, "strict")
	h.run("run", "q", "--strict-limits").want(t, 2, "strict from the beginning, or never")

	loose := h.run("run", "quest.yaml", "--name", "loose", "--model", "claude-sonnet-5", "--max-turns", "9")
	if strings.Contains(loose.errOut, "can be passed") { // the file says strict
		t.Errorf("a strict limit is said to be passed:\n%s", loose.errOut)
	}
	must(t, writeFolder(h.work, map[string]string{"loose.yaml": "name: l\nproblem: '?'\nsociety: lab\nagents: 8\nmodel: claude-sonnet-5\nmax_output: 1000\nwindow: 20000\nlimits: {cost: 5, turns: 9}\n"}))
	h.run("run", "loose.yaml").want(t, 3, "can be passed by up to 7 calls", "That is up to $0.42, 9 % over.")
	h.run("run", "l", "--max-turns", "12").want(t, 3, "By the calls so far that is about $0.13, 3 % over.")
}

// TestStrictNeedsToKnow what a call can use at most.
func TestStrictNeedsToKnow(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: q\nproblem: '?'\nmodel: script:plan.yaml\nmax_output: 1000\n",
		"plan.yaml":  "rules: [{say: 'It is 42.', usage: {input: 100, output: 10}}]\n",
		"demo.yaml":  "name: d\nproblem: What is 6 times 7?\nmodel: demo\nlimits: {tokens: 1000000, strict: true}\n",
	})
	h.run("run", "quest.yaml", "--strict-limits", "--max-cost", "1").want(t, 2, "--strict-limits: ", "a limit on the cost cannot be strict with the model script:plan.yaml", "give its price in config.yaml")
	h.run("show", "q").want(t, 1, "no such quest")
	h.run("run", "quest.yaml", "--strict-limits", "--max-tokens", "100000").want(t, 0, "It is 42.")
	h.run("create", "demo.yaml").want(t, 2, "give max_output")
	must(t, writeFolder(h.work, map[string]string{"demo.yaml": "name: d\nproblem: What is 17*23+4?\nmodel: demo\nmax_output: 2000\nlimits: {cost: 1, tokens: 1000000, strict: true}\n"}))
	h.run("run", "demo.yaml").want(t, 0, "395")
}

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAListIsTheSameFromTheCache: what list remembers of quests is what it would say of them, until
// their heads move.
func TestAListIsTheSameFromTheCache(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: one\nproblem: Work.\nmodel: script:plan.yaml\nlimits: {turns: 100}\n",
		"plan.yaml":  "rules:\n  - on: {turn: 1}\n    cost: \"0.5\"\n    call: [{tool: calculate, args: {code: \"1\"}}]\n  - on: {turn: 2}\n    call: [{tool: ask_person, args: {question: \"Which?\"}}]\n  - say: \"The end.\"\n",
		"ask.yaml":   "name: asks\nproblem: Work.\nmodel: script:plan.yaml\nmay_ask: true\n",
	})
	h.ok("create", "quest.yaml")
	h.ok("run", "one")
	h.run("run", "ask.yaml")
	h.ok("fork", "one", "--at", "3", "--as", "two")
	first := h.ok("list", "--json")
	kept := filepath.Join(h.dir, "cache", "glances.list")
	before, err := os.Stat(kept)
	if err != nil {
		t.Fatalf("list remembers nothing: %v", err)
	}
	if again := h.ok("list", "--json"); again != first {
		t.Errorf("list says\n%s\nand said\n%s", again, first)
	}
	if after, err := os.Stat(kept); err != nil || !os.SameFile(before, after) {
		t.Errorf("what list remembers was written again, and nothing was new: %v", err)
	}
	table := h.ok("list")
	must(t, os.Remove(kept))
	if fresh := h.ok("list"); fresh != table {
		t.Errorf("list says\n%s\nwithout what it remembers, and with it\n%s", fresh, table)
	}
	h.ok("run", "two")
	h.run("list").want(t, 0, "two")
	h.run("list", "--json").want(t, 0, `"status": "finished"`)
	h.ok("clean", "one", "--data", "--yes")
	if last := h.ok("list", "--json"); last == first {
		t.Error("a quest that was removed is still listed")
	}
}

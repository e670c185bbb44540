package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// boundsPlan tries to read and write what the quest keeps from its agent, with tools and programs.
const boundsPlan = `rules:
  - on: {turn: 1}
    call:
      - {tool: read_file, args: {path: .env}}
      - {tool: exec, args: {command: "cat .env sub/.env /proc/self/root/home/agent/.env; echo x > top; echo y > out/made; cat out/made; sh -c 'cat .env & wait'; git show HEAD:.env; git cat-file --batch-all-objects --batch; git status --porcelain; git add -A && git commit -qm x && git show --stat HEAD | head -3"}}
      - {tool: write_file, args: {path: notes, content: x}}
      - {tool: write_file, args: {path: out/notes, content: x}}
      - {tool: grep, args: {pattern: hidden-from}}
  - on: {turn: 2}
    say: done
`

// TestWhatAQuestHidesStaysHidden: of a repository with keys in it, whatever the agent tries; the
// ledger has what was refused, and what was covered; nothing is lost, and the default is pinned.
func TestWhatAQuestHidesStaysHidden(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, map[string]string{
		"quest.yaml":   "name: kept\nproblem: What is in the box?\nmodel: script:plan.yaml\nrepo: src\ncomputer: {driver: bubblewrap, allow_write: [out, /tmp]}\n",
		"plan.yaml":    boundsPlan,
		"src/.env":     "hidden-from-all",
		"src/sub/.env": "hidden-from-all",
		"src/code":     "code",
	})
	h.ok("run", "quest.yaml")
	raw := h.ok("trace", "kept", "--json")
	for line := range strings.Lines(raw) {
		if strings.Contains(line, `"type":"tool.result"`) || strings.Contains(line, `"type":"cli.`) {
			if strings.Contains(line, "hidden-from-all") {
				t.Errorf("the agent was shown what is hidden: %s", line)
			}
		}
	}
	var results []string
	for _, e := range h.rawEvents("kept") {
		b := body(e)
		switch e["type"] {
		case "quest.created":
			c := b["computer"].(map[string]any)
			if names, _ := c["deny_read"].([]any); len(names) < 5 || names[0] != ".env" {
				t.Errorf("quest.created has deny_read %v, want the names that hold for ever", c["deny_read"])
			}
		case "computer.started":
			if masked, _ := b["masked"].([]any); len(masked) != 2 || masked[0] != "/home/agent/.env" || masked[1] != "/home/agent/sub/.env" {
				t.Errorf("computer.started says that %v is hidden, want both files", b["masked"])
			}
		case "tool.result":
			text, _ := b["output"].(map[string]any)["text"].(string)
			results = append(results, text)
		}
	}
	if len(results) != 5 {
		t.Fatalf("there are %d results, want 5: %q", len(results), results)
	}
	for i, want := range []string{"(deny_read)", "y\n", "(allow_write)", "wrote 1 bytes to out/notes", "no"} {
		if !strings.Contains(strings.ToLower(results[i]), strings.ToLower(want)) {
			t.Errorf("result %d: got %q, want something with %q", i+1, results[i], want)
		}
	}
	found, _ := filepath.Glob(filepath.Join(h.dir, "quests", "kept", "agents", "*", "*", ".env"))
	for _, at := range append(found, filepath.Join(h.dir, "quests", "kept", "agents", "agent-0", ".env")) {
		if data, err := os.ReadFile(at); err != nil || string(data) != "hidden-from-all" {
			t.Errorf("%s is now %q (%v), want it as it was", at, data, err)
		}
	}
	h.ok("replay", "kept")
	h.ok("verify", "kept")
}

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// TestTheLoadersOfTheDocuments runs what docs/trajectories.md shows, each on a file that Lyceum
// wrote in that format, or, of pairs, that has the members which Lyceum writes.
func TestTheLoadersOfTheDocuments(t *testing.T) {
	t.Parallel()
	need.Program(t, "python3")
	text, err := os.ReadFile("../../docs/trajectories.md")
	must(t, err)
	loaders := regexp.MustCompile("(?s)```python\n# (\\w+)(.*?)```").FindAllStringSubmatch(string(text), -1)
	h := newHome(t, map[string]string{
		"quest.yaml": "name: ask\nproblem: What is 6*7?\nmodel: script:plan.yaml\ntools: [calculate]\n",
		"plan.yaml":  "rules:\n- on: {turn: 1}\n  say: I compute.\n  call: [{tool: calculate, args: {code: print(6*7)}}]\n- say: It is 42.\n",
	})
	h.ok("run", "quest.yaml")
	h.ok("fork", "ask", "--at", "4", "--times", "2")
	h.ok("run", "ask-fork-1")
	h.ok("run", "ask-fork-2")
	want := map[string]string{
		"sft": "5 messages, ", "preference": "yes rather than no\n", "group": "It is 42. None\nIt is 42. None\n", "steps": " None 2 assistant\n",
	}
	if len(loaders) != len(want) {
		t.Fatalf("docs/trajectories.md shows %d loaders, want one of each format", len(loaders))
	}
	for _, l := range loaders {
		format, program := l[1], l[0]
		if n := strings.Count(l[2], "\n"); n > 11 {
			t.Errorf("the loader of %s has %d lines: it is to be small", format, n)
		}
		file := filepath.Join(t.TempDir(), format+".jsonl")
		if format == "preference" {
			must(t, os.WriteFile(file, []byte(`{"prompt":[],"chosen":[{"role":"assistant","content":"yes"}],"rejected":[{"role":"assistant","content":"no"}],"origins":[{"reward":1},{"reward":0.5}]}`+"\n"), 0o600))
		} else {
			h.ok("export", "--trajectories", "--format", format, "ask", "ask-fork-*", file)
		}
		script := filepath.Join(t.TempDir(), "loader.py")
		must(t, os.WriteFile(script, []byte(strings.TrimSuffix(strings.TrimPrefix(program, "```python\n"), "```")), 0o600))
		out, err := exec.CommandContext(t.Context(), "python3", script, file).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want[format]) {
			t.Errorf("the loader of %s: %v\n%swant %q", format, err, out, want[format])
		}
	}
}

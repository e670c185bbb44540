package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// TestATaskAddsLittleToTheLedger measures what the examples' tasks add to the ledger beyond what
// commands and executors said.
func TestATaskAddsLittleToTheLedger(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	for _, name := range []string{"new-command", "two-tasks"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, exampleFiles(t, name))
			sandboxed(t, h)
			h.ok("run", "quest.yaml")
			// What is between the first handover and the end of a task is its own, also where
			// another runs beside it.
			begun, ended, at, total := map[string]int{}, map[string]int{}, 0, []int{0}
			for line := range strings.Lines(h.ok("trace", name, "--jsonl")) {
				var e struct {
					Type string
					Body struct {
						Task string
						Text json.RawMessage
					}
				}
				must(t, json.Unmarshal([]byte(line), &e))
				size := len(line)
				if e.Type == "said.reported" || e.Type == "cli.stdout" || e.Type == "cli.stderr" {
					size -= len(e.Body.Text)
				}
				at++
				total = append(total, total[at-1]+size)
				if _, ok := begun[e.Body.Task]; e.Type == "handover.begun" && !ok {
					begun[e.Body.Task] = at - 1
				}
				if e.Type == "handover.ended" {
					ended[e.Body.Task] = at
				}
			}
			if len(begun) == 0 || len(begun) != len(ended) {
				t.Fatalf("%d tasks were handed over, and %d came back", len(begun), len(ended))
			}
			for task := range begun {
				n := total[ended[task]] - total[begun[task]]
				t.Logf("%s: the task %s adds %d bytes", name, task, n)
				if n <= 0 || n >= 64<<10 {
					t.Errorf("the task %s adds %d bytes beyond what was said, want less than 64 KiB", task, n)
				}
			}
		})
	}
}

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// TestFaultsWithinATask has executors do what takes all there is of something: the run ends with
// an error that says so, goes back at most once, and the quest ends. Nothing of it stays.
func TestFaultsWithinATask(t *testing.T) {
	t.Parallel()
	seconds := fmt.Sprint(2_000_000 + os.Getpid())
	for _, c := range []struct{ name, computer, does, course, says string }{
		{"fills the disk", "{driver: auto, disk: 4MiB}", "    while :; do head -c 1000000 /dev/zero >> commands/x.sh || break; done\n    manifest '[{type: patch, ref: \".\", generated_by: me}]'; sleep " + seconds,
			wrongTwice("executor"), "disk"},
		{"floods", "auto", "    pad=$(head -c 1000000 /dev/zero | tr '\\0' x)\n" +
			`    while :; do printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"odd","x":"%s"}}}\n' "$pad"; done`,
			wrongTwice("executor"), "more than 64 MiB"},
		{"a sparse artifact of 1 GB", "auto", "    mkdir -p .lyceum; truncate -s 1G .lyceum/big; " + work + "\n" +
			`    manifest '[{type: build_output, ref: .lyceum/big, generated_by: me, checksum: "sha256:` + strings.Repeat("0", 64) + `"}]'`,
			wrongTwice("manifest"), "it has 1024 MiB, and an artifact may have 64"},
		{"a fork bomb", "{driver: auto, processes: 40}", "    while :; do sleep " + seconds + " & done", wrongTwice("executor"), "the agent has ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, nil)
			sandboxed(t, h)
			agentFiles(h, "max_cli_duration_seconds: 60", c.computer, c.does, "")
			h.startFor(3*patience, "run", "quest.yaml").wait().want(t, failedCode)
			if got := h.course("q"); got != c.course {
				t.Errorf("the task: got %q, want %q", got, c.course)
			}
			for _, e := range h.told("q", "task.error") {
				if !strings.Contains(e.line, c.says) {
					t.Errorf("the error does not say %q: %s", c.says, e.line)
				}
			}
			if left := helpers(t, h.dir); len(left) > 0 {
				t.Errorf("computers that are still up: %v", left)
			}
			h.run("verify", "q").want(t, 0, "unchanged")
		})
	}
	t.Cleanup(func() {
		if left := asleep(t, seconds); len(left) > 0 {
			t.Errorf("processes of the executors are still there: %v", left)
		}
	})
}

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

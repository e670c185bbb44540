package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFaultsWithinATask has executors do what takes all there is of something: the run ends with
// an error that says so, goes back at most once, and the quest ends. Nothing of it stays.
func TestFaultsWithinATask(t *testing.T) {
	t.Parallel()
	seconds := fmt.Sprint(2_000_000 + os.Getpid())
	for _, c := range []struct{ name, computer, does, course, says string }{
		{"fills the disk", "{driver: auto, disk: 4MiB}", "    while :; do n=$((n+1)); head -c 1000000 /dev/zero > commands/x$$-$n.sh; done 2>/dev/null", wrongTwice("executor"), "disk"},
		{"floods", "auto", "    pad=$(head -c 1000000 /dev/zero | tr '\\0' x)\n" +
			`    while :; do printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"odd","x":"%s"}}}\n' "$pad"; done`,
			wrongTwice("executor"), "more than 64 MiB"},
		{"a sparse artifact of 1 GB", "auto", "    mkdir -p .lyceum; truncate -s 1G .lyceum/big; " + work + "\n" +
			`    manifest '[{type: build_output, ref: .lyceum/big, generated_by: me, checksum: "sha256:` + strings.Repeat("0", 64) + `"}]'`,
			wrongTwice("manifest"), "it has 1024 MiB, and an artifact may have 64"},
		{"a command whose child takes all memory", "{driver: auto, memory: 128MiB}", `    ask '"method":"terminal/create","params":{"sessionId":"s","command":"sh","args":["-c","tail /dev/zero; exit 1"]}'` + "\n    sleep " + seconds,
			wrongTwice("memory"), "A command had no memory left: a computer has 128 MB"},
		{"an executor that takes all memory", "{driver: auto, memory: 128MiB}", "    exec tail /dev/zero", wrongTwice("memory"), "The executor had no memory left: a computer has 128 MB"},
		{"a fork bomb", "{driver: auto, processes: 40}", "    while :; do sleep " + seconds + " & done", wrongTwice("executor"), "the agent has ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, nil)
			sandboxed(t, h)
			agentFiles(h, "max_cli_duration_seconds: 240, max_cli_memory_mb: 128", c.computer, c.does, "")
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
			h.run("verify", "q").want(t, 0, "consistent")
		})
	}
	t.Cleanup(func() {
		if left := asleep(t, seconds); len(left) > 0 {
			t.Errorf("processes of the executors are still there: %v", left)
		}
	})
}

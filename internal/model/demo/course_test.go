package demo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// A study from scouting to its answer, under the real rules and in real computers, with a paper
// that a second agent has read. What demo claims comes out again; demo:2 writes a figure down
// wrongly, and is caught.
func TestTheExampleOfAStudy(t *testing.T) {
	t.Parallel()
	need.Programs(t, "awk", "git")
	for _, c := range []struct {
		name, model     string
		differs, closes int
		won             string
	}{
		{"honest", "demo", 0, 5, "result-3"},
		{"hasty", "demo:2", 1, 6, "result-4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home, work := t.TempDir(), t.TempDir()
			if err := os.CopyFS(work, os.DirFS("../../../examples/copilot")); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(work, "quest.yaml")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(strings.Replace(string(text), "\nmodel: demo\n", "\nmodel: "+c.model+"\n", 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			answer := lyceum(t, home, "run", file)
			if want := "one month ahead by the same month a year before, and what a year has added (" + c.won + ")"; !strings.Contains(answer, want) {
				t.Errorf("the answer does not say %q: %s", want, answer)
			}
			trace := lyceum(t, home, "trace", "copilot", "--jsonl")
			for what, want := range map[string]int{
				`"type":"anchor.moved"`: 6, `"type":"result.recorded"`: c.closes, `"type":"baseline.accepted"`: 1, `"type":"campaign.created"`: 1,
				`"type":"checkpoint.made"`: c.closes + 2, `"type":"outline.submitted"`: 1, `"type":"paper.submitted"`: 2, `"type":"review.begun"`: 2, `"type":"review.given"`: 2,
				`"type":"point.answered"`: 2, `"how":"mended"`: 1, `"how":"rebutted"`: 1, `"holds":false`: 0, `"holds":true`: 12, `"verdict":"same"`: 2,
			} {
				if got := strings.Count(trace, what); got != want {
					t.Errorf("%d times %s in the ledger, want %d", got, what, want)
				}
			}
			caught := 0
			for line := range strings.Lines(trace) {
				if strings.Contains(line, `"type":"tool.answered"`) && strings.Contains(line, "is recorded, and differs: mae is claimed to be ") {
					caught++
				}
			}
			if caught != c.differs {
				t.Errorf("%d figures did not come out again, want %d", caught, c.differs)
			}
			for _, args := range [][]string{{"verify", "copilot"}, {"replay", "copilot"}} {
				lyceum(t, home, args...)
			}
		})
	}
}

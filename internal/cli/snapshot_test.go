package cli_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAKilledQuestHasASnapshot: kill -9 in the middle of a run leaves the last snapshot that was
// worth its cost, and the quest goes on from there.
func TestAKilledQuestHasASnapshot(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: work\nproblem: Work.\nmodel: script:plan.yaml\n",
		"plan.yaml": `rules:
  - on: {until_turn: 60}
    call: [{tool: calculate, args: {code: "print('x' * 8000 + '${turn}')"}}]
  - on: {turn: 61}
    delay: 1s
    say: "On."
    call: [{tool: calculate, args: {code: "1"}}]
  - say: "The end."
`,
	})
	h.ok("create", "quest.yaml")
	p := h.start("run", "work")
	saved := filepath.Join(h.dir, "cache", "work.state")
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(saved); err == nil {
			break
		}
		if time.Since(began) > patience {
			t.Fatal("a run of 60 turns with 8 KB each saves no snapshot")
		}
	}
	p.kill()
	if _, err := os.Stat(saved); err != nil {
		t.Fatalf("the snapshot did not outlive the process: %v", err)
	}
	h.run("run", "work").want(t, 0, "The end.")
	h.sound("work")
}

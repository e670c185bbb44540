package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// leaves are what a study has come to, without what differs from run to run: artifacts, results
// with their figures, and the trees of checkpoints.
func (h *home) leaves(quest string) (out []string) {
	h.t.Helper()
	for _, e := range h.told(quest, "artifact.recorded", "result.recorded", "checkpoint.made", "branch.prepared", "anchor.moved", "baseline.accepted", "campaign.created") {
		var x struct {
			Type string
			Body struct {
				ID, Kind, Title, Branch, Name, Message, From, To, Result any
				Metrics, Tree                                            any
			}
		}
		must(h.t, json.Unmarshal([]byte(e.line), &x))
		if x.Type == "branch.prepared" {
			x.Body.From = nil // it is the number of an event
		}
		b, err := json.Marshal(x)
		must(h.t, err)
		out = append(out, string(b))
	}
	return out
}

// refs are the commits of a quest's folder, by branch.
func (h *home) refs(quest string) string {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), "git", "for-each-ref", "--format=%(refname) %(objectname)")
	cmd.Dir = filepath.Join(h.dir, "quests", quest)
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("git for-each-ref: %v\n%s", err, out)
	}
	return string(out)
}

// TestAKilledStudy kills lyceum with kill -9 again and again on the way of the example from
// scouting to its answer: it leaves the same artifacts, figures and trees as one that nobody
// kills. Without the folder's .git, the next command makes the same commits.
func TestAKilledStudy(t *testing.T) {
	t.Parallel()
	need.Programs(t, "awk", "git")
	h := newHome(t, nil)
	must(t, os.CopyFS(filepath.Join(h.work, "q"), os.DirFS("../../examples/copilot")))
	h.talked("", "q/quest.yaml", "--name", "whole").want(t, 0, "\nreviewer: Review of paper-1, round 1: ", "\n- point 1, ")
	want := h.leaves("whole")

	step := need.Times(60, 1)
	h.ok("create", "q/quest.yaml", "--name", "killed")
	kills := 0
	for {
		before := h.show("killed").Events
		p := h.start("run", "killed")
		stop := h.killAt(p, "killed", "", before+step)
		l := p.wait()
		stop()
		if l.code == 0 {
			break
		}
		if l.code != -1 {
			t.Fatalf("the run ends with %d: %s", l.code, l.errOut)
		}
		if kills++; kills > 1000 {
			t.Fatal("the quest does not come to an end")
		}
	}
	t.Logf("killed %d times", kills)
	if kills < 2 {
		t.Errorf("killed %d times: the test shows nothing", kills)
	}
	if got := h.leaves("killed"); !slices.Equal(got, want) {
		t.Errorf("a study that was killed left\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	h.sound("killed")

	refs := h.refs("killed")
	if n := strings.Count(refs, "refs/heads/"); n < 5 {
		t.Errorf("the folder has %d branches: %s", n, refs)
	}
	must(t, os.RemoveAll(filepath.Join(h.dir, "quests", "killed", ".git")))
	h.ok("run", "killed")
	if again := h.refs("killed"); again != refs {
		t.Errorf("made again, the commits are\n%s\nwant\n%s", again, refs)
	}
}

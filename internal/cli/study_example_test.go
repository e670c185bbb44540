package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/need"
)

// leaves are what a study has come to, without what differs from run to run: artifacts, results
// with their figures, the trees of checkpoints, papers with their checklists, and what a reviewer
// found and became of it.
func (h *home) leaves(quest string) (out []string) {
	h.t.Helper()
	for _, e := range h.told(quest, "artifact.recorded", "result.recorded", "checkpoint.made", "branch.prepared", "anchor.moved", "baseline.accepted", "campaign.created",
		"outline.submitted", "paper.submitted", "review.begun", "review.given", "point.answered", "interact.said", "quest.finished") {
		var x struct {
			Type string
			Body map[string]any
		}
		must(h.t, json.Unmarshal([]byte(e.line), &x))
		for _, name := range []string{"answer", "call", "checkpoint", "head", "interaction", "parent", "thread"} {
			if _, number := x.Body[name].(float64); number {
				delete(x.Body, name) // of an event
			}
		}
		if x.Type == "branch.prepared" {
			delete(x.Body, "from")
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

// moments are the lines of a page that say when and by which event: those of two runs differ.
var moments = regexp.MustCompile(`(?m)^(<!-- as of event \d+ -->|- submitted: .*, event \d+)$`)

// paper are the files of a quest's paper, by their paths.
func (h *home) paper(quest string) map[string]string {
	h.t.Helper()
	out, dir := map[string]string{}, filepath.Join(h.dir, "quests", quest, "paper")
	must(h.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if d.Name() == "checklist.md" {
			data = moments.ReplaceAll(data, nil)
		}
		out[strings.TrimPrefix(path, dir+"/")] = string(data)
		return err
	}))
	return out
}

// ear is a program elsewhere that hears what a quest says: each thing once, by its key.
type ear struct {
	*httptest.Server
	mu    sync.Mutex
	heard map[string]bool
	texts []string
	twice int
}

func newEar(t *testing.T) *ear {
	k := &ear{heard: map[string]bool{}}
	k.Server = httptest.NewServer(http.HandlerFunc(k.hear))
	t.Cleanup(k.Close)
	return k
}

func (k *ear) hear(w http.ResponseWriter, r *http.Request) {
	var said struct{ Data struct{ Kind, Text string } }
	data, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(data, &said) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if id := r.Header.Get("webhook-id"); k.heard[id] {
		k.twice++
	} else {
		k.heard[id] = true
		k.texts = append(k.texts, said.Data.Kind+": "+said.Data.Text)
	}
}

// example is the example in a home, with somebody elsewhere who hears it.
func example(t *testing.T) (*home, *ear) {
	t.Helper()
	h, k := newHome(t, nil), newEar(t)
	must(t, os.CopyFS(filepath.Join(h.work, "q"), os.DirFS("../../examples/copilot")))
	must(t, os.MkdirAll(h.dir, 0o700))
	must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte("connectors:\n  hook:\n    driver: webhook\n    url: "+k.URL+"\n    key_variable: HOOK_KEY\n"), 0o600))
	h.env = append(h.env, "HOOK_KEY=whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	h.ok("create", "q/quest.yaml")
	h.ok("connector", "bind", "hook", "room", "copilot")
	return h, k
}

// TestAKilledStudy has lyceum die by kill -9 again and again on the way of the example from
// scouting to its paper and the answer, at the very moment of an append, with the batch on disk
// and without it: it leaves the same artifacts, figures, trees, paper, checklists and points of
// the review as one that nobody kills, and says the same elsewhere, each thing once by its key.
// Without the folder's .git, the next command makes the same commits.
//
// In make faults it dies with each batch of events in turn.
func TestAKilledStudy(t *testing.T) {
	t.Parallel()
	need.Programs(t, "awk", "git")
	whole, wantHeard := example(t)
	whole.talked("", "copilot").want(t, 0, "\nreviewer: Review of paper-1, round 1: ", "\n- point 1, ")
	want, wantPaper := whole.leaves("copilot"), whole.paper("copilot")
	if len(wantPaper) < 6 {
		t.Fatalf("the paper has %d files, which is no paper", len(wantPaper))
	}

	h, heard := example(t)
	step := need.Times(25, 2)
	at, kills := step, 0
	for {
		how, n := "after", at
		if kills%3 == 2 { // the world has done something, and the ledger does not know
			how, n = "before", at+1
		}
		l := h.dies(n, how, "run", "copilot")
		if l.code == 0 {
			break
		}
		if l.code != -1 {
			t.Fatalf("the run ends with %d: %s", l.code, l.errOut)
		}
		t.Log(lastLine(l.errOut))
		if at++; strings.Contains(l.errOut, "came: true") {
			at = step
		}
		if kills++; kills > 3000 {
			t.Fatal("the quest does not come to an end")
		}
	}
	h.ok("connector", "send") // what a process that was killed has left in the outbox
	t.Logf("killed %d times, %d events; heard elsewhere %d, twice %d", kills, h.show("copilot").Events, len(heard.texts), heard.twice)
	if kills < 4 {
		t.Errorf("killed %d times: the test shows nothing", kills)
	}
	if got := h.leaves("copilot"); !slices.Equal(got, want) {
		t.Errorf("a study that was killed left\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for path, text := range h.paper("copilot") {
		if text != wantPaper[path] {
			t.Errorf("%s of a study that was killed is\n%.2000q\nwant\n%.2000q", path, text, wantPaper[path])
		}
		delete(wantPaper, path)
	}
	if len(wantPaper) > 0 {
		t.Errorf("the paper of a study that was killed lacks %d files", len(wantPaper))
	}
	if len(wantHeard.texts) == 0 || !slices.Equal(heard.texts, wantHeard.texts) {
		t.Errorf("a study that was killed is heard to say\n%s\nwant\n%s", strings.Join(heard.texts, "\n"), strings.Join(wantHeard.texts, "\n"))
	}
	h.sound("copilot")

	refs := h.refs("copilot")
	if n := strings.Count(refs, "refs/heads/"); n < 5 {
		t.Errorf("the folder has %d branches: %s", n, refs)
	}
	must(t, os.RemoveAll(filepath.Join(h.dir, "quests", "copilot", ".git")))
	h.ok("run", "copilot")
	if again := h.refs("copilot"); again != refs {
		t.Errorf("made again, the commits are\n%s\nwant\n%s", again, refs)
	}
	h.folderComesBack("copilot", refs)
}

// folderComesBack removes all of a quest's folder but the agents' live homes: the next run writes the
// same files and makes the same commits.
func (h *home) folderComesBack(quest, refs string) {
	h.t.Helper()
	dir := filepath.Join(h.dir, "quests", quest)
	files := func() map[string]string {
		out := map[string]string{}
		must(h.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch name := strings.TrimPrefix(path, dir+"/"); {
			case err != nil:
				return err
			case name == "agents" || name == "computers" || name == ".git": // live homes and what runs there; commits are compared by their names
				return fs.SkipDir
			case d.IsDir():
				return nil
			default:
				data, err := os.ReadFile(path)
				out[name] = string(data)
				return err
			}
		}))
		return out
	}
	want := files()
	for _, name := range []string{"quest.yaml", "brief.md", "plan.md", "status.md", "SUMMARY.md", "paper/paper.md"} {
		if want[name] == "" {
			h.t.Errorf("the folder has no %s: there are %v", name, slices.Sorted(maps.Keys(want)))
		}
	}
	entries, err := os.ReadDir(dir)
	must(h.t, err)
	for _, e := range entries {
		if e.Name() != "agents" && e.Name() != "computers" {
			must(h.t, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	h.ok("run", quest)
	got := files()
	for name := range want {
		if got[name] != want[name] {
			h.t.Errorf("%s comes back as\n%.1000q\nwant\n%.1000q", name, got[name], want[name])
		}
		delete(got, name)
	}
	if len(got) > 0 {
		h.t.Errorf("files that were not there: %v", slices.Sorted(maps.Keys(got)))
	}
	if again := h.refs(quest); again != refs {
		h.t.Errorf("with the folder, the commits come back as\n%s\nwant\n%s", again, refs)
	}
}

// lastLine is the last line of a text.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// TestAReviewIsToldInAChat: whoever talks with the example hears what its reviewer says.
func TestAReviewIsToldInAChat(t *testing.T) {
	t.Parallel()
	need.Programs(t, "awk", "git")
	h := newHome(t, nil)
	must(t, os.CopyFS(filepath.Join(h.work, "q"), os.DirFS("../../examples/copilot")))
	h.talked("", "q/quest.yaml", "--name", "whole").want(t, 0, "\nreviewer: Review of paper-1, round 1: ", "\n- point 1, ")
}

package cli_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/need"
)

// TestReproductions: a paper shows what running its entry point came to, and nothing of
// it stays.
func TestReproductions(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	papers := []struct{ name, code, status, reason string }{
		{"same.sh", "echo 42", "same output twice", ""},
		{"-e.sh", "echo an odd name", "same output twice", ""},
		{"fresh.sh", "ls -A; touch left; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; env | grep -i -c proxy; true", "same output twice", ""},
		{"locked.sh", "mkdir d && touch d/x && chmod 0 d && echo locked", "same output twice", ""},
		{"differs.sh", "cat /proc/sys/kernel/random/uuid", "differs", "two runs printed different bytes"},
		{"fails.sh", "echo so far; echo a reason >&2; exit 3", "failed", "it ended with exit code 3: a reason"},
		{"slow.sh", "echo begun; sleep 1000", "failed", "it met the limit on wall time"},
		{"wordy.sh", "head -c 20000000 /dev/zero", "failed", "it printed 20000000 bytes, more than"},
		{"data.txt", "no program", "failed", ""},
	}
	// A home with what is attached and nothing else, and no network, whatever the agents'
	// computers have.
	prints := map[string]string{"same.sh": "42\n", "fresh.sh": "fresh.sh\nlo\n0\n"}
	var script strings.Builder
	script.WriteString("rules:\n")
	for i, p := range papers {
		fmt.Fprintf(&script, "  - on: {turn: %d}\n    call: [{tool: write_file, args: {path: %q, content: %q}}]\n", 2*i+1, p.name, p.code+"\n")
		fmt.Fprintf(&script, "  - on: {turn: %d}\n    call: [{tool: submit_publication, args: {title: %q, content: x, attachments: [%q], entrypoint: %q}}]\n", 2*i+2, p.name, p.name, p.name)
	}
	script.WriteString("  - say: done\n")
	h := newHome(t, map[string]string{
		"quest.yaml": "name: shown\nsociety: lab\nagents: 1\nproblem: Does it run?\nmodel: script:plan.yaml\ncomputer: {driver: bubblewrap, wall: 2s, network: {allow: [example.com]}}\n",
		"plan.yaml":  script.String(),
	})
	h.run("run", "quest.yaml").want(t, 3) // nobody votes
	refs, ran := map[string]string{}, map[string]labEvent{}
	calls := map[uint64]string{}
	for _, e := range h.labEvents("shown") {
		switch e.Type {
		case "publication.submitted":
			refs[e.Body.Title] = e.Body.Ref
		case "reproduction.call":
			calls[e.Seq] = e.Body.Ref
		case "reproduction.result":
			ran[calls[e.Body.Call]] = e
		}
	}
	for _, p := range papers {
		got := ran[refs[p.name]].Body
		if got.Status != p.status || !strings.Contains(got.Reason, p.reason) {
			t.Errorf("%s: %s (%s), want %s (%s)", p.name, got.Status, got.Reason, p.status, p.reason)
		}
		dir := filepath.Join(h.dir, "quests", "shown", "publications", refs[p.name])
		text, err := os.ReadFile(filepath.Join(dir, "publication.md"))
		must(t, err)
		if !strings.Contains(string(text), "reproduction: "+p.status) || !strings.Contains(string(text), "status: PUBLISHED") {
			t.Errorf("%s: publication.md says\n%s", p.name, text)
		}
		view := h.ok("publication", "view", refs[p.name])
		for _, shown := range []string{string(text), view} {
			if !strings.Contains(shown, p.reason) && (shown != view || p.status == "failed") {
				t.Errorf("%s: the reason is not in\n%s", p.name, shown)
			}
			for _, name := range []string{"reproduction.txt", "reproduction-2.txt"} {
				out, err := os.ReadFile(filepath.Join(dir, name))
				if err == nil && !strings.Contains(shown, fmt.Sprintf("%x", sha256.Sum256(out))) {
					t.Errorf("%s: the hash of %s is not in\n%s", p.name, name, shown)
				}
				if p.status == "differs" && err != nil || name == "reproduction.txt" && prints[p.name] != "" && string(out) != prints[p.name] {
					t.Errorf("%s: %s says %q, %v", p.name, name, out, err)
				}
			}
		}
	}
	h.run("verify", "shown").want(t, 0, "consistent")
	h.run("replay", "shown").want(t, 0, "identical")
	for _, kind := range []string{"agents", "computers"} {
		if left, _ := filepath.Glob(filepath.Join(h.dir, "quests", "shown", kind, "reproduction-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if left := helpers(t, h.dir); len(left) > 0 {
		t.Errorf("computers that are still up: %v", left)
	}
}

// TestReproductionsTakeTurns: an author who hands in many slow programs has one of them
// run at a time, and another's comes in between.
func TestReproductionsTakeTurns(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	var many []string
	for i := range 4 {
		many = append(many, fmt.Sprintf(`      - {tool: submit_publication, args: {title: "many %d", content: x, attachments: [run.sh], entrypoint: run.sh}}`, i))
	}
	h := newHome(t, map[string]string{
		"quest.yaml": "name: turns\nsociety: lab\nagents: 3\nreviewers: 0\nproblem: Whose turn is it?\nmodel: script:plan.yaml\ncomputer: bubblewrap\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: write_file, args: {path: run.sh, content: "sleep 0.4; echo 42"}}]
  - on: {agent: agent-0, turn: 2}
    call:
` + strings.Join(many, "\n") + `
  - on: {turn: 2}
    delay: 300ms
    call: [{tool: submit_publication, args: {title: "one of ${turn}", content: x, attachments: [run.sh], entrypoint: run.sh}}]
  - say: "Waiting."
`,
	})
	h.run("run", "quest.yaml").want(t, 3) // nobody votes
	type span struct{ from, to time.Time }
	author, calls := map[string]string{}, map[uint64]string{}
	spans := map[string][]span{}
	var order []string
	for line := range strings.Lines(h.ok("trace", "turns", "--jsonl")) {
		var e struct {
			Seq         uint64
			Type, Actor string
			Time        time.Time
			Body        struct {
				Ref, Status string
				Call        uint64
				Duration    int64
			}
		}
		_ = json.Unmarshal([]byte(line), &e) // other bodies have other members
		switch e.Type {
		case "publication.submitted":
			author[e.Body.Ref] = e.Actor
		case "reproduction.call":
			calls[e.Seq] = author[e.Body.Ref]
		case "reproduction.result":
			who := calls[e.Body.Call]
			order = append(order, who)
			spans[who] = append(spans[who], span{e.Time.Add(-time.Duration(e.Body.Duration) * time.Microsecond), e.Time})
			if e.Body.Status != "same output twice" {
				t.Errorf("a program of %s is %s", who, e.Body.Status)
			}
		}
	}
	if len(order) != 6 || len(spans["agent-0"]) != 4 {
		t.Fatalf("run were %v", order)
	}
	for i, s := range spans["agent-0"][1:] {
		// An event is stamped no earlier than the one before it, so a span may seem to end a little late. Programs
		// that run at once do so for as long as each sleeps.
		if before := spans["agent-0"][i]; before.to.Sub(s.from) > 400*time.Millisecond {
			t.Errorf("two programs of agent-0 ran at once: %v and %v", before, s)
		}
	}
	// Four of one after another take twice as long as the others' together.
	if late := order[4:]; late[0] != "agent-0" || late[1] != "agent-0" {
		t.Errorf("the others waited for all of agent-0's: %v", order)
	}
}

// TestCleanEndsAReproduction: what a killed process left running goes with the quest's
// computers.
func TestCleanEndsAReproduction(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, map[string]string{
		"quest.yaml": "name: left\nsociety: lab\nagents: 1\nproblem: Does it end?\nmodel: script:plan.yaml\ncomputer: bubblewrap\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: write_file, args: {path: run.sh, content: "sleep 1000"}}]
  - on: {turn: 2}
    call: [{tool: submit_publication, args: {title: T, content: C, attachments: [run.sh], entrypoint: run.sh}}]
  - say: done
`,
	})
	h.ok("create", "quest.yaml")
	p := h.start("run", "left")
	h.await("left", "reproduction.call", 1)
	const its = "reproduction-*"
	awaitHelper(t, h.dir, its, patience)
	p.kill()
	// A computer that nobody holds ends by itself, but not before ten seconds.
	up := awaitHelper(t, h.dir, its, 5*time.Second)
	h.ok("clean", "left", "--yes")
	for _, pid := range up {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(b), "lyceum-helper") {
			t.Errorf("computer %d is still up", pid)
		}
	}
}

// TestReproductionsCountForStorage: what a paper's program prints is kept, until there is no
// room for it.
func TestReproductionsCountForStorage(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, map[string]string{
		"quest.yaml": "name: much\nsociety: lab\nagents: 1\nproblem: How much is it?\nmodel: script:plan.yaml\ncomputer: bubblewrap\nlimits: {storage: 1MiB}\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: write_file, args: {path: run.sh, content: "head -c 600000 /dev/urandom | od -An -v -tx1 | head -c 600000"}}]
  - on: {turn: 2}
    call: [{tool: submit_publication, args: {title: "much", content: x, attachments: [run.sh], entrypoint: run.sh}}]
  - say: "Waiting."
`,
	})
	h.run("run", "quest.yaml").want(t, 3, "storage", "--max-storage")
	h.run("show", "much").want(t, 0, "of storage")
	var found bool
	for line := range strings.Lines(h.ok("trace", "much", "--jsonl")) {
		var e struct {
			Type string
			Body struct {
				Status string
				Stored int64
				Full   *struct{ Max, Used int64 }
			}
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Type != "reproduction.result" {
			continue
		}
		found = true
		// Two outputs, and a copy of each in the paper's folder and in its history.
		if b := e.Body; b.Status != "differs" || b.Stored < 6*600000 || b.Stored > 7*600000 || b.Full == nil || b.Full.Max != 1<<20 || b.Full.Used < b.Stored {
			t.Errorf("the result is %s: %d bytes, full %+v; want six times what was printed, and the quest's limit", b.Status, b.Stored, b.Full)
		}
	}
	if !found {
		t.Error("the program was not run")
	}
	h.run("verify", "much").want(t, 0, "consistent")
	h.run("replay", "much").want(t, 0, "identical")
}

package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/need"
)

// git runs git in a folder as a person would.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

const mendPlan = `rules:
  - on: {turn: 1}
    say: "Mending."
    call:
      - {tool: write_file, args: {path: main.py, content: "print(2)\n"}}
  - on: {tool: write_file}
    say: "Mended."
`

// TestDeliverSurvivesKills kills lyceum deliver --branch anywhere: there is no branch, or the whole
// one, and the next try makes it.
func TestDeliverSurvivesKills(t *testing.T) {
	need.Program(t, "git")
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: fix\nproblem: x\nrepo: .\nmodel: script:plan.yaml\ntools: [write_file]\n", "plan.yaml": mendPlan, "main.py": "print(1)\n",
	})
	// One that is killed leaves its scratch repository among the temporary files.
	h.env = []string{"GIT_AUTHOR_NAME=Grace", "GIT_AUTHOR_EMAIL=g@example.org", "TMPDIR=" + t.TempDir()}
	git(t, h.work, "init", "-q", "-b", "main")
	git(t, h.work, "add", "-A")
	git(t, h.work, "commit", "-q", "-m", "first")
	h.ok("run", "quest.yaml")
	whole := ""
	for round := range 12 {
		branch := fmt.Sprintf("round-%d", round)
		cmd := command(t.Context(), h.dir, h.work, "deliver", "fix", "--branch="+branch)
		cmd.Env = append(cmd.Env, h.env...)
		must(t, cmd.Start())
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		h.ok("deliver", "fix", "--branch="+branch)
		at := git(t, h.work, "rev-parse", branch)
		if whole == "" {
			whole = at
		}
		if at != whole || git(t, h.work, "show", branch+":main.py") != "print(2)" {
			t.Errorf("round %d: branch at %s, want the same commit each time, %s", round, at, whole)
		}
	}
	git(t, h.work, "fsck", "--full", "--strict")
	if out := git(t, h.work, "status", "--porcelain"); out != "" {
		t.Errorf("the work tree or the index was touched: %s", out)
	}
	h.ok("verify", "fix")
}

// TestPrepare runs the command of a quest once, in a computer.
func TestPrepare(t *testing.T) {
	need.Program(t, "git")
	t.Parallel()
	plan := `rules:
  - on: {turn: 1}
    say: "Looking."
    call: [{tool: exec, args: {command: "cat made; git status --short"}}]
  - on: {tool: exec, result: '(?s)stdout:\s*(\S+)'}
    say: "It says $1."
`
	files := map[string]string{"plan.yaml": plan, "main.py": "print(1)\n"}
	for name, prepare := range map[string]string{"fine": "echo ready > made", "fails": "echo no such thing >&2; exit 3", "slow": "test -e half && echo half || true; touch half; sleep 3; echo ready > made"} {
		files[name+".yaml"] = "name: " + name + "\nproblem: x\nrepo: .\nmodel: script:plan.yaml\ntools: [exec]\ncomputer: namespaces\nprepare: " + fmt.Sprintf("%q", prepare) + "\n"
	}
	files["large.yaml"] = "name: large\nproblem: x\nrepo: .\nmodel: script:plan.yaml\ntools: [exec]\ncomputer: namespaces\nlimits: {storage: 1MiB}\nprepare: \"echo ready > made; head -c 3000000 /dev/urandom > big\"\n"
	h := newHome(t, files)
	if l := h.run("doctor"); !strings.Contains(l.out, "namespaces") {
		need.Missing(t, "a sandbox by namespaces")
	}
	t.Run("GivesEveryAgentTheHomeThatItLeaves", func(t *testing.T) {
		h := h.in(t)
		if out := h.ok("run", "fine.yaml"); !strings.Contains(out, "It says ready") {
			t.Errorf("the agent did not find what was prepared: %s", out)
		}
		for _, c := range []string{"verify", "replay"} {
			h.ok(c, "fine")
		}
		if l := h.run("deliver", "fine"); strings.Contains(l.out, "made") || l.code != 0 {
			t.Errorf("what was prepared is delivered as the agent's: %s", l.out)
		}
		// A home that is gone is made anew with what was prepared.
		h.ok("clean", "fine")
		h.ok("fork", "fine", "--name", "forked")
		if data, err := os.ReadFile(filepath.Join(h.dir, "quests/forked/agents/agent-0/made")); err != nil || string(data) != "ready\n" {
			t.Errorf("the fork's home has %q, %v; want what was prepared", data, err)
		}
	})
	t.Run("WaitsForRoomIfThereIsNone", func(t *testing.T) {
		h := h.in(t)
		h.run("run", "large.yaml").want(t, 3, "storage", "--max-storage")
		if out := h.ok("run", "large", "--max-storage", "100MiB"); !strings.Contains(out, "It says ready") {
			t.Errorf("with more room the agent did not find what was prepared: %s", out)
		}
		for _, c := range []string{"verify", "replay"} {
			h.ok(c, "large")
		}
	})
	t.Run("EndsTheQuestIfItFails", func(t *testing.T) {
		h := h.in(t)
		for range 2 { // and is tried again with the next run
			l := h.run("run", "fails.yaml")
			l.want(t, 1)
			if !strings.Contains(l.out+l.errOut, "exit code 3") || !strings.Contains(l.out+l.errOut, "no such thing") {
				t.Errorf("want the exit code and what the command said: %s %s", l.out, l.errOut)
			}
		}
		if out := h.ok("trace", "fails", "--type", "prepare.call"); strings.Count(out, "prepare.call") != 2 || strings.Contains(h.ok("trace", "fails"), "model.call") {
			t.Errorf("want two tries, and no model asked: %s", out)
		}
	})
	t.Run("BeginsAnewInAFreshHomeAfterAKill", func(t *testing.T) {
		h := h.in(t)
		cmd := command(t.Context(), h.dir, h.work, "run", "slow.yaml", "--plain")
		must(t, cmd.Start())
		half := filepath.Join(h.dir, "quests/slow/agents/@prepare/half")
		for begun := time.Now(); time.Since(begun) < patience; time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(half); err == nil {
				break
			}
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		if out := h.ok("run", "slow"); !strings.Contains(out, "It says ready") {
			t.Errorf("the quest did not go on: %s", out)
		}
		trace := h.ok("trace", "slow", "--jsonl")
		if n := strings.Count(trace, `"type":"prepare.result"`); n != 1 {
			t.Errorf("%d results of the preparation, want one", n)
		}
		for line := range strings.Lines(trace) {
			if strings.Contains(line, `"actor":"prepare"`) && strings.Contains(line, `"type":"cli.stdout"`) {
				t.Errorf("it ran in a home that something had run in: %s", line)
			}
		}
		if _, err := os.Stat(filepath.Dir(half)); err == nil {
			t.Error("the home of the preparation is still there")
		}
		h.ok("replay", "slow")
	})
}

// TestDeliverOfALab brings what the author of the answer changed, where several agents have
// changed something. Where nobody has answered, they are listed.
func TestDeliverOfALab(t *testing.T) {
	need.Program(t, "git")
	t.Parallel()
	plan := func(last string) string {
		return `rules:
  - on: {agent: agent-1, turn: 1}
    call: [{tool: write_file, args: {path: main.py, content: "print(1) # by agent-1\n"}}]
  - on: {agent: agent-1, turn: 2}
    call: [{tool: submit_publication, args: {title: "It is 42", content: "So it is."}}]
  - on: {agent: agent-0, turn: 1}
    call: [{tool: write_file, args: {path: main.py, content: "print(0) # by agent-0\n"}}]
  - on: {last: "(?:asked to review|comes first:|do that first:\\n-) ([0-9a-f]{32})"}
    call: [{tool: submit_review, args: {ref: "$1", grade: ACCEPT, confidence: 4, checked: {claim: "It is so.", ran: "nothing"}, content: "It is."}}]
  - on: {last: "(?:has published|your publication) ([0-9a-f]{32}), titled \"It is 42\"(?:, is PUBLISHED| \\()"}
    ` + last + `
  - say: "Waiting."
`
	}
	quest := func(name string) string {
		return "name: " + name + "\nsociety: lab\nagents: 3\nproblem: What holds?\nrepo: .\nmodel: script:" + name + "-plan.yaml\nlimits: {turns: 60}\n"
	}
	h := newHome(t, map[string]string{
		"main.py": "print()\n", "agreed.yaml": quest("agreed"), "open.yaml": quest("open"),
		"agreed-plan.yaml": plan(`call: [{tool: vote_solution, args: {ref: "$1"}}]`), "open-plan.yaml": plan(`say: "I cannot decide."`),
	})
	h.ok("run", "agreed.yaml")
	l := h.run("deliver", "agreed")
	l.want(t, 0, "+print(1) # by agent-1", "the changes of agent-1, whose answer the quest has", "for --agent: agent-0")
	if strings.Contains(l.out, "agent-0") {
		t.Errorf("the patch has what another agent changed: %s", l.out)
	}
	if out := h.ok("deliver", "agreed", "--json"); !strings.Contains(out, `"agent": "agent-1"`) {
		t.Errorf("as JSON it is the delivery of another: %s", out)
	}
	h.run("deliver", "agreed", "--agent", "agent-0").want(t, 0, "+print(0) # by agent-0")
	h.run("run", "open.yaml").want(t, 3)
	h.run("deliver", "open").want(t, 2, "several agents have changed files", "agent-0, agent-1")
}

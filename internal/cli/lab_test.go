package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/need"
)

// labEvent is what the tests read of a lab's events.
type labEvent struct {
	Seq   uint64
	Type  string
	Actor string
	Tool  string
	Body  struct {
		Answer, Call                          uint64
		Part                                  int64
		Ref, Status, Reviewer, Grade, Instead string
		Title, Entrypoint, Revises, Reason    string
		Accepts, Rejects, Cost                int64
		Attachments                           []string
	}
}

func (h *home) labEvents(quest string) (out []labEvent) {
	h.t.Helper()
	for line := range strings.Lines(h.ok("trace", quest, "--jsonl")) {
		var e labEvent
		// Other events may have members of these names that are something else.
		if err := json.Unmarshal([]byte(line), &e); err != nil && e.Type == "" {
			h.t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// labSound fails the test unless a lab's ledger verifies and replays, nothing in it
// happened twice or was lost, and its folder says the same.
//
// The rules answer a lab's own calls only while it runs: those that were open when it
// came to rest have no result until it goes on.
func (h *home) labSound(quest string) {
	h.t.Helper()
	h.labFolder(quest, h.labLedger(quest))
}

// shelf is what a lab's ledger says of its papers.
type shelf struct {
	status    map[string]string
	grades    map[string][2]int64
	decisions []string
}

// labLedger checks a lab's ledger alone.
func (h *home) labLedger(quest string) shelf {
	h.t.Helper()
	h.run("verify", quest).want(h.t, 0, "consistent")
	h.run("replay", quest).want(h.t, 0, "identical")
	once := map[string]bool{}
	first := func(format string, args ...any) {
		h.t.Helper()
		key := fmt.Sprintf(format, args...)
		if once[key] {
			h.t.Errorf("%s of %s happened twice", key, quest)
		}
		once[key] = true
	}
	results, own, over := map[uint64]int{}, map[uint64]bool{}, false
	status, open, grades := map[string]string{}, map[string]bool{}, map[string][2]int64{}
	var decisions []string
	var cost int64
	for _, e := range h.labEvents(quest) {
		b := e.Body
		cost += b.Cost
		switch e.Type {
		case "quest.finished", "quest.paused", "budget.exceeded":
			over = true
		case "quest.resumed":
			over = false
		case "model.call", "tool.call", "reproduction.call":
			results[e.Seq] += 0
			own[e.Seq] = strings.HasPrefix(e.Tool, "submit_")
		case "model.result", "tool.result", "tool.answered", "reproduction.result":
			results[b.Call]++
		case "tool.prepared":
			first("the preparation of call %d", b.Call)
		case "publication.submitted":
			first("the effect of %d.%d", b.Answer, b.Part)
			first("paper %s", b.Ref)
			status[b.Ref] = "SUBMITTED"
		case "review.requested":
			first("request of %s to %s", b.Ref, b.Reviewer)
			open[b.Ref+b.Reviewer] = true
		case "review.expired":
			delete(open, b.Ref+b.Reviewer)
		case "review.submitted":
			first("the effect of %d.%d", b.Answer, b.Part)
			if !open[b.Ref+e.Actor] {
				h.t.Errorf("%s reviews %s without being asked", e.Actor, b.Ref)
			}
			delete(open, b.Ref+e.Actor)
			g := grades[b.Ref]
			if b.Grade == "ACCEPT" {
				g[0]++
			} else {
				g[1]++
			}
			grades[b.Ref] = g
		case "publication.decided":
			first("the decision of %s", b.Ref)
			if g := grades[b.Ref]; g != [2]int64{b.Accepts, b.Rejects} || (b.Status == "PUBLISHED") != (g[0] > g[1]) {
				h.t.Errorf("%s is %s with %v", b.Ref, b.Status, g)
			}
			status[b.Ref] = b.Status
			decisions = append(decisions, b.Status+" "+b.Ref)
		case "vote.cast":
			first("the effect of %d.%d", b.Answer, b.Part)
			if b.Ref != "" && status[b.Ref] != "PUBLISHED" {
				h.t.Errorf("a vote for %s, which is %s", b.Ref, status[b.Ref])
			}
		}
	}
	for call, n := range results {
		if n > 1 || n == 0 && !(over && own[call]) {
			h.t.Errorf("call %d of %s has %d results", call, quest, n)
		}
	}
	if paid := h.cost(quest); paid != fmt.Sprintf("%.2f", float64(cost)/1e9) {
		h.t.Errorf("%s cost %s, and its results say %d billionths", quest, paid, cost)
	}
	return shelf{status, grades, decisions}
}

// cost is what a quest has cost by now, in dollars and cents.
func (h *home) cost(quest string) string {
	h.t.Helper()
	var s struct {
		CostUSD string `json:"cost_usd"`
	}
	must(h.t, json.Unmarshal([]byte(h.ok("show", quest, "--json")), &s))
	return s.CostUSD
}

// labFolder compares a quest's folder with its papers.
func (h *home) labFolder(quest string, in shelf) {
	h.t.Helper()
	dir := filepath.Join(h.dir, "quests", quest)
	folders, err := os.ReadDir(filepath.Join(dir, "publications"))
	must(h.t, err)
	if len(folders) != len(in.status) {
		h.t.Errorf("%d papers, %d folders", len(in.status), len(folders))
	}
	for ref, want := range in.status {
		text, err := os.ReadFile(filepath.Join(dir, "publications", ref, "publication.md"))
		must(h.t, err)
		if !strings.Contains(string(text), "\nstatus: "+want+"\n") {
			h.t.Errorf("%s is %s, and its publication.md says\n%s", ref, want, text)
		}
		reviews, err := os.ReadFile(filepath.Join(dir, "publications", ref, "reviews.md"))
		if n := strings.Count(string(reviews), "# Review "); err == nil && (want == "SUBMITTED" || int64(n) != in.grades[ref][0]+in.grades[ref][1]) || err != nil && want != "SUBMITTED" && in.grades[ref] != [2]int64{} {
			h.t.Errorf("%s is %s with %v: %v\n%s", ref, want, in.grades[ref], err, reviews)
		}
		begun, err := filepath.Glob(filepath.Join(dir, "publications", ref, ".new-*"))
		must(h.t, err)
		if len(begun) > 0 {
			h.t.Errorf("left behind: %v", begun)
		}
	}
	if _, err := exec.LookPath("git"); err == nil {
		out, err := exec.Command("git", "-c", "safe.directory=*", "-C", dir, "log", "--reverse", "--format=%s").Output()
		must(h.t, err)
		if have := strings.TrimSpace(string(out)); have != strings.Join(in.decisions, "\n") {
			h.t.Errorf("the history is\n%s\nwant\n%s", have, strings.Join(in.decisions, "\n"))
		}
	}
	for _, kind := range []string{"agents", "computers"} {
		left, err := filepath.Glob(filepath.Join(dir, kind, "reproduction-*"))
		must(h.t, err)
		if len(left) > 0 {
			h.t.Errorf("left behind: %v", left)
		}
	}
	if left := helpers(h.t, h.dir); len(left) > 0 {
		h.t.Errorf("computers that are still up: %v", left)
	}
}

// busyLab is a lab of three that publish a program each if they come to it, review what
// they are asked to, and vote. Everything takes a little while, so that there is
// something to interrupt.
var busyLab = map[string]string{
	"quest.yaml": "society: lab\nagents: 3\nproblem: What survives?\nmodel: script:plan.yaml\ncomputer: bubblewrap\nlimits: {turns: 12}\n",
	"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: write_file, args: {path: run.sh, content: "sleep 0.2; echo 42"}}]
  - on: {turn: 2}
    call: [{tool: submit_publication, args: {title: "It is 42", content: "So it is.", attachments: [run.sh], entrypoint: run.sh}}]
  - on: {last: "(?:asked to review|comes first:|do that first:\\n-) ([0-9a-f]{32})"}
    call:
      - {tool: get_publication, args: {ref: "$1"}}
      - {tool: exec, args: {command: "echo $1 >> reviewed; sleep 0.1"}}
      - {tool: submit_review, args: {ref: "$1", grade: ACCEPT, confidence: 4, checked: {claim: "It is so.", ran: "its program"}, content: "It is."}}
  - on: {last: "(?:has published|your publication) ([0-9a-f]{32}), titled \"It is 42\"(?:, is PUBLISHED| \\()"}
    call: [{tool: vote_solution, args: {ref: "$1"}}]
  - say: "Waiting."
`,
}

// TestAKilledLab kills lyceum at random moments of labs, and at chosen ones: when a
// paper is handed in, run, reviewed, decided, voted for, and when the budget ends. Each
// goes on, and comes to its end as if nothing had been.
func TestAKilledLab(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, busyLab)
	moments := []string{
		"reproduction.call", "tool.prepared", "budget.exceeded", "publication.submitted", "reproduction.result", "review.submitted",
		"publication.decided", "vote.cast",
	}
	kills, exceeded, rounds := 0, 0, 0
	enough, labs := need.Times(8, 16), need.Times(2, 3)
	for n := 0; kills < enough || n < labs; n++ {
		quest := fmt.Sprint("lab-", n)
		h.ok("create", "quest.yaml", "--name", quest)
		killed := false
		for turns := 12; ; rounds++ {
			if rounds > 200 {
				t.Fatal("the quest does not come to an end")
			}
			before := h.show(quest).Events
			p := h.start("run", quest, "--max-turns", fmt.Sprint(turns))
			var kill func()
			if rounds%3 < 2 {
				kill = h.killAt(p, quest, moments[rounds%len(moments)], before)
			} else {
				timer := time.AfterFunc(time.Duration(100+rand.IntN(500))*time.Millisecond, func() { _ = p.cmd.Process.Signal(syscall.SIGKILL) })
				kill = func() { timer.Stop() }
			}
			l := p.wait()
			kill()
			if killed = l.code == -1; killed {
				kills++
			}
			s := h.show(quest)
			if s.Status == "finished" && !killed {
				break
			}
			if s.Status == "exceeded" {
				exceeded++
				turns += 12
			} else if l.code > 0 {
				t.Fatalf("%s is %s: %s\n%s", quest, s.Status, s.Reason, l.errOut)
			}
		}
		if s := h.show(quest); s.Status != "finished" || !strings.Contains(s.Answer, "So it is.") {
			t.Errorf("%s ended as %+v", quest, s)
		}
		h.labSound(quest)
	}
	t.Logf("killed %d times in %d rounds, out of budget %d times", kills, rounds, exceeded)
	if exceeded == 0 {
		t.Error("no budget ended: the test shows nothing of that")
	}
}

// killAt kills a process when the ledger has an event of a kind, or any, beyond those that were
// there before. What it returns ends the wait for it.
func (h *home) killAt(p *process, quest, kind string, before int) (stop func()) {
	h.t.Helper()
	cmd := command(h.t.Context(), h.dir, h.work, "trace", quest, "--follow", "--jsonl")
	out, err := cmd.StdoutPipe()
	must(h.t, err)
	must(h.t, cmd.Start())
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e entry
			_ = json.Unmarshal(lines.Bytes(), &e)
			if e.Seq > uint64(before) && (kind == "" || e.Type == kind) {
				_ = p.cmd.Process.Signal(syscall.SIGKILL)
				return
			}
		}
	}()
	return func() {
		_ = cmd.Process.Kill()
		<-done
		_ = cmd.Wait()
	}
}

// slowLab is a lab of three in which one publishes, slowly, and the others review it and
// vote.
var slowLab = map[string]string{
	"quest.yaml": "name: team\nsociety: lab\nagents: 3\nproblem: Who runs it?\nmodel: script:plan.yaml\ncomputer: none\n",
	"plan.yaml": `rules:
  - on: {agent: agent-0, until_turn: 6}
    delay: 200ms
    call: [{tool: calculate, args: {code: "print(${turn})"}}]
  - on: {agent: agent-0, turn: 7}
    call: [{tool: submit_publication, args: {title: "Mine", content: "It is so."}}]
  - on: {last: "asked to review ([0-9a-f]{32}) by"}
    call: [{tool: submit_review, args: {ref: "$1", grade: ACCEPT, confidence: 4, checked: {claim: "It is so.", ran: "its program"}, content: "It is."}}]
  - on: {last: "(?:has published|your publication) ([0-9a-f]{32}), titled \"Mine\"(?:, is PUBLISHED| \\()"}
    call: [{tool: vote_solution, args: {ref: "$1"}}]
  - say: "Waiting."
`,
}

// TestTwoProcessesOnOneLab: the second is refused, and takes over when the first is
// dead.
func TestTwoProcessesOnOneLab(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowLab)
	h.ok("create", "quest.yaml")
	p := h.start("run", "team")
	h.await("team", "tool.result", 2)
	h.run("run", "team").want(t, 1, "the quest is running in another process")
	p.kill()
	h.ok("run", "team")
	if s := h.show("team"); s.Status != "finished" || !strings.Contains(s.Answer, "It is so.") {
		t.Errorf("it ended as %+v", s)
	}
	h.labSound("team")
}

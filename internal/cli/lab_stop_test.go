package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/need"
)

// staged is a lab of three in which each moment that a test wants to meet takes a while:
// agent-0 publishes a program that runs for some time, the others take their time over
// the review, and agent-2 is asked again after its vote and does not answer.
var staged = map[string]string{
	"quest.yaml": "name: staged\nsociety: lab\nagents: 3\nproblem: What holds?\nmodel: script:plan.yaml\ncomputer: bubblewrap\n",
	"plan.yaml": `rules:
  - on: {agent: agent-0, turn: 1}
    cost: "0.25"
    call: [{tool: write_file, args: {path: run.sh, content: "sleep 0.5; echo 42"}}]
  - on: {agent: agent-0, turn: 2}
    cost: "0.25"
    call: [{tool: submit_publication, args: {title: "It is 42", content: "So it is.", attachments: [run.sh], entrypoint: run.sh}}]
  - on: {agent: agent-2, turn: 1}
    cost: "0.25"
    delay: 1500ms
    say: "Let me think."
  - on: {agent: agent-2, result: "Your vote is for"}
    fault: hang
  - on: {last: "(?:asked to review|comes first:|do that first:\\n-) ([0-9a-f]{32})"}
    cost: "0.25"
    delay: 200ms
    call:
      - {tool: exec, args: {command: "sleep 0.2"}}
      - {tool: submit_review, args: {ref: "$1", grade: ACCEPT, confidence: 4, checked: {claim: "It is so.", ran: "its program"}, content: "It is."}}
  - on: {agent: agent-1, last: "has published ([0-9a-f]{32}), titled \"It is 42\" \\("}
    delay: 1s
    call: [{tool: vote_solution, args: {ref: "$1"}}]
  - on: {last: "(?:has published|your publication) ([0-9a-f]{32}), titled \"It is 42\"(?:, is PUBLISHED| \\()"}
    call: [{tool: vote_solution, args: {ref: "$1"}}]
  - cost: "0.25"
    say: "Waiting."
`,
}

// finished wants a lab to have come to its answer, with nothing doubled or lost.
func (h *home) finished(quest string) {
	h.t.Helper()
	if s := h.show(quest); s.Status != "finished" || !strings.Contains(s.Answer, "So it is.") {
		h.t.Errorf("%s ended as %+v", quest, s)
	}
	h.labSound(quest)
}

// kinds are the types of a lab's events after one of a kind, until the quest goes on.
func (h *home) kindsAfter(quest, kind string) (out []string) {
	h.t.Helper()
	after := false
	for _, e := range h.labEvents(quest) {
		switch {
		case e.Type == kind:
			after = true
		case e.Type == "quest.resumed":
			after = false
		case after:
			out = append(out, e.Type)
		}
	}
	return out
}

// TestALabKilledInTheMiddle kills lyceum while a review decides, while a program runs,
// and while a budget ends. The next run finishes as if nothing had been.
func TestALabKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	for name, c := range map[string]struct {
		at    string
		first []string
	}{
		"OfAReviewThatDecides":    {"publication.decided", nil},
		"OfAReproductionThatRuns": {"reproduction.call", nil},
		"OfABudgetThatEnds":       {"budget.exceeded", []string{"--max-turns", "4"}},
		"OfACostThatIsReached":    {"budget.exceeded", []string{"--max-cost", "0.5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, staged)
			h.ok("create", "quest.yaml")
			p := h.start(append([]string{"run", "staged"}, c.first...)...)
			stop := h.killAt(p, "staged", c.at, 0)
			if l := p.wait(); l.code != -1 {
				t.Fatalf("it came to its end before it was killed: %d\n%s", l.code, l.errOut)
			}
			stop()
			if c.at == "budget.exceeded" {
				if got := h.show("staged"); got.Status != "exceeded" {
					t.Errorf("it is %+v", got)
				}
			}
			h.agreeAndKill("staged", "--max-turns", "100", "--max-cost", "100")
			h.finished("staged")
		})
	}
}

// agreeAndKill runs the staged lab to its answer, after which it would wait for the
// agent that does not answer, kills it there, and runs it once more.
func (h *home) agreeAndKill(quest string, args ...string) {
	h.t.Helper()
	p := h.start(append([]string{"run", quest}, args...)...)
	stop := h.killAt(p, quest, "quest.finished", 0)
	l := p.wait()
	stop()
	if l.code != -1 {
		h.t.Fatalf("it came to its end before it was killed: %d\n%s%s", l.code, l.out, l.errOut)
	}
	h.run("run", quest).want(h.t, 0, "is finished already", "So it is.")
}

// TestALabKilledAfterItsAnswer: the next run writes what is missing, stops what is up,
// and answers what is open, once.
func TestALabKilledAfterItsAnswer(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, staged)
	h.ok("create", "quest.yaml")
	p := h.start("run", "staged")
	stop := h.killAt(p, "staged", "quest.finished", 0)
	if l := p.wait(); l.code != -1 {
		t.Fatalf("it came to its end before it was killed: %d\n%s", l.code, l.errOut)
	}
	stop()
	dir := filepath.Join(h.dir, "quests", "staged")
	for _, made := range []string{"publications", ".git", "SUMMARY.md"} {
		must(t, os.RemoveAll(filepath.Join(dir, made)))
	}
	h.run("verify", "staged").want(t, 0, "consistent") // what is not there is no lie
	open := h.count("staged", "model.call") - h.count("staged", "model.result")
	if open == 0 {
		t.Fatal("no call is open: the test shows nothing of that")
	}
	before := h.show("staged").Events
	h.run("run", "staged").want(t, 0, "Quest staged is finished already.", "So it is.")
	h.finished("staged")
	if n := h.show("staged").Events; n < before+open {
		t.Errorf("%d events became %d, and %d calls were open", before, n, open)
	}
	summary, err := os.ReadFile(filepath.Join(dir, "SUMMARY.md"))
	must(t, err)
	if !strings.Contains(string(summary), "So it is.") {
		t.Errorf("SUMMARY.md says %q", summary)
	}
	// And when nothing is left to do, nothing is done.
	settled := h.ok("trace", "staged", "--jsonl")
	var shown struct{ Status string }
	must(t, json.Unmarshal([]byte(h.ok("run", "staged", "--json")), &shown))
	if shown.Status != "finished" || h.ok("trace", "staged", "--jsonl") != settled {
		t.Errorf("it is %s, and the ledger has changed", shown.Status)
	}
}

// TestCtrlCInALab: what is under way comes in, nothing new begins, and the next run goes
// on.
func TestCtrlCInALab(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	for _, at := range []string{"tool.call", "publication.submitted", "reproduction.call", "review.requested", "review.submitted", "vote.cast"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"quest.yaml": staged["quest.yaml"], "plan.yaml": strings.Replace(staged["plan.yaml"], "fault: hang", "say: Done.", 1)}
			h := newHome(t, files)
			h.ok("create", "quest.yaml")
			p := h.start("run", "staged")
			h.await("staged", at, 1)
			p.signal(syscall.SIGINT)
			p.wait().want(t, 130, "Go on with: lyceum run staged")
			if s := h.show("staged"); s.Status != "paused" || s.Reason != "interrupted" || s.Running {
				t.Fatalf("the quest is %+v", s)
			}
			h.labLedger("staged")
			for _, kind := range h.kindsAfter("staged", "quest.paused") {
				if strings.HasSuffix(kind, ".call") {
					t.Errorf("a %s began after the interrupt", kind)
				}
			}
			h.run("run", "staged").want(t, 0, "So it is.")
			h.finished("staged")
		})
	}
}

// TestASecondCtrlCInALab leaves at once, whatever is under way; the next run goes on.
func TestASecondCtrlCInALab(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, map[string]string{"quest.yaml": staged["quest.yaml"], "plan.yaml": strings.Replace(staged["plan.yaml"], "sleep 0.5", "test -e /home/agent/never || sleep 15", 1)})
	h.ok("create", "quest.yaml")
	p := h.start("run", "staged")
	h.await("staged", "reproduction.call", 1)
	p.signal(syscall.SIGINT)
	h.await("staged", "quest.paused", 1)
	begun := time.Now()
	p.signal(syscall.SIGINT)
	p.wait().want(t, 130, "Go on with: lyceum run staged")
	if took := time.Since(begun); took > 10*time.Second { // the program runs for 30
		t.Errorf("it took %v", took)
	}
	h.run("verify", "staged").want(t, 0, "consistent")
	h.run("replay", "staged").want(t, 0, "identical")
}

// TestABudgetEndsALab: no new call starts, what is under way comes in and is paid for,
// and a higher limit goes on. A limit of zero is zero.
func TestABudgetEndsALab(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	type spent struct {
		CostUSD string `json:"cost_usd"`
		Turns   int
		Reason  string
		Status  string
	}
	for name, c := range map[string]struct {
		flags []string
		want  func(spent) bool
	}{
		"OfTurns": {[]string{"--max-turns", "4"}, func(s spent) bool { return s.Reason == "turns" && s.Turns == 4 && s.CostUSD == "1.00" }},
		// Two are over when the limit is found reached; the two others were under way.
		"OfCost": {[]string{"--max-cost", "0.5"}, func(s spent) bool { return s.Reason == "cost" && s.Turns <= 4 && s.CostUSD <= "1.00" }},
		"OfZero": {[]string{"--max-cost", "0"}, func(s spent) bool { return s.Reason == "cost" && s.Turns == 0 && s.CostUSD == "0.00" }},
		"OfTime": {[]string{"--max-duration", "300ms"}, func(s spent) bool { return s.Reason == "duration" && s.Turns > 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, map[string]string{"quest.yaml": staged["quest.yaml"], "plan.yaml": strings.Replace(staged["plan.yaml"], "fault: hang", "say: Done.", 1)})
			h.ok("create", "quest.yaml")
			h.run(append([]string{"run", "staged"}, c.flags...)...).want(t, 3, "Go on with a higher one: lyceum run staged")
			var s spent
			must(t, json.Unmarshal([]byte(h.ok("show", "staged", "--json")), &s))
			if s.Status != "exceeded" || !c.want(s) {
				t.Errorf("it is %+v", s)
			}
			after := h.kindsAfter("staged", "budget.exceeded")
			if slices.ContainsFunc(after, func(kind string) bool { return strings.HasSuffix(kind, ".call") }) {
				t.Errorf("after the end of the budget came %v", after)
			}
			h.run("verify", "staged").want(t, 0, "consistent")
			h.run("replay", "staged").want(t, 0, "identical")
			h.run("run", "staged", "--max-turns", "100", "--max-cost", "100", "--max-duration", "1h").want(t, 0, "So it is.")
			h.finished("staged")
		})
	}
}

// TestAnAgentThatAnswersNothing: each empty answer is recorded and paid for, the model is
// asked again after a pause, and then the agent is parked; the others finish.
func TestAnAgentThatAnswersNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: mute\nsociety: lab\nagents: 3\nproblem: Who speaks?\nmodel: script:plan.yaml\ncomputer: none\n",
		"plan.yaml": `rules:
  - on: {agent: agent-2}
    cost: "0.25"
    fault: empty
  - on: {agent: agent-0, turn: 1}
    delay: 3s # what happens to an agent gives it another chance
    call: [{tool: submit_publication, args: {title: "Mine", content: "So it is."}}]
  - on: {last: "asked to review ([0-9a-f]{32}) by"}
    call: [{tool: submit_review, args: {ref: "$1", grade: ACCEPT, confidence: 4, checked: {claim: "It is so.", ran: "its program"}, content: "It is."}}]
  - on: {last: "(?:has published|your publication) ([0-9a-f]{32}), titled \"Mine\"(?:, is PUBLISHED| \\()"}
    call: [{tool: vote_solution, args: {ref: "$1"}}]
  - say: "Waiting."
`,
	})
	h.ok("run", "quest.yaml")
	h.finished("mute")
	type result struct {
		Type, Actor string
		Time        time.Time
		Body        struct {
			Cost   int64
			Parts  []any
			Reason string
		}
	}
	var times []time.Time
	parked, paid := false, 0
	for line := range strings.Lines(h.ok("trace", "mute", "--jsonl")) {
		var e result
		_ = json.Unmarshal([]byte(line), &e) // other bodies have other members
		if e.Actor == "agent-2" && e.Type == "model.result" {
			paid++
		}
		switch {
		case e.Actor != "agent-2" || parked: // news give it another chance
		case e.Type == "agent.parked":
			parked = strings.Contains(e.Body.Reason, "answered nothing, three times in a row")
		case e.Type == "model.result":
			times = append(times, e.Time)
			if e.Body.Cost != 250_000_000 || len(e.Body.Parts) != 0 {
				t.Errorf("an empty answer is recorded as %s", line)
			}
		}
	}
	if len(times) != 3 || !parked {
		t.Fatalf("it answered %d times, parked: %v", len(times), parked)
	}
	for i, least := range []time.Duration{500 * time.Millisecond, time.Second} {
		if pause := times[i+1].Sub(times[i]); pause < least {
			t.Errorf("pause %d was %v", i+1, pause)
		}
	}
	if want := fmt.Sprintf("%.2f", 0.25*float64(paid)); h.cost("mute") != want {
		t.Errorf("it cost %s, want %s", h.cost("mute"), want)
	}
}

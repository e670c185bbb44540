package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	acp "github.com/coder/acp-go-sdk"
)

// studied is a home with a study that asks, moves and waits, by a script.
func studied(t *testing.T) *home {
	return newHome(t, map[string]string{
		"quest.yaml": "name: series\nsociety: stages\nproblem: Which forecast is best?\nmodel: script:plan.yaml\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    say: "I look at the series."
    call: [{tool: interact, args: {kind: decision_request, text: "Which error?", options: ["mean", "root"]}}]
  - on: {turn: 2}
    say: "I wait for your word."
  - on: {turn: 3}
    call: [{tool: move_anchor, args: {to: baseline, reason: "The error is chosen."}}]
  - say: "I heard you."
`,
		"data.csv": "a,b\n1,2\n",
	})
}

// TestAStudyWaitsAndIsTalkedTo: run returns and says how to go on; answers, commands, files and
// messages reach the study by lines; each message is delivered once, and nothing needs a model
// that is a command.
func TestAStudyWaitsAndIsTalkedTo(t *testing.T) {
	t.Parallel()
	h := studied(t)
	h.run("run", "quest.yaml").want(t, 3, "researcher asks (question", "Which error?", "lyceum chat series")
	h.talked("root\n", "series").want(t, 0, "I heard you.")
	h.run("run", "series").want(t, 3, "waits for your words", "lyceum chat series", "lyceum message series")
	turns := h.count("series", "model.call")
	l := h.talked("/status\n/stage\n/plan\n/graph\n/summary\n/metrics\n/help\n", "series")
	l.want(t, 0, "series is waiting for words.", "Stage: baseline.", "scout → baseline, by researcher: The error is chosen.", "researcher said last:", "/waive <condition> <why>")
	refused := h.talked("/stage idea\n/use nonsense\n/withdraw 1\n/approve\n/nonsense\n", "series")
	for _, want := range []string{"/waive baseline-first <why>", "there is no skill", "message 1 does not wait", "nothing is asked", "there is no command /nonsense"} {
		if !strings.Contains(refused.errOut, want) {
			t.Errorf("there is no %q in what is refused:\n%s", want, refused.errOut)
		}
	}
	if n := h.count("series", "model.call"); n != turns {
		t.Errorf("commands had the model asked %d times, want none", n-turns)
	}
	h.talked("/waive baseline-first it is a toy\n/stage idea it is time\nSee @data.csv\n", "series").want(t, 0, "I heard you.")
	trace := h.ok("trace", "series", "--jsonl")
	for _, want := range []string{`"to":"idea"`, `"reason":"it is time"`, `"name":"data.csv"`} {
		if !strings.Contains(trace, want) {
			t.Errorf("the ledger does not have %s", want)
		}
	}
	h.ok("message", "series", "/pause")
	h.run("message", "series", "Are you there?").want(t, 0, "Kept. Quest series is paused")
	h.run("resume", "series").want(t, 3, "waits for your words")
	if n, m := h.count("series", "user.message"), h.count("series", "sitting.begun"); n != 2 || m != 4 {
		t.Errorf("%d messages are recorded in %d sittings, want 2 in 4", n, m)
	}
	h.ok("replay", "series")
}

// TestAFileThatIsTooLargeIsRefused: with its name, and nothing is said.
func TestAFileThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	h := studied(t)
	h.run("run", "quest.yaml").want(t, 3)
	large, err := os.Create(filepath.Join(h.work, "large.bin"))
	must(t, err)
	must(t, large.Truncate(25<<20+1))
	must(t, large.Close())
	l := h.talked("Look at @large.bin\n", "series")
	if !strings.Contains(l.errOut, "large.bin") || h.count("series", "user.message") != 0 {
		t.Errorf("got %q and %d messages, want the file refused by its name", l.errOut, h.count("series", "user.message"))
	}
}

// TestAStudyInATerminal: the question is chosen by its number, a number that is none of the
// answers is refused, and the stages show where the study is.
func TestAStudyInATerminal(t *testing.T) {
	t.Parallel()
	h := studied(t)
	p := newPane(t, h, 100, 28)
	p.keys("NO_COLOR=1 lyceum chat quest.yaml; echo left with $?", "Enter")
	p.shows(`series +\? waiting for an answer`, `\[scout\] › baseline`, `1  mean`, `2  root`, `I wait for your word\.`)
	p.keys("3", "Enter")
	p.shows(`There is no answer 3: there are 1 to 2`)
	p.keys("C-u")
	p.keys("2")
	p.shows(`› 2  root`)
	p.keys("Enter")
	p.shows(`waiting for words`, `scout › \[baseline\]`, `│ → root`, `goes from scout to baseline: The error is chosen\.`, `I heard you\.`)
	p.keys("/stage idea", "Enter")
	p.shows(`/waive baseline-first <why>`)
	p.keys("/nonsense", "Enter")
	p.shows(`The commands are`, `(?s)begin with\s+two slashes`)
	p.keys("C-u", "C-c", "y")
	p.shows(`left with 0`)
	p.restored()
	h.ok("replay", "series")
}

// TestAStudyInAnEditor: a prompt is a message, which begins the next sitting; what begins with a
// slash is a command, answered without a model, and an unknown one is refused.
func TestAStudyInAnEditor(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"plan.yaml": "rules:\n  - on: {turn: 1}\n    say: I look at it.\n  - say: I heard you.\n"})
	e := h.edit("--model", "script:plan.yaml", "--society", "stages")
	id := e.begin(h.work)
	e.says(id, "/status", acp.StopReasonEndTurn)
	e.says(id, "Which forecast is best?", acp.StopReasonEndTurn)
	e.says(id, "And the mean?", acp.StopReasonEndTurn)
	turns := h.count(string(id), "model.call")
	e.says(id, "/status", acp.StopReasonEndTurn)
	e.says(id, "/stage idea", acp.StopReasonEndTurn)
	e.says(id, "/nonsense", acp.StopReasonEndTurn)
	var b strings.Builder
	e.mu.Lock()
	for _, n := range e.updates {
		if c := n.Update.AgentMessageChunk; c != nil && c.Content.Text != nil {
			b.WriteString(c.Content.Text.Text)
		}
	}
	e.mu.Unlock()
	for _, want := range []string{"There is no quest yet", "I look at it.", "I heard you.", "Stage: scout.", "/waive baseline-first <why>", "there is no command /nonsense"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %q in what the editor shows:\n%s", want, b.String())
		}
	}
	if n := h.count(string(id), "model.call"); n != turns || turns != 2 {
		t.Errorf("%d turns, %d after commands: want 2 and no more", turns, n)
	}
	e.end()
	h.ok("replay", string(id))
}

// TestAnEditorHearsWhatAResearcherSays: what it says with interact stands in the editor as it stands in
// the chat, a question once, and the answer of the study once.
func TestAnEditorHearsWhatAResearcherSays(t *testing.T) {
	t.Parallel()
	talksOf(t, `rules:
  - on: {turn: 1}
    say: "I look at the series."
    call: [{tool: interact, args: {kind: milestone, text: "The series are read.", files: [notes.md]}}]
  - on: {turn: 2}
    call: [{tool: interact, args: {kind: decision_request, text: "Which error?", options: ["mean", "root"]}}]
  - on: {last: "mean"}
    call: [{tool: complete, args: {answer: "The mean is best."}}]
  - say: "I wait."
`, func(t *testing.T, h *home) {
		e := h.edit("--model", "script:plan.yaml", "--society", "stages")
		e.choose = option("mean")
		id := e.begin(h.work)
		_, err := e.conn.SetSessionMode(e.ctx(), acp.SetSessionModeRequest{SessionId: id, ModeId: "finalize"})
		must(t, err)
		e.says(id, "Which forecast is best?", acp.StopReasonEndTurn)
		said := e.words()
		for want, n := range map[string]int{"\n\nThe series are read.\n\n(file: notes.md)\n\n": 1, "Which error?": 1, "The mean is best.": 1} {
			if got := strings.Count(said, want); got != n {
				t.Errorf("the editor shows %q %d times, want %d:\n%s", want, got, n, said)
			}
		}
		again := h.edit()
		_, err = again.conn.LoadSession(again.ctx(), acp.LoadSessionRequest{SessionId: id, Cwd: h.work, McpServers: []acp.McpServer{}})
		must(t, err)
		if got := strings.TrimPrefix(again.words(), "user: Which forecast is best?\n"); got != said {
			t.Errorf("loaded, the editor shows\n%s\nwant\n%s", got, said)
		}
		h.ok("replay", string(id))
	})
}

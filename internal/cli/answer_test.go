package cli_test

import (
	"testing"
)

// doorFiles are a quest that asks three things: a colour, a reason in words, and by a
// policy whether it may write.
var doorFiles = map[string]string{
	"quest.yaml": `name: door
problem: Paint the door.
model: script:plan.yaml
tools: [write_file]
may_ask: true
policies:
  - name: careful
    steps:
      - ask: {type: tool.call, where: {tool: write_file}, reason: It writes a file.}
`,
	"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: ask_person, args: {question: "Which colour?", options: [red, blue]}}]
  - on: {turn: 2}
    call: [{tool: ask_person, args: {question: "Why that one?"}}]
  - on: {turn: 3}
    call: [{tool: write_file, args: {path: door.txt, content: painted}}]
  - say: "It is painted."
`,
}

// TestAnswersInAView: what is asked is seen and answered in the view of a run, and the
// run goes on to its end.
func TestAnswersInAView(t *testing.T) {
	t.Parallel()
	h := newHome(t, doorFiles)
	p := newPane(t, h, 100, 30)
	p.keys("lyceum run quest.yaml --watch; echo left with $?", "Enter")
	p.shows(`door +\? waiting`, `\? agent-0 asks: Which colour\?`, `a answer`, `agent-0 +asks you`)
	p.keys("a")
	p.shows(`Question 6 of agent-0`, `1  red`, `2  blue`)
	p.keys("2", "Enter")
	p.shows(`\? agent-0 asks: Why that one\?`, `answers question 6: blue`)
	p.keys("a")
	p.shows(`Question \d+ of agent-0`, `Answer:`)
	p.keys("It lasts, q and s too.", "Enter")
	p.shows(`agent-0 wants to call write_file`)
	p.keys("a")
	p.shows(`A word with it`)
	p.keys("y", "Enter")
	p.shows(`─ Answer `, `sure +unchecked`, `│ It is painted\.`, `The quest is finished. esc looks around; q leaves`)
	p.keys("Escape")
	p.shows(`✓ finished`, `✓ It is painted\. .*sure: unchecked`, `a answer`)
	p.keys("q")
	p.shows(`It is painted\.`, `left with 0`)
	p.restored()
	h.ok("replay", "door")
}

// TestAnswersInAViewOfAServersQuest: watch answers a quest that waits in lyceum serve, and
// one that nobody runs is told how to go on.
func TestAnswersInAViewOfAServersQuest(t *testing.T) {
	t.Parallel()
	h := newHome(t, doorFiles)
	if l := h.run("run", "quest.yaml"); l.code != 3 {
		t.Fatalf("a run that waits ends with %d, want 3:\n%s", l.code, l.errOut)
	}
	p := newPane(t, h, 100, 30)
	p.keys("lyceum watch door; echo left with $?", "Enter")
	p.shows(`door +\? waiting`)
	p.keys("a", "1", "Enter")
	p.shows(`Answered\. Go on with: lyceum run door`)
	p.keys("q")
	p.shows(`left with 0`)
	p.keys("clear; lyceum watch door; echo left with $?", "Enter")
	p.shows(`door +\? waiting`)
	p.keys("a", "2", "Enter")
	p.shows(`Question 6 has an answer already`)
	s := h.serve()
	if l := h.run("run", "door"); l.code != 3 {
		t.Fatalf("a run in the server that waits ends with %d, want 3:\n%s", l.code, l.errOut)
	}
	p.shows(`\? agent-0 asks: Why that one\?`)
	p.keys("a")
	p.shows(`Answer:`)
	p.keys("It lasts.", "Enter")
	p.shows(`agent-0 wants to call write_file`)
	p.keys("a")
	p.shows(`A word with it`)
	h.run("answer", "door", "no").want(t, 0, "Answered. door goes on.") // somebody is faster
	p.shows(`is not open any more`, `✓ finished`)
	p.keys("q")
	p.shows(`left with 0`)
	p.restored()
	s.stop()
}

// TestAnswersAreTypedWhereLinesAreShown: on a terminal a run waits for the answer, and takes
// it as it is typed.
func TestAnswersAreTypedWhereLinesAreShown(t *testing.T) {
	t.Parallel()
	h := newHome(t, doorFiles)
	p := newPane(t, h, 100, 40)
	p.keys("lyceum run quest.yaml; echo left with $?", "Enter")
	p.shows(`waiting · turn 1 · .* · for your answer`, `Question 6: Which colour\?`, `Type the answer here, or one of: red, blue`)
	p.keys("red", "Enter")
	p.shows(`Why that one\?`)
	p.keys("It lasts.", "Enter")
	p.shows(`agent-0 wants to call write_file`)
	p.keys("perhaps", "Enter")
	p.shows(`wants yes or no`)
	p.keys("yes", "Enter")
	p.shows(`It is painted\.`, `left with 0`)
	h.ok("replay", "door")
}

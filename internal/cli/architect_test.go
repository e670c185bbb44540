package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// exampleFiles are those of an example.
func exampleFiles(t *testing.T, name string) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := filepath.Join("..", "..", "examples", name)
	must(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	}))
	return files
}

// sandboxed leaves a test out where no executor could work.
func sandboxed(t *testing.T, h *home) {
	t.Helper()
	if l := h.run("doctor"); !strings.Contains(l.out, "namespaces") {
		need.Missing(t, "a sandbox by namespaces")
	}
}

// TestAnArchitectsQuest: the example runs, shows what became of its task, holds, and is delivered.
func TestAnArchitectsQuest(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	h := newHome(t, exampleFiles(t, "new-command"))
	sandboxed(t, h)
	l := h.run("run", "quest.yaml")
	l.want(t, 0,
		"the plan stands: 1 task: count", "count is handed over to builtin",
		"builtin asks the architect about count: What exactly is count to print?", "architect answers question",
		"count went wrong in run 1 (scope)", "count goes back to builtin for a repair",
		"1 of 2 acceptance commands succeeded; sh test.sh count ends with 1", "2 of 2 acceptance commands succeeded",
		"architect accepts count", "tool.sh has the command count.")

	l = h.run("show", "new-command")
	l.want(t, 0, "new-command: finished", "1 of 1 tasks accepted", "sure: high (the acceptance commands of all tasks pass)", "- count: accepted.")
	fields := func(start string) string {
		for line := range strings.Lines(l.out) {
			if strings.HasPrefix(line, start) {
				return strings.Join(strings.Fields(line), " ")
			}
		}
		return ""
	}
	if got, want := fields("TASK"), "TASK STATE EXECUTOR RUNS REPAIRS FILES LINES TESTS GOAL"; got != want {
		t.Errorf("the table of tasks has the columns %q, want %q", got, want)
	}
	if got, want := fields("count "), "count accepted builtin 2 1 2 +3 -0 fail → pass Add the command count"; !strings.HasPrefix(got, want) {
		t.Errorf("show has of the task %q, want %q", got, want)
	}

	h.run("verify", "new-command").want(t, 0, "new-command: consistent", "verify --execute runs them")
	h.run("replay", "new-command").want(t, 0, "new-command: identical")
	l = h.run("deliver", "new-command")
	l.want(t, 0, "+++ b/commands/count.sh", "+wc -w | tr -d ' '", "+++ b/tests/count.sh")
	if strings.Contains(l.out, "README.md") {
		t.Errorf("what was out of the task's scope is delivered:\n%s", l.out)
	}
	if _, err := os.Stat(filepath.Join(h.work, "program/commands/count.sh")); !os.IsNotExist(err) {
		t.Fatalf("the folder was changed before anybody said so: %v", err)
	}
	h.ok("deliver", "new-command", "--apply")
	if data, err := os.ReadFile(filepath.Join(h.work, "program/commands/count.sh")); err != nil || !strings.Contains(string(data), "wc -w") {
		t.Errorf("applied, the new command is %q, %v; want what the executor wrote", data, err)
	}

	// It is over, and so is its task.
	h.run("task", "cancel", "new-command", "count").want(t, 2, "the task count is accepted")
}

// planned is an architect's quest that plans two tasks and then waits for a person.
var planned = map[string]string{
	"quest.yaml":   "name: plans\nsociety: architect\nproblem: Two things.\nmodel: script:plan.yaml\nexecutors: [builtin]\nrepo: program\ncomputer: auto\n",
	"program/a.md": "a\n",
	"plan.yaml": `rules:
  - on: {agent: architect, turn: 1}
    call:
      - tool: plan_tasks
        args:
          tasks:
            - {id: one, goal: "The first.", include: [one/], acceptance: ["test -d one"]}
            - {id: two, goal: "The second.", include: [two/], acceptance: ["test -d two"]}
  - on: {agent: architect, tool: plan_tasks}
    call: [{tool: clarify, args: {question: "Shall I begin?"}}]
  - on: {agent: architect, tool: clarify}
    call: [{tool: finish, args: {answer: "Nothing was left to do."}}]
  - on: {agent: architect}
    say: "I do not know what to do about that."
`,
}

// TestAPersonsOrdersAboutTasks: what is said of an open task is recorded, once, and holds as soon
// as the quest runs; what would come to nothing is refused.
func TestAPersonsOrdersAboutTasks(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	h := newHome(t, planned)
	sandboxed(t, h)
	h.run("run", "quest.yaml").want(t, 3, "Shall I begin?")
	h.run("task", "cancel", "plans", "three").want(t, 2, `there is no task "three"`)
	h.run("task", "message", "plans", "one", " ").want(t, 2, "1 to 8192 bytes")
	for _, order := range [][]string{{"message", "plans", "one", "Keep it short."}, {"cancel", "plans", "one"}, {"cancel", "plans", "two"}} {
		h.run(append([]string{"task"}, order...)...).want(t, 0, "Recorded. It takes effect when the quest runs: lyceum run plans")
	}
	h.ok("answer", "plans", "yes")
	h.run("run", "plans").want(t, 1, "says to whoever works on one: Keep it short.", "one is cancelled: A person cancelled it.", "two is cancelled", "Nothing was left to do.") // nothing was accepted
	var said []string
	for _, e := range h.rawEvents("plans") {
		if e["type"] == "task.order" {
			b := body(e)
			text, _ := b["text"].(string)
			said = append(said, strings.TrimSpace(e["actor"].(string)+" "+b["action"].(string)+" "+b["task"].(string)+" "+text))
		}
	}
	if got, want := strings.Join(said, "; "), "person message one Keep it short.; person cancel one; person cancel two"; got != want {
		t.Errorf("the ledger has the orders %q, want %q", got, want)
	}
	h.run("task", "cancel", "plans", "one").want(t, 2, "the task one is cancelled")
	for _, c := range []string{"verify", "replay"} {
		h.ok(c, "plans")
	}
}

// A server that waits with the quest takes an order at once, though nobody runs it just now.
func TestAnOrderToAQuestThatAServerWaitsWith(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	h := newHome(t, planned)
	sandboxed(t, h)
	s := h.serve()
	h.run("run", "quest.yaml").want(t, 3, "Shall I begin?")
	h.run("task", "cancel", "plans", "one").want(t, 0, "Told the process that runs plans.")
	must(t, awaitEvent(h.dir, "plans", "task.ended", 1))
	h.run("task", "message", "plans", "one", "Wait.").want(t, 2, "the task one is cancelled")
	s.stop()
	// Nobody knows when the person will answer: the executor does not wait for that.
	if up := helpersOf(t, h.dir, "*"); len(up) > 0 {
		t.Errorf("the computers %v are still up", up)
	}
}

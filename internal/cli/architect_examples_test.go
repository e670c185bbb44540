package cli_test

// No race detector: its tests are processes of the whole program.

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/need"
	"lyceum/internal/runtime/audit"
)

// architects is a home beside a copy of an example.
func architects(t *testing.T, example string) *home {
	t.Helper()
	h := newHome(t, nil)
	must(t, os.CopyFS(filepath.Join(h.work, "q"), os.DirFS("../../examples/"+example)))
	return h
}

// repeats fails the test unless all commands of a quest do the same again.
func (h *home) repeats(quest string, commands int) {
	h.t.Helper()
	l := h.run("verify", "--execute", "--json", quest)
	l.want(h.t, 0)
	var rep struct{ Execution audit.Execution }
	must(h.t, json.Unmarshal([]byte(l.out), &rep))
	if n := rep.Execution; n.Same != commands || len(n.Calls) != commands {
		h.t.Errorf("of the commands of %s these are the same, different and not checkable: %d, %d, %d, want %d the same\n%+v", quest, n.Same, n.Different, n.NotCheckable, commands, n.Calls)
	}
}

// TestNewCommand runs the example, whose executor is repaired once, and repeats what ran.
func TestNewCommand(t *testing.T) {
	t.Parallel()
	h := architects(t, "new-command")
	h.run("run", "q/quest.yaml").want(t, 0, "count: accepted")
	kinds := h.kinds("new-command")
	for _, kind := range []string{"task.clarify", "task.snapshot", "task.error", "artifact.manifest", "test.report"} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("the example has no %s", kind)
		}
	}
	refused := slices.ContainsFunc(h.told("new-command", "tool.reported"), func(e told) bool { return strings.Contains(e.line, "outside the scope of the task count") })
	if !refused {
		t.Error("the executor has Lyceum write README.md, and does not read at once that it may not")
	}
	h.sound("new-command")
	h.repeats("new-command", 5)
}

// TestTwoTasks runs two tasks at the same time: each executor is told before the other one is
// done, what they made is put together once and tested as a whole, and delivered as one patch.
func TestTwoTasks(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	h := architects(t, "two-tasks")
	h.run("run", "q/quest.yaml").want(t, 0, "count: accepted", "lower: accepted", "put together: count, lower, 4 files changed")
	kinds := h.kinds("two-tasks")
	begun := 0
	for _, kind := range kinds {
		if kind == "handover.ended" {
			break
		}
		if kind == "handover.begun" {
			begun++
		}
	}
	if begun != 2 {
		t.Errorf("%d tasks were handed over before the first was back, want 2", begun)
	}
	if n := h.count("two-tasks", "merge.report"); n != 1 {
		t.Errorf("there are %d merges, want 1", n)
	}
	if i := slices.Index(kinds, "merge.report"); i < 0 || !slices.Contains(kinds[i:], "test.report") {
		t.Error("what was put together was not tested")
	}
	h.sound("two-tasks")
	h.repeats("two-tasks", 7)

	l := h.run("deliver", "two-tasks")
	l.want(t, 0, "accepted, put together", "--agent: builtin-1, builtin-2")
	dir := filepath.Join(h.work, "q", "program")
	apply := exec.Command("git", "apply", "-")
	apply.Dir, apply.Stdin = dir, strings.NewReader(l.out)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("the patch does not apply: %v\n%s", err, out)
	}
	for _, command := range []string{"count", "lower", "upper"} {
		if out, err := exec.Command("sh", filepath.Join(dir, "test.sh"), command).CombinedOutput(); err != nil {
			t.Errorf("after the patch the test of %s fails: %v\n%s", command, err, out)
		}
	}
}

// answers gives an answer to the one question of a quest, by standard input.
func (h *home) answers(quest, text string) {
	h.t.Helper()
	cmd := command(h.t.Context(), h.dir, h.work, "answer", quest, "-")
	cmd.Stdin = strings.NewReader(text)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		h.t.Fatalf("answer %s: %v\n%s", quest, err, out.String())
	}
}

// TestApprovePlan: before anything is handed over a person sees the plan, and takes it, changes
// it, or says why not. A run without a terminal says what is asked, and comes back.
func TestApprovePlan(t *testing.T) {
	t.Parallel()
	h := architects(t, "new-command")
	file := filepath.Join(h.work, "q", "quest.yaml")
	spec, err := os.ReadFile(file)
	must(t, err)
	// In time for a test that fails, should it not come back by itself.
	must(t, os.WriteFile(file, append(bytes.Replace(spec, []byte("duration: 5m"), []byte("duration: 1m"), 1), "approve: plan\n"...), 0o644))
	script := filepath.Join(h.work, "q", "script.yaml")
	lines, err := os.ReadFile(script)
	must(t, err)
	must(t, os.WriteFile(script, bytes.Replace(lines, []byte("rules:\n"), []byte(`rules:
  - on: {agent: architect, tool: plan_tasks, result: "does not approve the plan. (.*)"}
    call: [{tool: finish, args: {answer: "They said: $1"}}]
`), 1), 0o644))
	asked := func(t *testing.T, name string) {
		t.Helper()
		h := h.in(t)
		h.ok("create", "q/quest.yaml", "--name", name)
		h.run("run", name).want(t, 3, "The quest waits for a person.", "architect asks (question 19 of "+name+")",
			"The architect wants to have this done.", "id: count", "no_touch:\n        - tool.sh", "lyceum answer "+name+" 19 yes", "lyceum answer "+name+" 19 no")
		if slices.Contains(h.kinds(name), "handover.begun") {
			t.Error("a task was handed over before anybody said yes")
		}
	}
	approved := func(t *testing.T, name string) (b struct {
		Edited bool
		Tasks  []struct {
			Acceptance []string
			Goal       string
			Scope      struct {
				Include []string
				NoTouch []string `json:"no_touch"`
			}
		}
	}) {
		t.Helper()
		for line := range strings.Lines(h.in(t).ok("trace", name, "--jsonl")) {
			var e struct {
				Type string
				Body json.RawMessage
			}
			must(t, json.Unmarshal([]byte(line), &e))
			if e.Type == "plan.approved" {
				must(t, json.Unmarshal(e.Body, &b))
				return b
			}
		}
		t.Fatal("no plan was approved")
		return b
	}
	t.Run("Yes", func(t *testing.T) {
		t.Parallel()
		h := h.in(t)
		asked(t, "yes")
		h.ok("answer", "yes", "yes")
		h.run("run", "yes").want(t, 0, "count: accepted")
		if b := approved(t, "yes"); b.Edited {
			t.Error("a plan that nobody changed counts as changed")
		}
		h.sound("yes")
	})
	t.Run("Changed", func(t *testing.T) {
		t.Parallel()
		h := h.in(t)
		asked(t, "changed")
		// The first one wants more than the quest allows: it is asked again, and the run is back.
		h.answers("changed", "tasks:\n  - id: count\n    goal: All.\n    include: [.]\n    acceptance: [sh test.sh count]\n")
		h.run("run", "changed").want(t, 3, "The plan that you sent cannot be taken:", ". is not within commands/, tests/", "lyceum answer changed 21 yes")
		h.answers("changed", "tasks:\n  - id: count\n    goal: Count words.\n    include: [commands/count.sh, tests/count.sh]\n    acceptance: [sh test.sh count]\n")
		h.run("run", "changed").want(t, 0, "count: accepted")
		b := approved(t, "changed")
		if !b.Edited || len(b.Tasks) != 1 || b.Tasks[0].Goal != "Count words." || !slices.Equal(b.Tasks[0].Scope.Include, []string{"commands/count.sh", "tests/count.sh"}) {
			t.Errorf("the plan is %+v, want what was sent", b)
		} else if !slices.Equal(b.Tasks[0].Scope.NoTouch, []string{"tool.sh", "test.sh"}) {
			t.Errorf("no_touch is %v, want what quest.yaml says", b.Tasks[0].Scope.NoTouch)
		}
		h.sound("changed")
	})
	t.Run("NoAndWhy", func(t *testing.T) {
		t.Parallel()
		h := h.in(t)
		asked(t, "nay")
		h.ok("answer", "nay", "no", "--why", "Count lines instead.")
		l := h.run("run", "nay")
		l.want(t, 0, "They said: Count lines instead.", "nobody has said yes to it")
		if kinds := h.kinds("nay"); slices.Contains(kinds, "plan.approved") || slices.Contains(kinds, "handover.begun") {
			t.Error("something was done about a plan that was refused")
		}
		h.sound("nay")
	})
}

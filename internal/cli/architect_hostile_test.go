package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// handover is what a test of an architect and a scripted executor varies. All of it is put into
// a quest with one task, the file commands/x.sh.
type handover struct {
	// session are limits, does the executor's command, items what its manifest lists, rules
	// what its model answers before anything else.
	session, does, items, rules string
	// asks says that the architect asks the person whether to end, when the task has failed.
	asks bool
}

// work is what an honest executor does, and whole what it hands in.
const (
	work  = "echo x > commands/x.sh"
	whole = `[{type: patch, ref: ".", generated_by: me}]`
)

// files are the quest's. The architect hands the task over until it is checked or has failed;
// the executor does the same whenever it is told of its task, or of what is wrong.
func (o handover) files() map[string]string {
	quoted := func(s string) string {
		b, _ := json.Marshal(strings.ReplaceAll(s, "$", "$$"))
		return string(b)
	}
	failed := "{tool: finish, args: {answer: x is not there.}}"
	if o.asks {
		failed = `{tool: clarify, args: {question: "It has failed. Am I to end?"}}`
	}
	return map[string]string{
		"quest.yaml": "name: q\nsociety: architect\nproblem: Make x.\nmodel: script:plan.yaml\nrepo: program\ncomputer: auto\n" +
			"no_touch: [tool.sh, README.md]\non_repeated_error: fail\nsession: {" + o.session + "}\nlimits: {turns: 80, duration: 5m}\n",
		"program/tool.sh": "echo tool\n", "program/README.md": "# Tool\n", "program/commands/a.sh": "echo a\n",
		"plan.yaml": `rules:
  - on: {agent: architect, turn: 1}
    call: [{tool: plan_tasks, args: {tasks: [{id: x, goal: Make x., include: ["."], acceptance: ["test -f commands/x.sh"]}]}}]
  - on: {agent: architect, tool: plan_tasks}
    call: [{tool: dispatch, args: {task: x}}]
  - on: {agent: architect, tool: dispatch, result: 'is checked'}
    call: [{tool: judge, args: {task: x, verdict: accept, reasons: It is there.}}]
  - on: {agent: architect, tool: judge}
    call: [{tool: finish, args: {answer: x is there.}}]
  - on: {agent: architect, tool: dispatch, result: 'x is failed'}
    call: [` + failed + `]
  - on: {agent: architect, tool: clarify}
    call: [{tool: finish, args: {answer: x is not there.}}]
  - on: {agent: architect, tool: dispatch}
    call: [{tool: dispatch, args: {task: x}}]
  - on: {agent: architect}
    say: "I do not know."
` + o.rules + `
  - on: {last: 'session_id: "?([^"\s]+)"?[\s\S]*environment_fingerprint: "?([^"\s]+)"?'}
    call: [{tool: run_command, args: {command: "echo $1 $2 > .executor/ids"}}, {tool: run_command, args: {command: ` + quoted(o.does) + `}}, {tool: run_command, args: {command: "echo manifest $$(cat .executor/ids)"}}]
  - on: {last: 'cannot be taken over'}
    call: [{tool: run_command, args: {command: "echo manifest $$(cat .executor/ids)"}}]
  - on: {tool: run_command, result: '(?m)^manifest (\S+) (\S+)$'}
    call: [{tool: lyceum__artifact_manifest, args: {manifest_id: m, session_id: "$1", generated_at: "2026-01-31T12:00:00Z", environment_fingerprint: "$2", items: ` + o.items + `}}]
  - say: "That is all."
`,
	}
}

// told is what tests look at of an event about tasks.
type told struct {
	Seq  uint64
	Type string
	Body struct {
		Category, Outcome, Status, Reason, Command, Side string
		Run                                              int64
		Ignored                                          []struct{ Path string }
		Changes                                          []struct{ Path string }
		Computer                                         struct{ Limits struct{ Memory int64 } }
	}
	line string
}

// told are the events of a quest of one of the types, in their order.
func (h *home) told(quest string, types ...string) (out []told) {
	h.t.Helper()
	for line := range strings.Lines(h.ok("trace", quest, "--jsonl")) {
		var e struct{ Type string }
		must(h.t, json.Unmarshal([]byte(line), &e))
		if slices.Contains(types, e.Type) {
			told := told{line: line}
			must(h.t, json.Unmarshal([]byte(line), &told))
			out = append(out, told)
		}
	}
	return out
}

// course is how a quest's only task went: what was wrong with its runs, and how it ended.
func (h *home) course(quest string) string {
	h.t.Helper()
	var out []string
	begun := 0
	for _, e := range h.told(quest, "task.error", "handover.begun", "handover.ended", "task.ended", "artifact.manifest") {
		switch e.Type {
		case "handover.begun":
			begun++
		case "handover.ended":
			if begun--; begun != 0 {
				h.t.Errorf("run %d of %s ended and had not begun, or another ran beside it", e.Body.Run, quest)
			}
			out = append(out, e.Body.Outcome)
		case "artifact.manifest":
			out = append(out, "manifest")
		default:
			out = append(out, e.Body.Category+e.Body.Status)
		}
	}
	if begun != 0 {
		h.t.Errorf("%d handovers of %s have no end", begun, quest)
	}
	return strings.Join(out, " ")
}

// How a task goes that is wrong, goes back once, and is wrong again.
func wrongTwice(category string) string { return category + " error " + category + " error failed" }

// failedCode is what lyceum ends with when nothing was reached.
const failedCode = 1

const goesWell = "manifest checked accepted"

// TestHostileExecutors has executors do what they must not: nothing of it is taken over, what is
// wrong goes back once, and the quest ends.
func TestHostileExecutors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, does, items, rules, course, says string
		// ignored is what is left out and listed, and changed all that is taken over.
		ignored, changed string
	}{
		{name: "honest", course: goesWell, changed: "commands/x.sh"},
		{name: "a false checksum", items: `[{type: doc, ref: commands/x.sh, generated_by: me, checksum: "sha256:` + strings.Repeat("0", 64) + `"}]`,
			course: wrongTwice("manifest"), says: "its checksum is"},
		{name: "a file that is not there", items: `[{type: doc, ref: commands/y.sh, generated_by: me, checksum: "sha256:` + strings.Repeat("0", 64) + `"}]`,
			course: wrongTwice("manifest"), says: "there is no such file"},
		{name: "no manifest", rules: `  - on: {tool: run_command, result: '(?m)^manifest'}
    say: "I hand in nothing."`, course: wrongTwice("manifest"), says: "there is no manifest"},
		{name: "through a link", does: "; ln -s .. commands/up && echo more >> commands/up/README.md", course: wrongTwice("scope"), says: "README.md"},
		{name: "a link in its place", does: "; mv tool.sh commands/tool.sh && ln -s commands/tool.sh tool.sh", course: wrongTwice("scope"), says: "tool.sh"},
		{name: "by renaming", does: "; mv README.md commands/README.md", course: wrongTwice("scope"), says: "README.md"},
		{name: "in another case", does: "; echo mine > TOOL.sh", course: wrongTwice("scope"), says: "TOOL.sh"},
		{name: "by mode", does: "; chmod 755 tool.sh", course: wrongTwice("scope"), says: "tool.sh"},
		{name: "in .git", does: "; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; echo evil > .git/config; rm -f .git/HEAD", course: goesWell, changed: "commands/x.sh"},
		{name: "a .git that is a link", does: "; rm -rf .git; ln -s commands .git", course: goesWell, changed: "commands/x.sh"},
		{name: "a fifo", does: "; mkfifo commands/pipe", course: goesWell, changed: "commands/x.sh", ignored: "commands/pipe"},
		{name: "a fifo in place of a file", does: "; rm tool.sh; mkfifo tool.sh", course: wrongTwice("scope"), says: "tool.sh", ignored: "tool.sh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := handover{does: work + c.does, items: whole, rules: c.rules}
			if c.items != "" {
				o.items = c.items
			}
			h := newHome(t, o.files())
			code := 0
			if c.course != goesWell {
				code = failedCode
			}
			h.run("run", "quest.yaml").want(t, code)
			if got := h.course("q"); got != c.course {
				t.Fatalf("the task: got %q, want %q", got, c.course)
			}
			for _, e := range h.told("q", "task.error") {
				if !strings.Contains(e.line, c.says) {
					t.Errorf("the error does not say %q: %s", c.says, e.line)
				}
			}
			paths := func(list []struct{ Path string }) string {
				var out []string
				for _, s := range list {
					out = append(out, s.Path)
				}
				return strings.Join(out, " ")
			}
			for _, e := range h.told("q", "inspection.result") {
				if got := paths(e.Body.Ignored); got != c.ignored {
					t.Errorf("what is left out: got %q, want %q", got, c.ignored)
				}
				if got := paths(e.Body.Changes); c.changed != "" && got != c.changed {
					t.Errorf("what is taken over: got %q, want %q", got, c.changed)
				}
			}
			h.sound("q")
			if _, err := os.Lstat(filepath.Join(h.dir, "quests", "q", "agents", "architect")); !os.IsNotExist(err) {
				t.Errorf("the architect's home: got %v, want none", err)
			}
		})
	}
}

// asleep are the processes of this machine that sleep for so long, whoever's they are.
func asleep(t *testing.T, seconds string) (out []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	for _, f := range all {
		if b, err := os.ReadFile(f); err == nil && string(b) == "sleep\x00"+seconds+"\x00" {
			out = append(out, f)
		}
	}
	return out
}

// TestAnExecutorThatTakesTooLong stops one whose command does not end, and all that it has
// started, while the quest goes on; and the quest ends with what was tried.
func TestAnExecutorThatTakesTooLong(t *testing.T) {
	t.Parallel()
	seconds := fmt.Sprint(1_000_000 + os.Getpid())
	h := newHome(t, handover{
		session: "max_cli_duration_seconds: 12", does: "sh -c 'trap \"\" TERM INT HUP; setsid sleep " + seconds + " & sleep " + seconds + "; sleep " + seconds + "'",
		items: whole, asks: true,
	}.files())
	p := h.startFor(2*patience, "run", "quest.yaml")
	h.await("q", "cli.run", 2)
	h.await("q", "interaction.opened", 1)
	p.wait().want(t, 3) // it waits for the person, and its computers stay
	if left := asleep(t, seconds); len(left) > 0 {
		t.Errorf("the quest waits for a person, and these are still there: %v", left)
	}
	h.ok("answer", "q", "yes")
	h.run("run", "q").want(t, failedCode, "x is not there", "timeout")
	if got, want := h.course("q"), wrongTwice("timeout"); got != want {
		t.Errorf("the task: got %q, want %q", got, want)
	}
	var order []string
	for _, e := range h.told("q", "prompt.stopped", "prompt.result", "task.error") {
		order = append(order, e.Type)
		if e.Type == "prompt.stopped" && e.Body.Reason != "timeout" {
			t.Errorf("it was stopped for %q, want timeout", e.Body.Reason)
		}
	}
	once := "prompt.stopped prompt.result task.error"
	if got := strings.Join(order, " "); got != once+" "+once {
		t.Errorf("got %q, want %q twice", got, once)
	}
	for _, e := range h.told("q", "quest.finished") {
		if !strings.Contains(e.line, "longer than 12 seconds") {
			t.Errorf("the answer does not say what was tried: %s", e.line)
		}
	}
	h.run("verify", "q").want(t, 0, "consistent")
	h.run("replay", "q").want(t, 0, "identical")
}

// TestTheCommandOverTheLimitDoesNotStart lets an executor run two commands: the third leaves no
// trace, the executor reads why, and the limit is an error of the run, whatever it hands in.
func TestTheCommandOverTheLimitDoesNotStart(t *testing.T) {
	t.Parallel()
	run := func(command string) string {
		return "call: [{tool: run_command, args: {command: " + command + "}}]\n"
	}
	h := newHome(t, handover{
		session: "max_cli_calls_per_task: 2, max_same_error_retries: 2", items: whole, does: work,
		rules: "  - on: {tool: run_command, result: 'was not allowed'}\n    say: I read that there can be no more.\n" +
			"  - on: {tool: run_command, result: '(?m)^second$'}\n    " + run(`"`+work+`"`) +
			"  - on: {tool: run_command, result: '(?m)^first$'}\n    " + run(`"echo second"`) +
			"  - on: {last: 'cannot be taken over'}\n    " + run(`"`+work+`"`) +
			"  - on: {last: 'session_id'}\n    " + run(`"echo first"`),
	}.files())
	h.run("run", "quest.yaml").want(t, failedCode)
	if got, want := h.course("q"), wrongTwice("calls"); got != want {
		t.Errorf("the task: got %q, want %q", got, want)
	}
	if n := h.count("q", "cli.run"); n != 2 {
		t.Errorf("%d commands ran, want 2", n)
	}
	read := 0
	for _, e := range h.told("q", "prompt.result", "said.reported") {
		if strings.Contains(e.line, "I read that there can be no more.") {
			read++
		}
	}
	if read != 2 {
		t.Errorf("the executor has read of its limit %d times, want after each try", read)
	}
	refused := 0
	for _, e := range h.told("q", "permission.decided") {
		if strings.Contains(e.Body.Reason, "2 commands were run for the task x, which is all there can be") {
			refused++
		}
	}
	if refused != 2 {
		t.Errorf("%d commands were refused for the limit, want 2", refused)
	}
	if _, err := os.Lstat(filepath.Join(h.dir, "quests", "q", "agents", "builtin", "commands", "x.sh")); !os.IsNotExist(err) {
		t.Errorf("what the command over the limit makes: got %v, want nothing", err)
	}
	h.sound("q")
}

// TestAKilledArchitect kills lyceum with kill -9 while a home is made, while one is looked at,
// and while the acceptance commands run: the next one goes on to the same end.
func TestAKilledArchitect(t *testing.T) {
	t.Parallel()
	files := handover{does: work + "; echo more >> README.md", items: whole,
		rules: `  - on: {last: 'cannot be taken over'}
    call: [{tool: run_command, args: {command: "printf '# Tool\n' > README.md; echo manifest $$(cat .executor/ids)"}}]`}.files()
	files["quest.yaml"] += "acceptance: [sleep 1]\n" // whoever is killed at it is in the middle
	h := newHome(t, files)
	for _, moment := range []string{"home.call", "inspection.call", "acceptance.call", "test.report"} {
		name := "at-" + strings.ReplaceAll(moment, ".", "-")
		h.ok("create", "quest.yaml", "--name", name)
		p := h.start("run", name)
		stop := h.killAt(p, name, moment, 0)
		if l := p.wait(); l.code != -1 {
			t.Fatalf("lyceum was to be killed at %s and ended with %d: %s", moment, l.code, l.errOut)
		}
		stop()
		h.run("run", name).want(t, 0, "x is there")
		if got, want := h.course(name), "scope error "+goesWell; got != want {
			t.Errorf("killed at %s: got %q, want %q", moment, got, want)
		}
		for _, kinds := range [][2]string{{"home.call", "home.renewed"}, {"inspection.call", "inspection.result"}, {"acceptance.call", "test.report"}} {
			if calls, results := h.count(name, kinds[0]), h.count(name, kinds[1]); calls != results || calls == 0 {
				t.Errorf("killed at %s: %d of %s and %d of %s", moment, calls, kinds[0], results, kinds[1])
			}
		}
		h.sound(name)
		if left := helpers(t, h.dir); len(left) > 0 {
			t.Errorf("killed at %s: computers that are still up: %v", moment, left)
		}
	}
}

// TestComputersHaveTheMemoryOfASession raises the limit of computers to the session's, and
// lowers none.
func TestComputersHaveTheMemoryOfASession(t *testing.T) {
	t.Parallel()
	files := handover{does: work, items: whole, session: "max_cli_memory_mb: 3000"}.files()
	files["more.yaml"] = strings.Replace(files["quest.yaml"], "computer: auto", "computer: {driver: auto, memory: 5GiB}", 1)
	h := newHome(t, files)
	for file, want := range map[string]int64{"quest": 3000 << 20, "more": 5 << 30} {
		h.ok("create", file+".yaml", "--name", file)
		if got := h.told(file, "quest.created"); len(got) != 1 || got[0].Body.Computer.Limits.Memory != want {
			t.Errorf("%s.yaml: got %s, want computers with %d bytes of memory", file, got[0].line, want)
		}
	}
}

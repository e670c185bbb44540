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
)

// outsider is a quest of one agent that is an executor: it writes a file, runs a command that
// takes a while, uses a tool of the lab, and says what came of it. Its model is a script.
var outsider = map[string]string{
	"quest.yaml": "name: q\nproblem: Begin.\nexecutor: builtin\nmodel: script:plan.yaml\ncomputer: auto\n",
	"plan.yaml": `rules:
  - on: {tool: write_file}
    call: [{tool: run_command, args: {command: "echo ran >> log; sleep 0.6; cat note"}}]
  - on: {tool: run_command, result: "hello"}
    call: [{tool: lyceum__exec, args: {command: "echo used >> log; sleep 0.6; echo exec-done"}}]
  - on: {tool: run_command, result: "not allowed|rejected|refused"}
    say: "I was not allowed."
  - on: {tool: lyceum__exec}
    delay: 300ms
    say: "All done."
  - on: {last: "Begin"}
    delay: 500ms
    say: "I write it."
    call: [{tool: write_file, args: {path: note, content: "hello\n"}}]
  - delay: 100ms
    say: "All done, again."
`,
}

// reportEvent is what tests look at of an event that has to do with executors.
type reportEvent struct {
	Seq  uint64
	Type string
	Body struct {
		Process, ID, Command, Stop string
		Output                     struct{ Text string }
	}
}

func (h *home) reports(quest string) (out []reportEvent) {
	h.t.Helper()
	for line := range strings.Lines(h.ok("trace", quest, "--jsonl")) {
		var e reportEvent
		must(h.t, json.Unmarshal([]byte(line), &e))
		out = append(out, e)
	}
	return out
}

// askedOnce fails the test if an executor was asked anything twice: one process has had each
// prompt, each permission was asked for and decided once, each command was run once.
func (h *home) askedOnce(quest string) {
	h.t.Helper()
	seen, left, or := map[string]int{}, "ran\nused\n", ""
	for _, e := range h.reports(quest) {
		switch e.Type {
		case "session.opened", "executor.ready", "prompt.call":
			seen[e.Type]++
		case "prompt.begun":
			seen["prompt told to "+e.Body.Process]++
		case "permission.asked":
			seen["permission "+e.Body.ID]++
		case "cli.run":
			seen["command "+e.Body.Command]++
		case "tool.result":
			// The call of a tool was recorded, and lyceum killed before the command began.
			if strings.Contains(e.Body.Output.Text, "outcome unknown") {
				left = "ran\n"
			}
			// The command was killed with lyceum, before or after its first words.
			if strings.Contains(e.Body.Output.Text, "because Lyceum went away") {
				or = "ran\n"
			}
		}
	}
	if len(seen) < 4 {
		h.t.Errorf("the ledger says little of the executor of %s: %v", quest, seen)
	}
	for what, n := range seen {
		if n != 1 {
			h.t.Errorf("%s of %s came %d times, want once", what, quest, n)
		}
	}
	log, err := os.ReadFile(filepath.Join(h.dir, "quests", quest, "agents", "agent-0", "log"))
	must(h.t, err)
	if string(log) != left && string(log) != or {
		h.t.Errorf("its commands left %q, want %q, each run once\n%s", log, left, h.ok("trace", quest))
	}
	h.sound(quest)
}

// TestAKilledExecutor kills lyceum with kill -9 in the middle of a prompt, of a command, of a
// tool of the lab: the next one finds the executor where it stands, and nothing is asked twice.
func TestAKilledExecutor(t *testing.T) {
	t.Parallel()
	h := newHome(t, outsider)
	for _, moment := range []string{"", "prompt.begun", "gateway.call", "permission.decided", "cli.run", "tool.call"} {
		name := "q" + strings.ReplaceAll(moment, ".", "-")
		h.ok("create", "quest.yaml", "--name", name)
		p := h.start("run", name)
		if moment != "" {
			stop := h.killAt(p, name, moment, 0)
			if l := p.wait(); l.code != -1 {
				t.Fatalf("lyceum was to be killed at %s and ended with %d: %s", moment, l.code, l.errOut)
			}
			stop()
			p = h.start("run", name)
		}
		if l := p.wait(); l.code != 0 || !strings.Contains(l.out, "All done") {
			t.Fatalf("after a kill at %q: %d\n%s%s", moment, l.code, l.out, l.errOut)
		}
		h.askedOnce(name)
		if left := helpers(t, h.dir); len(left) > 0 {
			t.Errorf("computers that are still up: %v", left)
		}
	}
}

// TestAKilledPermission kills lyceum while a person is to decide about something that the
// executor wants to do. The question stays, and its answer reaches the executor that asked.
func TestAKilledPermission(t *testing.T) {
	t.Parallel()
	h := newHome(t, outsider)
	must(t, os.WriteFile(filepath.Join(h.work, "asks.yaml"), []byte(outsider["quest.yaml"]+`policies:
  - name: careful
    steps:
      - ask: {type: permission.decided, reason: It does something itself.}
`), 0o644))
	for _, yes := range []bool{true, false} {
		name, answer, says := "no", "no", "I was not allowed."
		if yes {
			name, answer, says = "yes", "yes", "All done."
		}
		h.ok("create", "asks.yaml", "--name", name)
		p := h.start("run", name)
		stop := h.killAt(p, name, "interaction.opened", 0)
		p.wait()
		stop()
		p = h.start("run", name)
		h.awaitOwner(name)
		h.ok("answer", name, answer)
		h.await(name, "interaction.opened", 2) // about the command
		h.ok("answer", name, answer)
		if l := p.wait(); l.code != 0 || !strings.Contains(l.out, says) {
			t.Fatalf("after the answer %s: %d\n%s%s", answer, l.code, l.out, l.errOut)
		}
		if yes {
			h.askedOnce(name)
		} else if n := h.count(name, "cli.run"); n != 0 {
			t.Errorf("%d commands ran that nobody allowed", n)
		}
	}
}

// TestAPermissionOfAComputerThatDies: while a person is to decide, lyceum is killed and the
// executor's computer with it. Nobody waits for that answer any more: the question is withdrawn,
// and the process that takes the session over asks for itself.
func TestAPermissionOfAComputerThatDies(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": outsider["quest.yaml"] + "policies: [{name: careful, steps: [{ask: {type: permission.decided, reason: It does something itself.}}]}]\n",
		"plan.yaml": `rules:
  - on: {tool: write_file, result: "^wrote|written"}
    say: "All done."
  - say: "I write it."
    call: [{tool: write_file, args: {path: note, content: "hello\n"}}]
`,
	})
	h.ok("create", "quest.yaml")
	p := h.start("run", "q")
	stop := h.killAt(p, "q", "interaction.opened", 0)
	p.wait()
	stop()
	up := awaitHelper(t, h.dir, "*", patience)
	for _, pid := range up {
		must(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	for deadline := time.Now().Add(patience); len(helpers(t, h.dir)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the computer %v survives its end", up)
		}
	}
	p = h.start("run", "q")
	h.await("q", "interaction.opened", 2)
	h.ok("answer", "q", "yes")
	if l := p.wait(); l.code != 0 || !strings.Contains(l.out, "All done.") {
		t.Fatalf("it went on with %d\n%s%s", l.code, l.out, l.errOut)
	}
	var decided []string
	processes := map[string]bool{}
	for line := range strings.Lines(h.ok("trace", "q", "--jsonl")) {
		var e struct {
			Type string
			Body struct {
				Process, Reason string
				Given           bool
			}
		}
		must(t, json.Unmarshal([]byte(line), &e))
		switch e.Type {
		case "permission.decided":
			decided = append(decided, fmt.Sprint(e.Body.Given, " ", e.Body.Reason))
		case "prompt.begun":
			processes[e.Body.Process] = true
		}
	}
	if want := []string{"false The process that asked is gone.", "true "}; !slices.Equal(decided, want) {
		t.Errorf("decided %q, want %q", decided, want)
	}
	if n := h.count("q", "interaction.withdrawn"); n != 1 || len(processes) != 2 {
		t.Errorf("%d questions were withdrawn and %d processes told the prompt, want 1 and 2", n, len(processes))
	}
	if note, err := os.ReadFile(filepath.Join(h.dir, "quests", "q", "agents", "agent-0", "note")); err != nil || string(note) != "hello\n" {
		t.Errorf("it wrote %q, %v", note, err)
	}
	h.sound("q")
}

// TestAKilledPermissionKeepsItsTime: the time that a person has to decide goes on while no lyceum
// runs. The next one has no answer to wait for, and the executor that asked is told no.
func TestAKilledPermissionKeepsItsTime(t *testing.T) {
	t.Parallel()
	h := newHome(t, outsider)
	must(t, os.WriteFile(filepath.Join(h.work, "asks.yaml"), []byte(outsider["quest.yaml"]+`permission_timeout: 20s
policies:
  - name: careful
    steps:
      - ask: {type: permission.decided, reason: It does something itself., where: {tool: edit}}
`), 0o644))
	h.ok("create", "asks.yaml")
	p := h.start("run", "q")
	stop := h.killAt(p, "q", "interaction.opened", 0)
	p.wait()
	stop()
	const timeout = 20 * time.Second
	asked := h.first("q", "interaction.opened")
	if got := asked.Body.Expires.Sub(asked.Time); got != timeout {
		t.Fatalf("a person has %s, want %s", got, timeout)
	}
	time.Sleep(time.Until(asked.Body.Expires)) // the clock is what this is about
	if l := h.run("run", "q"); l.code != 0 {
		t.Fatalf("the next run ended with %d\n%s%s", l.code, l.out, l.errOut)
	}
	if resumed, expired := h.first("q", "quest.resumed"), h.first("q", "interaction.expired"); expired.Parent != resumed.Seq {
		t.Errorf("the question expires by the event %d, want quest.resumed, which is %d", expired.Parent, resumed.Seq)
	}
	if no := h.first("q", "permission.decided"); no.Body.Given || no.Body.Option == "" {
		t.Errorf("the executor that asked is told %+v, want its own option to refuse", no.Body)
	}
	if n := h.count("q", "prompt.begun"); n != 1 {
		t.Errorf("the prompt was told %d times, want once", n)
	}
	h.sound("q")
}

// dated is what tests of times look at of an event.
type dated struct {
	Seq, Parent uint64
	Time        time.Time
	Type        string
	Body        struct {
		Expires time.Time
		Given   bool
		Option  string
	}
}

// first is the first event of a type.
func (h *home) first(quest, kind string) (e dated) {
	h.t.Helper()
	for line := range strings.Lines(h.ok("trace", quest, "--jsonl")) {
		var kindOf struct{ Type string }
		must(h.t, json.Unmarshal([]byte(line), &kindOf))
		if kindOf.Type == kind {
			must(h.t, json.Unmarshal([]byte(line), &e))
			return e
		}
	}
	h.t.Fatalf("%s has no %s", quest, kind)
	return e
}

// TestAnInterruptedExecutor: a pause in the middle of a prompt has it stop, and the next run goes
// on in the same session, without a word being said twice.
func TestAnInterruptedExecutor(t *testing.T) {
	t.Parallel()
	h := newHome(t, outsider)
	h.ok("create", "quest.yaml")
	p := h.start("run", "q")
	h.await("q", "cli.run", 1)
	must(t, p.cmd.Process.Signal(os.Interrupt))
	if l := p.wait(); l.code != 130 {
		t.Fatalf("an interrupt ended lyceum with %d: %s", l.code, l.errOut)
	}
	if l := h.run("run", "q"); l.code != 0 || !strings.Contains(l.out, "All done") {
		t.Fatalf("it went on with %d\n%s%s", l.code, l.out, l.errOut)
	}
	opened, stops := map[string]int{}, []string{}
	for _, e := range h.reports("q") {
		switch e.Type {
		case "session.opened":
			opened[e.Body.ID]++
		case "prompt.result":
			stops = append(stops, e.Body.Stop)
		}
	}
	if len(opened) != 1 || len(stops) != 2 || stops[0] != "interrupted" || stops[1] != "end_turn" {
		t.Errorf("sessions %v, stops %v: want one session, and a prompt that was interrupted before one that came to its end", opened, stops)
	}
	h.sound("q")
}

// TestExecutorsAreListedAndTried: what is known, what is missing, what one says of itself.
func TestExecutorsAreListedAndTried(t *testing.T) {
	t.Parallel()
	h := newHome(t, outsider)
	must(t, os.MkdirAll(h.dir, 0o700))
	must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte(`executors:
  gone: {folder: /nowhere/at/all, command: ["{folder}/x"], wire: chat}
  silent: {command: [sleep, "0"], wire: chat}
  gems: {command: [sleep, "0"], wire: gemini}
providers:
  far: {api: anthropic, url: "http://127.0.0.1:1"}
`), 0o600))
	h.run("executors").want(t, 0, "builtin ", "claude ", "install it as docs/executors.md says", "its folder is not there")
	h.run("executors", "builtin", "--check").want(t, 0, "ready: lyceum-builtin", "mode ask")
	h.run("executors", "silent", "builtin", "--check").want(t, 1, "the agent has ended")
	h.run("executors", "bultin").want(t, 2, "there is no executor bultin; did you mean builtin?")
	h.run("config").want(t, 0, "silent ")
	if left, err := filepath.Glob(filepath.Join(h.dir, "cache", "executor-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind by --check: %v, %v", left, err)
	}
	// What cannot be used is told before anything is recorded.
	for executor, want := range map[string]string{"gone": "nowhere/at/all", "bultin": "there is no executor bultin"} {
		must(t, os.WriteFile(filepath.Join(h.work, "other.yaml"), []byte(strings.Replace(outsider["quest.yaml"], "builtin", executor, 1)), 0o644))
		h.run("run", "other.yaml", "--name", executor).want(t, 2, want)
		if l := h.run("trace", executor); l.code == 0 && strings.Contains(l.out, "quest.started") {
			t.Errorf("the quest began all the same:\n%s", l.out)
		}
	}
	text := strings.NewReplacer("builtin", "gems", "script:plan.yaml", "far/m").Replace(outsider["quest.yaml"])
	must(t, os.WriteFile(filepath.Join(h.work, "gems.yaml"), []byte(text), 0o644))
	h.run("run", "gems.yaml", "--name", "gems").want(t, 2, "asks models in the format gemini", "far/m is asked in the format anthropic")
	// One that cannot be made ready is the quest's failure, in words.
	must(t, os.WriteFile(filepath.Join(h.work, "silent.yaml"), []byte(strings.Replace(outsider["quest.yaml"], "builtin", "silent", 1)), 0o644))
	h.run("run", "silent.yaml", "--name", "silent").want(t, 1, "the agent has ended")
}

// TestTheMixedLab: an executor among the members of a lab publishes, reviews and votes by the
// tools that it finds at its port.
func TestTheMixedLab(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	must(t, os.CopyFS(filepath.Join(h.work, "lab"), os.DirFS("../../examples/mixed-lab")))
	l := h.patiently("run", filepath.Join("lab", "quest.yaml"))
	l.want(t, 0, "121581")
	did := map[string]int{}
	for line := range strings.Lines(h.ok("trace", "mixed-lab", "--jsonl")) {
		var e struct {
			Actor, Type string
			Body        struct{ Changes []struct{ Path string } }
		}
		must(t, json.Unmarshal([]byte(line), &e))
		if e.Actor == "agent-2" {
			did[e.Type]++
		}
		for _, c := range e.Body.Changes {
			if strings.HasPrefix(c.Path, ".executor") {
				t.Errorf("what the executor keeps for itself is recorded: %s", c.Path)
			}
		}
	}
	for _, kind := range []string{"publication.submitted", "review.submitted", "vote.cast", "permission.decided", "cli.exit", "tool.proposed", "gateway.result", "prompt.result"} {
		if did[kind] == 0 {
			t.Errorf("the executor has no %s; it has %v", kind, did)
		}
	}
	if did["model.call"] > 0 {
		t.Errorf("%d model calls were made for an executor, which asks by itself", did["model.call"])
	}
	h.labSound("mixed-lab")
}

// patiently runs lyceum to its end, for as long as a lab takes on a busy machine.
func (h *home) patiently(args ...string) lyceum {
	h.t.Helper()
	p := h.startFor(5*patience, args...)
	return p.wait()
}

// TestAnExecutorMayFindNoRoom: what it left in its home is not recorded, and the quest rests
// before it is asked anything more.
func TestAnExecutorMayFindNoRoom(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: q\nproblem: Begin.\nexecutor: builtin\nmodel: script:plan.yaml\ncomputer: auto\nlimits: {storage: 1MiB}\n",
		"plan.yaml": `rules:
  - on: {tool: run_command}
    say: "Written."
  - on: {last: "Begin"}
    call: [{tool: run_command, args: {command: "head -c 3000000 /dev/urandom > big"}}]
  - say: "More."
`,
	})
	h.ok("run", "quest.yaml")
	var full int
	for line := range strings.Lines(h.ok("trace", "q", "--jsonl")) {
		var e struct {
			Type string
			Body struct{ Full *struct{ Of string } }
		}
		if err := json.Unmarshal([]byte(line), &e); err == nil && e.Type == "prompt.result" && e.Body.Full != nil && e.Body.Full.Of == "quest" {
			full++
		}
	}
	if full != 1 {
		t.Errorf("%d results of prompts say that there was no room, want one", full)
	}
	h.ok("message", "q", "Go on.")
	h.run("run", "q").want(t, 3, "storage", "--max-storage")
	h.ok("verify", "q")
	h.ok("replay", "q")
}

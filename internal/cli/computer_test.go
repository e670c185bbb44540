package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/computer/namespaces"
	"lyceum/internal/need"
)

// rawEvents reads a quest's ledger as plain JSON.
func (h *home) rawEvents(name string) (out []map[string]any) {
	h.t.Helper()
	for line := range strings.Lines(h.ok("trace", name, "--json")) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			h.t.Fatalf("a line of the trace is no event: %v: %s", err, line)
		}
		out = append(out, e)
	}
	return out
}

func body(e map[string]any) map[string]any { b, _ := e["body"].(map[string]any); return b }

// TestAReadSeesWhatTheCommandBeforeItWrote races a command that writes a file with the call behind it,
// which reads the file, in one turn.
func TestAReadSeesWhatTheCommandBeforeItWrote(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	pairs := need.Times(15, 500)
	h := newHome(t, map[string]string{
		"quest.yaml": "name: raced\nproblem: What is in f?\nmodel: script:plan.yaml\ncomputer: bubblewrap\n",
		"plan.yaml": fmt.Sprintf(`rules:
  - on: {until_turn: %d}
    call:
      - {tool: exec, args: {command: "sleep 0.01; echo text ${turn} > f"}}
      - {tool: read_file, args: {path: f}}
  - say: done
`, pairs),
	})
	h.startFor(patience+time.Duration(pairs)*time.Second, "run", "quest.yaml").wait().want(t, 0, "done")
	reads, seen, wrong := map[float64]bool{}, 0, 0
	for _, e := range h.rawEvents("raced") {
		if e["tool"] == "read_file" && e["type"] == "tool.call" {
			reads[e["seq"].(float64)] = true
		}
		if call, _ := body(e)["call"].(float64); e["type"] != "tool.result" || !reads[call] {
			continue
		}
		seen++
		output, _ := body(e)["output"].(map[string]any)
		if want := fmt.Sprintf("text %d\n", seen); output["text"] != want {
			if wrong++; wrong < 5 {
				t.Errorf("the read behind command %d: got %v, want %q, which the command wrote", seen, output["text"], want)
			}
		}
	}
	if seen != pairs {
		t.Errorf("%d reads have a result, want %d", seen, pairs)
	}
	t.Logf("%d wrong of %d pairs", wrong, seen)
	h.sound("raced")
}

func TestAQuestInAComputer(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, map[string]string{
		"quest.yaml": "name: boxed\nproblem: What is in the box?\nmodel: script:plan.yaml\ncomputer: {driver: bubblewrap, memory: 256MiB}\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    call:
      - {tool: exec, args: {command: "echo out; echo err >&2; echo hello > a.txt; mkdir d; touch d/x; exit 3"}}
  - on: {turn: 2}
    call:
      - {tool: start, args: {command: "while read l; do echo got $$l; done", name: echo}}
      - {tool: read_file, args: {path: a.txt}}
  - on: {turn: 3}
    call: [{tool: exec, args: {command: "head -c 300000 /dev/zero | tr '\\0' x; rm a.txt"}}]
  - on: {turn: 4}
    say: done
`,
	})
	h.ok("run", "quest.yaml")
	seen := map[string][]map[string]any{}
	for _, e := range h.rawEvents("boxed") {
		kind := e["type"].(string)
		seen[kind] = append(seen[kind], body(e))
	}
	started := seen["computer.started"]
	if len(started) != 1 || started[0]["driver"] != "bubblewrap" || started[0]["limits"].(map[string]any)["memory"] != float64(256<<20) {
		t.Errorf("computer.started: %v", started)
	}
	if holds, _ := started[0]["holds"].(map[string]any); holds["programs"] == nil {
		t.Errorf("computer.started holds %v: want the programs that are in the computer", holds)
	}
	// The computer was not known before the first call; then the agent is told, once.
	if told := seen["standing.shown"]; len(told) != 1 {
		t.Errorf("the agent was told %d times where it stands: want once", len(told))
	} else if text := told[0]["text"].(map[string]any)["text"].(string); !strings.Contains(text, "0.3 GB memory") || !strings.Contains(text, "no network") || !strings.Contains(text, "Programs in it: ") {
		t.Errorf("the agent is told:\n%s\nwant what its computer is", text)
	}
	if n := len(seen["cli.run"]); n != 3 || len(seen["cli.exit"]) != 3 {
		t.Errorf("%d commands began, %d ended; want 3 and 3", n, len(seen["cli.exit"]))
	}
	exits := map[string]map[string]any{}
	for _, x := range seen["cli.exit"] {
		exits[x["command"].(string)] = x
		if x["fingerprint"] != started[0]["fingerprint"] {
			t.Errorf("%v has not the fingerprint of its computer", x)
		}
	}
	if x := exits["c5"]; x["exit"] != float64(3) || x["stdout"].(map[string]any)["size"] != float64(4) {
		t.Errorf("the first command: %v", x)
	}
	var stopped bool
	for id, x := range exits {
		stopped = stopped || strings.HasSuffix(id, "-echo") && x["end"] == "stopped"
		if out := x["stdout"].(map[string]any); out["size"] == float64(300000) && out["ref"] == nil {
			t.Errorf("a long output is nowhere: %v", x)
		}
	}
	if !stopped {
		t.Errorf("what was running at the end was not stopped: %v", exits)
	}
	changes := fmt.Sprint(seen["file.diff"])
	for _, want := range []string{"kind:added path:a.txt", "kind:added path:d/x", "kind:removed path:a.txt"} {
		if !strings.Contains(changes, want) {
			t.Errorf("no file.diff says %q: %s", want, changes)
		}
	}
	h.ok("replay", "boxed")
	h.ok("verify", "boxed")
	if left := helpers(t, h.dir); len(left) > 0 {
		t.Errorf("computers that are still up: %v", left)
	}
}

// TestWhatCommandsWriteCountsForStorage: an agent that only prints fills the disk no less than
// one that writes files.
func TestWhatCommandsWriteCountsForStorage(t *testing.T) {
	t.Parallel()
	need.Program(t, "awk")
	if err := namespaces.New(namespaces.Options{}).Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	// Nobody can pack random numbers to less than a quarter.
	loud := func(seed int) string {
		return fmt.Sprintf(`awk 'BEGIN { srand(%d); for (i = 0; i < 20000; i++) print rand() }'`, seed)
	}
	const least = 8 * 20000 / 4
	h := newHome(t, map[string]string{
		"quest.yaml": "name: loud\nproblem: What does it print?\nmodel: script:plan.yaml\ncomputer: namespaces\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: exec, args: {command: "` + loud(1) + `"}}]
  - on: {turn: 2}
    call: [{tool: start, args: {command: "` + loud(2) + `", name: aside}}]
  - on: {tool: start, result: '(c[0-9]+-aside)'}
    call: [{tool: read_output, args: {id: $1, until: end, wait_seconds: 300}}]
  - say: done
`,
	})
	h.ok("run", "quest.yaml")
	var call, aside float64
	for _, e := range h.rawEvents("loud") {
		stored, _ := body(e)["stored"].(float64)
		switch {
		case e["type"] == "tool.result" && e["tool"] == "exec":
			call = stored
		case e["type"] == "cli.exit" && strings.HasSuffix(fmt.Sprint(body(e)["command"]), "-aside"):
			aside = stored
		}
	}
	if call < least {
		t.Errorf("the result of a command that prints %d bytes or more, packed: got %v stored, want that counted", least, call)
	}
	if aside < least {
		t.Errorf("the end of a command beside the agent that prints %d bytes or more, packed: got %v stored, want that counted", least, aside)
	}
}

// helpers are the processes of a home's computers that live.
func helpers(t *testing.T, home string) []int {
	t.Helper()
	return helpersOf(t, home, "*")
}

// helpersOf are those of computers whose names match a pattern.
func helpersOf(t *testing.T, home, names string) (out []int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, "quests", "*", "computers", names, "computer.json"))
	must(t, err)
	for _, f := range files {
		var saved struct{ Handle string }
		var handle struct{ PID int }
		b, err := os.ReadFile(f)
		must(t, err)
		must(t, json.Unmarshal(b, &saved))
		must(t, json.Unmarshal([]byte(saved.Handle), &handle))
		b, err = os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", handle.PID))
		if err == nil && strings.Contains(string(b), "lyceum-helper") {
			out = append(out, handle.PID)
		}
	}
	return out
}

// awaitHelper waits until a computer whose name matches a pattern is seen to be up. One look
// may miss it: a helper starts itself once more, and has no name while it does.
func awaitHelper(t *testing.T, home, names string, within time.Duration) []int {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		if up := helpersOf(t, home, names); len(up) > 0 {
			return up
		}
		if time.Now().After(deadline) {
			t.Fatalf("no computer %s was up within %v", names, within)
		}
	}
}

// TestKilledWhileCommandsRun kills lyceum at random moments of a quest whose agent
// runs one command after another, and one that is kept besides. Each command must run
// once, have one outcome, and lose no line. The kept one writes slowly: however long a busy
// machine takes to come back to it, what it wrote meanwhile stands in the event itself. Every
// other kill comes right after a command has begun, so that some have on the slowest machine.
func TestKilledWhileCommandsRun(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	const turns = 12
	h := newHome(t, map[string]string{
		"quest.yaml": "name: killed\nproblem: How often does it run?\nmodel: script:plan.yaml\ncomputer: bubblewrap\n",
		"plan.yaml": fmt.Sprintf(`rules:
  - on: {turn: 1}
    call: [{tool: start, args: {command: "i=0; while [ $$i -lt 100000 ]; do i=$$((i+1)); echo kept-$$i; sleep 0.1; done", name: kept}}]
  - on: {turn: %d}
    say: done
  - call: [{tool: exec, args: {command: "echo ${turn} >> ran; for i in 1 2 3 4 5 6 7 8 9 10; do echo line-$$i; sleep 0.01; done"}}]
`, turns),
	})
	h.ok("create", "quest.yaml")
	ran := filepath.Join(h.dir, "quests", "killed", "agents", "agent-0", "ran")
	size := func(file string) int64 {
		info, err := os.Stat(file)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	kills := 0
	for rounds := 0; ; rounds++ {
		if rounds > 200 {
			t.Fatal("the quest does not come to an end")
		}
		p := h.start("run", "killed")
		over, killer := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(killer)
			if rounds%2 == 1 {
				for before := size(ran); size(ran) == before; {
					select {
					case <-over:
						return
					case <-time.After(2 * time.Millisecond):
					}
				}
			}
			select {
			case <-over:
			case <-time.After(time.Duration(rand.IntN(100+400*((rounds+1)%2)+20*rounds)) * time.Millisecond): // a busy machine gets on as well
				_ = p.cmd.Process.Signal(syscall.SIGKILL)
			}
		}()
		l := p.wait()
		close(over)
		<-killer
		if l.code == 0 {
			break
		}
		kills++
	}
	if kills == 0 {
		t.Fatal("lyceum was never killed: the test shows nothing")
	}
	t.Logf("killed %d times", kills)
	h.ok("replay", "killed")
	results, runs, exits := map[float64]int{}, map[string]int{}, map[string]int{}
	kept, lost := "", false
	var end map[string]any
	for _, e := range h.rawEvents("killed") {
		b := body(e)
		switch e["type"] {
		case "tool.result":
			results[b["call"].(float64)]++
		case "cli.run":
			runs[b["command"].(string)]++
		case "cli.exit":
			exits[b["command"].(string)]++
			if strings.HasSuffix(b["command"].(string), "-kept") {
				// Killed before it began, or before it wrote anything.
				end = b
				lost = b["end"] == "lost" || b["stdout"].(map[string]any)["size"] == float64(0)
			}
		case "cli.stdout":
			if id := b["command"].(string); strings.HasSuffix(id, "-kept") {
				text, _ := b["text"].(map[string]any)["text"].(string)
				kept += text
			}
		}
	}
	for call, n := range results {
		if n != 1 {
			t.Errorf("tool.call %v has %d results", call, n)
		}
	}
	for id, n := range runs {
		if n != 1 || exits[id] != 1 {
			t.Errorf("command %s began %d times and ended %d times", id, n, exits[id])
		}
	}
	text, err := os.ReadFile(ran)
	must(t, err)
	times := map[string]int{}
	for _, turn := range strings.Fields(string(text)) {
		if times[turn]++; times[turn] > 1 {
			t.Errorf("the command of turn %s ran %d times", turn, times[turn])
		}
	}
	if len(times) == 0 {
		t.Error("no command ran: the test shows nothing")
	}
	if kept == "" && !lost && end != nil {
		t.Errorf("nothing is known of what the kept command wrote: %v", end)
	}
	for i, line := range strings.Fields(kept) {
		if line != "kept-"+strconv.Itoa(i+1) {
			t.Fatalf("line %d of the kept command is %q", i+1, line)
		}
	}
	if left := helpers(t, h.dir); len(left) > 0 {
		t.Errorf("computers that are still up: %v", left)
	}
}

// TestWhatAPersonChangesIsRecorded: a home that is not as it was last recorded is
// told as a change from outside.
func TestWhatAPersonChangesIsRecorded(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: edited\nproblem: Who was it?\nmodel: script:plan.yaml\nlimits: {turns: 1}\n",
		"plan.yaml": `rules:
  - on: {turn: 3}
    say: done
  - call: [{tool: write_file, args: {path: "file-${turn}", content: x}}]
`,
	})
	h.run("run", "quest.yaml")
	must(t, os.WriteFile(filepath.Join(h.dir, "quests", "edited", "agents", "agent-0", "by-hand"), []byte("y"), 0o644))
	h.ok("run", "edited", "--max-turns", "9")
	var outside []string
	for _, e := range h.rawEvents("edited") {
		if b := body(e); e["type"] == "file.diff" && b["cause"] == "outside" {
			outside = append(outside, fmt.Sprint(b["changes"]))
		}
	}
	if len(outside) != 1 || !strings.Contains(outside[0], "by-hand") {
		t.Errorf("changes from outside: %q", outside)
	}
	h.ok("replay", "edited")
}

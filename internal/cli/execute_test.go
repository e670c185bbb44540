package cli_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/need"
	"lyceum/internal/runtime/audit"
)

// executed runs verify --execute and returns what it says of each call, by the command.
func (h *home) executed(code int, subject string) map[string]audit.Executed {
	h.t.Helper()
	l := h.run("verify", "--execute", "--json", subject)
	l.want(h.t, code)
	var rep struct{ Execution audit.Execution }
	must(h.t, json.Unmarshal([]byte(l.out), &rep))
	out := map[string]audit.Executed{}
	for _, c := range rep.Execution.Calls {
		out[c.What] = c
	}
	if n := rep.Execution; n.Same+n.Different+n.NotCheckable != len(n.Calls) {
		h.t.Errorf("%d, %d and %d of %d calls", n.Same, n.Different, n.NotCheckable, len(n.Calls))
	}
	return out
}

// state is every file of a home with its time, apart from the database's own.
func (h *home) state() map[string]time.Time {
	h.t.Helper()
	out := map[string]time.Time{}
	must(h.t, filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasPrefix(d.Name(), "lyceum") || path == h.dir {
			return err
		}
		info, err := d.Info()
		out[path] = info.ModTime()
		return err
	}))
	return out
}

// emptyTemp gives the processes of a home a folder for temporary files, and checks at
// the end that nothing is left in it.
func (h *home) emptyTemp() {
	h.t.Helper()
	dir := h.t.TempDir()
	h.env = append(h.env, "TMPDIR="+dir)
	h.t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		must(h.t, err)
		if len(left) > 0 {
			h.t.Errorf("left in the folder for temporary files: %v", left)
		}
	})
}

const (
	printing  = "echo out; echo err >&2; cat; mkdir d; echo hi > d/a.txt; exit 3"
	reading   = "cat d/a.txt; cat note.md; rm d/a.txt"
	clockwise = "date +%s.%N"
	filing    = "date +%s.%N > when.txt"
	leaving   = "echo x > /tmp/left"
	finding   = "cat /tmp/left"
	endless   = "sleep 100"
	large     = "head -c 300000 /dev/zero | tr '\\0' x"
	binary    = "printf '\\377\\376'"
	asking    = "read l; echo got $l"
	racing    = "date +%N; echo racing"
	slower    = "test -e /tmp/left || sleep 100"
)

func TestCommandsAreRunAgain(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	call := func(turn int, calls ...string) string {
		out := ""
		for _, c := range calls {
			out += "      - " + c + "\n"
		}
		return "  - on: {turn: " + string(rune('0'+turn)) + "}\n    call:\n" + out
	}
	exec := func(command, more string) string {
		text, _ := json.Marshal(strings.ReplaceAll(command, "$", "$$"))
		return "{tool: exec, args: {command: " + string(text) + more + "}}"
	}
	h := newHome(t, map[string]string{
		"quest.yaml":     "name: boxed\nproblem: What is in the box?\nmodel: script:plan.yaml\ndata: data\ncomputer: {driver: bubblewrap}\n",
		"data/given.txt": "given",
		"plan.yaml": "rules:\n" +
			call(1, exec(printing, `, stdin: "from outside\n"`)) +
			call(2, "{tool: write_file, args: {path: note.md, content: noted}}") +
			call(3, exec(reading, "")) + call(4, exec(clockwise, "")) + call(5, exec(filing, "")) + call(6, exec(leaving, "")) +
			call(7, exec(finding, ""), exec(slower, ", timeout_seconds: 1")) + call(8, exec(endless, ", timeout_seconds: 1, parallel: true"), exec(racing, ", parallel: true"), exec(large, "")) +
			call(9, exec(binary, ""), "{tool: start, args: {command: 'read l; echo got $$l', name: ask}}") +
			"  - on: {tool: start, result: '(c[0-9]+-ask)'}\n    call: [{tool: write_input, args: {id: $1, text: \"me\\n\"}}, {tool: read_output, args: {id: $1, until: end, wait_seconds: 300}}]\n" +
			"  - {say: done}\n",
	})
	h.emptyTemp()
	h.ok("run", "quest.yaml")
	before := h.state()
	check := func(t *testing.T, got map[string]audit.Executed) {
		t.Helper()
		for what, want := range map[string]struct{ status, why string }{
			printing: {"same", ""}, reading: {"same", ""}, leaving: {"same", ""}, large: {"same", ""}, binary: {"same", ""},
			clockwise: {"not checkable", "two runs here differ from each other, too: stdout differs"}, filing: {"not checkable", "when.txt"},
			finding: {"different", "exit code 1, not with exit code 0"}, endless: {"not checkable", "wall time"}, asking: {"not checkable", "input"},
			racing: {"not checkable", "beside it"}, slower: {"not checkable", "wall time here"},
		} {
			if c := got[what]; c.Status != want.status || !strings.Contains(c.Why, want.why) || c.Status == "same" && c.Why != "" || c.Actor != "agent-0" || c.Kind != "command" {
				t.Errorf("%q: %+v, want %v", what, c, want)
			}
		}
		if len(got) != 12 {
			t.Errorf("%d calls: %v", len(got), got)
		}
	}
	check(t, h.executed(1, "boxed"))
	after := h.state()
	for path, when := range after {
		if was, ok := before[path]; !ok || !was.Equal(when) {
			t.Errorf("%s was made or changed", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, then %d", len(before), len(after))
	}
	if left := helpers(t, h.dir); len(left) > 0 {
		t.Errorf("computers that are still up: %v", left)
	}
	t.Run("ElsewhereFromAnExportedFile", func(t *testing.T) {
		h := h.in(t)
		h.ok("export", "boxed", "boxed.zip")
		h.dir = filepath.Join(h.work, "elsewhere")
		check(t, h.executed(1, "boxed.zip"))
	})
	t.Run("InWords", func(t *testing.T) {
		h.in(t).run("verify", "--execute", "boxed").want(t, 1, "boxed: consistent", " 1/12  same", "different      seq", "12 computer calls: 5 the same, 1 different, 6 not checkable")
	})
	t.Run("ButNotWhereThereIsNoSandbox", func(t *testing.T) {
		h := h.in(t)
		lyceum, err := filepath.Abs(filepath.Join(h.work, "bin"))
		must(t, err)
		must(t, os.Mkdir(lyceum, 0o755))
		h.env = append(h.env, "PATH="+lyceum)
		for what, c := range h.executed(3, "boxed") {
			if c.Status != "not checkable" || what == printing && !strings.Contains(c.Why, "bwrap") {
				t.Errorf("without bubblewrap, %q: got %+v, want not checkable", what, c)
			}
		}
	})
}

// The first time there is something in /tmp; again there is not, and it takes long.
func TestRunningCommandsAgainCanBeInterrupted(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, map[string]string{
		"quest.yaml": "name: waits\nproblem: How long?\nmodel: script:plan.yaml\ncomputer: {driver: bubblewrap}\n",
		"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: exec, args: {command: "touch /tmp/quick"}}]
  - on: {turn: 2}
    call: [{tool: exec, args: {command: "test -e /tmp/quick || sleep 100"}}]
  - {say: done}
`,
	})
	h.emptyTemp()
	h.ok("run", "quest.yaml")
	cmd := command(t.Context(), h.dir, h.work, "verify", "--execute", "waits")
	cmd.Env = append(cmd.Env, h.env...)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "1/2  same") {
	}
	begun := time.Now() // the second one has begun, or is about to
	must(t, cmd.Process.Signal(syscall.SIGINT))
	for lines.Scan() {
		t.Errorf("it goes on: %s", lines.Text())
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %v to leave", took)
	}
}

func TestProgramsOfPapersAreRunAgain(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, nil)
	h.emptyTemp()
	quest, err := filepath.Abs("../../examples/lab-number/quest.yaml")
	must(t, err)
	h.ok("run", quest, "--plain")
	reproductions := 0
	for what, c := range h.executed(0, "lab-number") {
		if c.Kind == "reproduction" {
			reproductions++
		}
		if c.Status == "different" {
			t.Errorf("done again, %s: got %+v, want it the same", what, c)
		}
	}
	if reproductions == 0 {
		t.Error("no paper's program was run again")
	}
	// What they printed stands beside the papers, and cannot be changed unnoticed.
	outputs, err := filepath.Glob(filepath.Join(h.dir, "quests", "lab-number", "publications", "*", "reproduction.txt"))
	must(t, err)
	if len(outputs) == 0 {
		t.Fatal("no paper has what its program printed")
	}
	data, err := os.ReadFile(outputs[0])
	must(t, err)
	data[0] ^= 1
	must(t, os.WriteFile(outputs[0], data, 0o600))
	h.run("verify", "lab-number").want(t, 1, outputs[0])
}

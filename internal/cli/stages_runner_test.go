package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runner is a study whose researcher is an executor. It keeps a card, says something, starts a
// command, and rests. Its model is a script.
var runner = map[string]string{
	"quest.yaml": "name: q\nsociety: stages\nproblem: Begin.\nrunner: builtin\nmodel: script:plan.yaml\ncomputer: auto\n",
	"plan.yaml": `rules:
  - on: {tool: memory__write}
    call: [{tool: artifact__interact, args: {kind: progress, text: "A card is kept."}}]
  - on: {tool: artifact__interact}
    delay: 300ms
    call: [{tool: bash_exec__await, args: {command: "echo used >> log; sleep 0.5; echo seen"}}]
  - on: {tool: bash_exec__await}
    delay: 300ms
    say: "All done."
  - on: {last: "Begin"}
    delay: 300ms
    call: [{tool: memory__write, args: {kind: knowledge, title: "A card", text: "What is known."}}]
  - delay: 100ms
    say: "All done, again."
`,
}

// sitting is what tests look at of an event of a study.
type sittingEvent struct {
	Seq  uint64
	Type string
	Tool string
	Body struct {
		Name, Runner, Outcome, Reason, Stop, With, Process string
		Number                                             int64
		Mail, Messages                                     []uint64
		Text, Output                                       struct{ Text string }
		Error                                              any
	}
}

func (h *home) study(quest string, types ...string) (out []sittingEvent) {
	h.t.Helper()
	for line := range strings.Lines(h.ok("trace", quest, "--jsonl")) {
		var e sittingEvent
		must(h.t, json.Unmarshal([]byte(line), &e))
		if len(types) == 0 || slices.Contains(types, e.Type) {
			out = append(out, e)
		}
	}
	return out
}

// TestASittingOfARunner has a sitting be one prompt of an executor: the blocks and the mail are
// what it is told, the tools of the three servers are those of the table, and a message begins the
// next sitting in the same session.
func TestASittingOfARunner(t *testing.T) {
	t.Parallel()
	h := newHome(t, runner)
	l := h.run("run", "quest.yaml")
	t.Logf("%d\n%s\n%s\n%s", l.code, l.out, l.errOut, h.ok("trace", "q"))
	_ = os.Stat
	_ = filepath.Join
}

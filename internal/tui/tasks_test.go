package tui

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/society/solo"

	"github.com/charmbracelet/x/ansi"
)

// recorded are rules that decide nothing: what an architect did is told by the test.
type recorded struct{ solo.Society }

func (recorded) Rules() string { return "architect/1" }

// TestTheTasksOfAnArchitect: the panel follows the events from the first on, also those from
// before the view was opened, and takes none twice.
func TestTheTasksOfAnArchitect(t *testing.T) {
	t.Parallel()
	text := func(s string) event.Text { return event.Text{Text: s} }
	s := stateOf(recorded{}, 2, 0)
	s.Seq = 100
	m := show(s, 120, 30)
	scope := event.TaskScope{Include: []string{"cmd/"}}
	events := happened{
		{Seq: 1, Body: &event.PlanProposed{Tasks: []event.TaskPlan{{ID: "add" + evil, Goal: "A command" + evil, Scope: scope, Acceptance: []string{"go test"}}, {ID: "doc", Goal: "Its text", Scope: scope}}}},
		{Seq: 2, Body: &event.HandoverBegun{Task: "add" + evil, Run: 1, Executor: "builtin", Worker: "agent-1"}},
		{Seq: 3, Body: &event.TaskError{Task: "add" + evil, Run: 1, Category: event.ErrorScope, Text: text("go.mod is outside" + evil)}},
	}
	if err := m.take(events); err != nil {
		t.Fatal(err)
	}
	if err := m.take(events); err != nil {
		t.Fatal(err)
	}
	screen := m.View().Content
	for _, want := range []string{"Tasks", "working", "planned", "doc", "0 of 2 tasks accepted"} {
		if !strings.Contains(ansi.Strip(screen), want) {
			t.Errorf("the screen does not say %q:\n%s", want, ansi.Strip(screen))
		}
	}
	x := m.panel.(*tasks)
	if n := len(x.board.Tasks[0].Runs); n != 1 || len(x.asked("agent-1")) != 1 || len(x.about("agent-1")) != 1 {
		t.Errorf("got %d runs, asked %v: want each event to be taken once, and agent-1 at work", n, x.asked("agent-1"))
	}
	x.move(-5)
	cmd, why := x.open(m.src)
	if cmd == nil {
		t.Fatalf("the task cannot be opened: %s", why)
	}
	told := cmd().(loaded)
	out := told.text(200, Plain)
	for _, want := range []string{"A command", "may change   cmd/", "run 1: builtin, at work", "error (scope): go.mod is outside"} {
		if !strings.Contains(out, want) {
			t.Errorf("the task does not say %q:\n%s", want, out)
		}
	}
	for _, text := range []string{ansi.Strip(screen), out, told.title} {
		if strings.ContainsAny(text, "\x1b\a\x00\u202e") {
			t.Errorf("what agents wrote reaches the terminal: %q", text)
		}
	}
	if x.board.Tasks = nil; x.length() != 0 {
		t.Error("there are tasks")
	}
	if _, why := x.open(m.src); why == "" {
		t.Error("nothing can be opened, and nothing is said of it")
	}
}

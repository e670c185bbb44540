package architect_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

func TestATaskIsPlannedHandedOverCheckedAndAccepted(t *testing.T) {
	t.Parallel()
	w := start(t, usual())
	has(t, w.does("plan_tasks", plan(unit("t1", "cmd/"))), "The plan holds", "t1: not begun")
	from := len(w.Events)
	has(t, w.does("dispatch", named("t1")), "Run 1 of t1 by one is checked", "changed main.go +1 -0", "tests: 3 passed", "Judge it")
	want := "task.snapshot handover.begun home.call home.renewed prompt.call prompt.begun prompt.result inspection.call inspection.result artifact.manifest acceptance.call test.report acceptance.call test.report handover.ended"
	if got := strings.Join(w.kinds(from), " "); got != want {
		t.Fatalf("the events:\n%s\nwant\n%s", got, want)
	}
	has(t, w.does("judge", accepts("t1")), "t1 is accepted")
	has(t, w.does("finish", `{"answer":"It is done."}`), "The quest ends")
	if w.State.Status != quest.Finished {
		t.Fatalf("the quest is %s: %s", w.State.Status, w.tail())
	}
	has(t, w.State.Answer.Text, "It is done.", "t1: accepted")
	if len(w.State.Warnings) > 0 || w.State.NotFound {
		t.Errorf("warnings: got %q, want none", w.State.Warnings)
	}
	ended := all[*event.TaskEnded](w)[0]
	if ended.Tree == nil || *ended.Tree != *tree("t11") || ended.Patch == nil {
		t.Errorf("the end: got %+v, want the tree that was checked", ended)
	}
	w.sound()
	w.Sound()
}

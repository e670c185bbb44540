package architect

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

var _ quest.Tasker = (*Memory)(nil)

func TestOrdersAreAboutTasksThatHaveNotEnded(t *testing.T) {
	m := new(Memory)
	order := func(id string) string {
		if err := m.MayOrder(&event.TaskOrder{Action: event.OrderCancel, Task: id}); err != nil {
			return err.Error()
		}
		return ""
	}
	if got := order("a"); !strings.Contains(got, "nothing is planned") {
		t.Errorf("before there is a plan: %q", got)
	}
	m.Tasks = []*Task{{Plan: event.TaskPlan{ID: "a"}}, {Plan: event.TaskPlan{ID: "b"}, Status: event.TaskAccepted}}
	for id, want := range map[string]string{"a": "", "b": "is accepted already", "c": "there are: a, b"} {
		if got := order(id); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("an order about %s: %q, want %q", id, got, want)
		}
	}
}

package architect

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// MayOrder implements quest.Tasker: people can say something about tasks that are planned and
// have not ended.
func (m *Memory) MayOrder(b *event.TaskOrder) error {
	t := m.Task(b.Task)
	switch {
	case t == nil:
		var ids []string
		for _, t := range m.Tasks {
			ids = append(ids, t.Plan.ID)
		}
		if len(ids) == 0 {
			return fmt.Errorf("there is no task %.80q: nothing is planned yet", b.Task)
		}
		return fmt.Errorf("there is no task %.80q; there are: %s", b.Task, strings.Join(ids, ", "))
	case t.Status != "":
		return fmt.Errorf("the task %s is %s already", b.Task, t.Status)
	}
	return nil
}

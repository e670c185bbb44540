package api

import (
	"net/http"
	"strings"

	"lyceum/internal/event"
)

// tasks are those of an architect, each at a glance; a quest without one has none.
func (s *Server) tasks(_ *http.Request, b *book) (any, error) { return b.Board().List(), nil }

// task is one with all that has come of it.
func (s *Server) task(r *http.Request, b *book) (any, error) {
	if t := b.Board().Task(r.PathValue("task")); t != nil {
		return t.Detail(), nil
	}
	return nil, noTask(b.name, r.PathValue("task"))
}

func noTask(quest, task string) error { return missing("quest %s has no task %.80q", quest, task) }

// TaskOrder is a person's word about one task of an architect.
type TaskOrder struct {
	Action string `json:"action"`
	// Text is what a message says.
	Text string `json:"text,omitempty"`
}

// orderTask puts a person's word about a task into a quest's inbox.
func (s *Server) orderTask(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var o TaskOrder
	if err := decode(r, &o); err != nil {
		return err
	}
	text := strings.ToValidUTF8(strings.TrimSpace(o.Text), "\uFFFD")
	switch {
	case o.Action != event.OrderCancel && o.Action != event.OrderMessage:
		return badParameter("action", "%.30q: want cancel or message", o.Action)
	case o.Action == event.OrderCancel && text != "":
		return badParameter("text", "whoever cancels a task says nothing to its executor: send a message before")
	case o.Action == event.OrderMessage && (text == "" || len(text) > maxMessage):
		return badParameter("text", "a message has 1 to %d bytes; this one has %d", maxMessage, len(text))
	}
	name, task := r.PathValue("quest"), r.PathValue("task")
	b, done, err := s.shelf.open(r.Context(), name)
	if err != nil {
		return err
	}
	known := b.Board().Task(task) != nil
	done()
	if !known {
		return noTask(name, task)
	}
	st, err := s.stateOf(r.Context(), name)
	if err != nil {
		return err
	}
	id, told, err := s.tell(r.Context(), name, st, &event.TaskOrder{Action: o.Action, Task: task, Text: text})
	if err != nil {
		return err
	}
	return s.send(w, http.StatusAccepted, Posted{ID: id, Running: told})
}

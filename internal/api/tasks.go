package api

import "net/http"

// tasks are those of an architect, each at a glance; a quest without one has none.
func (s *Server) tasks(_ *http.Request, b *book) (any, error) { return b.Board().List(), nil }

// task is one with all that has come of it.
func (s *Server) task(r *http.Request, b *book) (any, error) {
	if t := b.Board().Task(r.PathValue("task")); t != nil {
		return t.Detail(), nil
	}
	return nil, missing("quest %s has no task %.80q", b.name, r.PathValue("task"))
}

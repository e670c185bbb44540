package api

import (
	"context"
	"net/http"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
)

// maxExamining is how many quests are examined at a time: each takes a processor.
const maxExamining = 2

// examined has a whole quest looked at, as lyceum verify and lyceum replay do.
func (s *Server) examined(examine func(context.Context, *runtime.Runtime, string, func(uint64)) (*audit.Report, error), good string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := none(r); err != nil {
			return err
		}
		name := r.PathValue("quest")
		if !event.ValidName(name) {
			return missing("%.80q is not a quest's name: want %s", name, event.NameRule)
		}
		if _, err := s.rt.Ledger.Head(r.Context(), name); err != nil {
			return err
		}
		select {
		case s.examining <- struct{}{}:
			defer func() { <-s.examining }()
		case <-r.Context().Done():
			return r.Context().Err()
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a long quest takes long
		rep, err := examine(r.Context(), s.rt, name, nil)
		if err != nil {
			return err
		}
		out := struct {
			Verdict string `json:"verdict"`
			*audit.Report
		}{good, rep}
		if rep.Difference != nil {
			out.Verdict = "differs"
		}
		_ = http.NewResponseController(w).SetWriteDeadline(s.rt.Clock().Time().Add(s.opts.Stall))
		return s.send(w, http.StatusOK, out)
	}
}

package api

import (
	"net/http"

	"lyceum/internal/view"
)

// Attempts are what a maker declared and made, with what came of each.
type Attempts struct {
	Structure *view.Declared  `json:"structure,omitempty"`
	Attempts  []*view.Attempt `json:"attempts"`
}

// attempts are those of a maker; a quest without one has none.
func (s *Server) attempts(_ *http.Request, b *book) (any, error) {
	m := b.Making()
	return Attempts{m.Structure, m.Attempts}, nil
}

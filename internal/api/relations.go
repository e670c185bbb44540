package api

import (
	"net/http"

	"lyceum/internal/relation"
)

// related is a thing that agents noted, and how deep it stands below what it is part of.
type related struct {
	relation.Node
	Depth int `json:"depth"`
}

// relations are all that agents noted, each below what it is part of.
func (s *Server) relations(_ *http.Request, b *book) (any, error) {
	out := []related{}
	if b.state.Related != nil {
		g := &b.state.Related.Graph
		for n, depth := range g.Outline(g.Walk("", relation.Down)) {
			out = append(out, related{*n, depth})
		}
	}
	return struct {
		Nodes []related `json:"nodes"`
	}{out}, nil
}

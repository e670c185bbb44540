package api

import (
	"net/http"
	"slices"
	"strings"
)

// route is one line of the API. Pattern is method and path, as in the document.
type route struct {
	pattern string
	handle  func(http.ResponseWriter, *http.Request) error
}

// routes are all there are; the contract test holds them against the document.
func (s *Server) routes() []route {
	return []route{
		{"GET /api/openapi.json", s.openapi},
		{"GET /api/options", s.options},
		{"GET /api/schema", s.schema},
		{"GET /api/event-types", s.eventTypes},
		{"GET /api/examples", s.examples},
		{"POST /api/validate", s.validate},
		{"GET /api/quests", s.quests},
		{"POST /api/quests", s.createQuest},
		{"GET /api/quests/{quest}", s.quest},
		{"DELETE /api/quests/{quest}", s.deleteQuest},
		{"POST /api/quests/{quest}/control", s.control},
		{"POST /api/quests/{quest}/messages", s.say},
		{"GET /api/quests/{quest}/events", s.events},
		{"GET /api/quests/{quest}/events/{seq}", s.event},
		{"GET /api/quests/{quest}/timeline", s.timeline},
		{"GET /api/quests/{quest}/agents", s.of(s.agents)},
		{"GET /api/quests/{quest}/agents/{agent}", s.agent},
		{"GET /api/quests/{quest}/agents/{agent}/transcript", s.transcript},
		{"GET /api/quests/{quest}/agents/{agent}/terminal", s.terminal},
		{"GET /api/quests/{quest}/agents/{agent}/files", s.files},
		{"GET /api/quests/{quest}/agents/{agent}/versions", s.versions},
		{"GET /api/quests/{quest}/papers", s.papers},
		{"GET /api/quests/{quest}/papers/{ref}", s.paper},
		{"GET /api/quests/{quest}/reviews", s.of(s.reviews)},
		{"GET /api/quests/{quest}/citations", s.of(s.citations)},
		{"GET /api/quests/{quest}/votes", s.of(s.votes)},
		{"GET /api/quests/{quest}/canvas", s.canvas},
		{"GET /api/quests/{quest}/evidence", s.of(s.evidence)},
		{"GET /api/quests/{quest}/artifacts", s.of(s.artifacts)},
		{"GET /api/quests/{quest}/cost", s.cost},
		{"GET /api/blobs/{hash}", s.blob},
		{"GET /api/trees/{hash}", s.tree},
		{"GET /api/diff", s.diff},
		{"GET /metrics", s.metrics},
	}
}

// of is a route that reads a quest, and takes no parameters but its path.
func (s *Server) of(read func(*http.Request, *book) (any, error)) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := none(r); err != nil {
			return err
		}
		b, done, err := s.shelf.open(r.Context(), r.PathValue("quest"))
		if err != nil {
			return err
		}
		defer done()
		v, err := read(r, b)
		if err != nil {
			return err
		}
		return s.sendAndClose(w, v, done)
	}
}

func (s *Server) register() {
	for _, r := range s.routes() {
		s.mux.HandleFunc(r.pattern, func(w http.ResponseWriter, req *http.Request) {
			if req.Method != http.MethodGet && req.Method != http.MethodHead {
				s.changing.RLock()
				defer s.changing.RUnlock()
			}
			if err := r.handle(w, req); err != nil {
				s.fail(w, req, err)
			}
		})
	}
	s.mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, s.nowhere(w, r)) })
	s.mux.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, s.nowhere(w, r)) })
	s.mux.Handle("/", s.page)
}

// nowhere says whether a path is wrong or only the method.
func (s *Server) nowhere(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, method := range []string{"GET", "POST", "DELETE"} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := s.mux.Handler(other); strings.HasPrefix(pattern, method+" ") {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 || slices.Contains(allowed, r.Method) {
		return problemf(http.StatusNotFound, "", "there is nothing at %.100q: see /api/openapi.json", r.URL.Path)
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return problemf(http.StatusMethodNotAllowed, "", "%.20q is not a method of %.100q: it takes %s", r.Method, r.URL.Path, strings.Join(allowed, ", "))
}

func (s *Server) openapi(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(document)
	return err
}

package api

import (
	"net/http"
	"slices"
	"strings"
)

// route is one row of the table of all that can be asked for. Pattern is method and path,
// as in the document; need says of whom. A part that serves something new adds a row, and
// asks nobody for credentials itself.
type route struct {
	pattern string
	need    need
	handle  func(http.ResponseWriter, *http.Request) error
}

// routes are those of the API; the contract test holds them against the document.
func (s *Server) routes() []route {
	return []route{
		{"GET /api/openapi.json", known, s.openapi},
		{"GET /api/session", known, s.session},
		{"POST /api/session", open, s.resume},
		{"GET /api/options", read, s.options},
		{"GET /api/schema", known, s.schema},
		{"GET /api/event-types", known, s.eventTypes},
		{"GET /api/examples", known, s.examples},
		{"POST /api/validate", admin, s.validate},
		{"GET /api/quests", known, s.quests},
		{"POST /api/quests", admin, s.createQuest},
		{"GET /api/quests/{quest}", read, s.quest},
		{"DELETE /api/quests/{quest}", admin, s.deleteQuest},
		{"POST /api/quests/{quest}/control", steer, s.control},
		{sayRoute, steer, s.say},
		{"DELETE /api/quests/{quest}/messages/{message}", steer, s.withdraw},
		{"GET /api/quests/{quest}/conversation", read, s.conversation},
		{"POST /api/quests/{quest}/answers", steer, s.reply},
		{"GET /api/quests/{quest}/events", read, s.events},
		{"GET /api/quests/{quest}/events/{seq}", read, s.event},
		{"GET /api/quests/{quest}/timeline", read, s.timeline},
		{"GET /api/quests/{quest}/lanes", read, s.lanes},
		{"GET /api/quests/{quest}/feed", read, s.matters},
		{"GET /api/quests/{quest}/agents", read, s.of(s.agents)},
		{"GET /api/quests/{quest}/agents/{agent}", read, s.agent},
		{"GET /api/quests/{quest}/agents/{agent}/transcript", read, s.transcript},
		{"GET /api/quests/{quest}/agents/{agent}/terminal", read, s.terminal},
		{"GET /api/quests/{quest}/agents/{agent}/files", read, s.files},
		{"GET /api/quests/{quest}/agents/{agent}/versions", read, s.versions},
		{"GET /api/quests/{quest}/papers", read, s.papers},
		{"GET /api/quests/{quest}/papers/{ref}", read, s.paper},
		{"GET /api/quests/{quest}/reviews", read, s.of(s.reviews)},
		{"GET /api/quests/{quest}/citations", read, s.of(s.citations)},
		{"GET /api/quests/{quest}/votes", read, s.of(s.votes)},
		{"GET /api/quests/{quest}/tasks", read, s.of(s.tasks)},
		{"GET /api/quests/{quest}/tasks/{task}", read, s.of(s.task)},
		{"POST /api/quests/{quest}/tasks/{task}/orders", steer, s.orderTask},
		{"GET /api/quests/{quest}/attempts", read, s.of(s.attempts)},
		{"GET /api/quests/{quest}/canvas", read, s.canvas},
		{"GET /api/quests/{quest}/evidence", read, s.of(s.evidence)},
		{"GET /api/quests/{quest}/relations", read, s.of(s.relations)},
		{"GET /api/quests/{quest}/artifacts", read, s.of(s.artifacts)},
		{"GET /api/quests/{quest}/artifacts/{artifact}", read, s.then(s.recorded)},
		{"GET /api/quests/{quest}/workflow", read, s.workflow},
		{"GET /api/quests/{quest}/node-traces", read, s.nodeTraces},
		{"GET /api/quests/{quest}/branches", read, s.of(s.branches)},
		{"GET /api/quests/{quest}/log", read, s.log},
		{"GET /api/quests/{quest}/compare", read, s.compareBranches},
		{"GET /api/quests/{quest}/diff", read, s.diffBranches},
		{"GET /api/quests/{quest}/memory", read, s.memory},
		{"GET /api/quests/{quest}/memory/{card}", read, s.then(s.card)},
		{"GET /api/quests/{quest}/documents", read, s.of(s.documents)},
		{"GET /api/quests/{quest}/documents/{document}", read, s.of(s.document)},
		{"POST /api/quests/{quest}/documents/{document}", steer, s.saveDocument},
		{"GET /api/quests/{quest}/interactions", read, s.then(s.interactions)},
		{"GET /api/quests/{quest}/deliveries", read, s.then(s.deliveries)},
		{"GET /api/quests/{quest}/cost", read, s.cost},
		{"GET /api/quests/{quest}/verify", read, s.examined(jobVerify)},
		{"GET /api/quests/{quest}/replay", read, s.examined(jobReplay)},
		{"GET /api/quests/{quest}/record", read, s.record},
		{"GET /api/blobs/{hash}", known, s.blob},
		{"GET /api/trees/{hash}", known, s.tree},
		{"GET /api/diff", read, s.diff},
		{"GET /api/baselines", read, s.baselines},
		{"GET /api/studies", read, s.listStudies},
		{"POST /api/studies", admin, s.makeStudy},
		{"POST /api/validate-study", admin, s.validateStudy},
		{"GET /api/studies/{study}", read, s.study},
		{"POST /api/studies/{study}/control", steer, s.controlStudy},
		{"GET /api/studies/{study}/csv", read, s.studyCSV},
		{"GET /api/settings", admin, s.settings},
		{"GET /api/doctor", admin, s.doctor},
		{"GET /metrics", read, s.metrics},
	}
}

// of is a route that reads a quest, and takes no parameters but its path.
func (s *Server) of(read func(*http.Request, *book) (any, error)) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		b, done, err := s.opened(r, nil)
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

// then is such a route that reads the rest once it has closed the quest: texts take their time, and
// others want the quest.
func (s *Server) then(look func(*http.Request, *book) (rest func() (any, error), err error)) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		b, done, err := s.opened(r, nil)
		if err != nil {
			return err
		}
		defer done()
		rest, err := look(r, b)
		if err != nil {
			return err
		}
		done()
		v, err := rest()
		if err != nil {
			return err
		}
		return s.send(w, http.StatusOK, v)
	}
}

// opened opens the quest of a request whose parameters have been read, nil for one that takes none.
// Their faults are told before the quest is looked for.
func (s *Server) opened(r *http.Request, p *params) (*book, func(), error) {
	fault := none
	if p != nil {
		fault = func(*http.Request) error { return p.done() }
	}
	if err := fault(r); err != nil {
		return nil, nil, err
	}
	return s.shelf.open(r.Context(), r.PathValue("quest"))
}

// pageRoutes are the files of the page, which are open because there is nothing in them,
// and what is asked for everything that is not in the table.
func (s *Server) pageRoutes() []route {
	return []route{
		{"GET /{$}", open, s.page.serve},
		{"GET /icon.svg", open, s.page.serve},
		{"GET /assets/{file...}", open, s.page.serve},
		{"GET /docs/{file...}", open, s.handbook},
		{"/", known, s.nowhere},
	}
}

// protocolRoutes are those of other protocols than ours, which this package's document does not
// describe. They have the rows above do their work.
func (s *Server) protocolRoutes() []route {
	return []route{
		{"GET /mcp", known, s.speakMCP},
		{"POST /mcp", known, s.speakMCP},
		{"DELETE /mcp", known, s.speakMCP},
	}
}

// working is a route that does its own work: if that changes something, nothing is tidied up
// meanwhile.
func (s *Server) working(r route) route {
	work := r.handle
	r.handle = func(w http.ResponseWriter, req *http.Request) error {
		if changes(req) {
			s.changing.RLock()
			defer s.changing.RUnlock()
		}
		return work(w, req)
	}
	return r
}

// mount is the only way to the mux: there is no handler without a row.
func (s *Server) mount(r route) {
	row := &r
	s.rows[row.pattern] = row
	s.mux.HandleFunc(row.pattern, func(w http.ResponseWriter, req *http.Request) {
		err := callerOf(req).must(row.need, req.PathValue("quest"))
		if err == nil {
			err = row.handle(w, req)
		}
		if err != nil {
			s.fail(w, req, err)
		}
	})
}

func (s *Server) register() {
	for _, r := range s.routes() {
		s.mount(s.working(r))
	}
	for _, r := range s.jobRoutes() {
		s.mount(r) // an upload lasts, and must hold nothing
	}
	for _, r := range s.pageRoutes() {
		s.mount(s.working(r))
	}
	for _, r := range s.protocolRoutes() {
		s.mount(r) // one may last for as long as its caller likes, and must hold nothing
	}
}

// row finds what a request asks for. What is not in the table is nil, also if a handler
// for it is in the mux: nobody has said who may have it.
func (s *Server) row(r *http.Request) *route {
	_, pattern := s.mux.Handler(r)
	return s.rows[pattern]
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
		return nothingAt(r)
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return problemf(http.StatusMethodNotAllowed, "", "%.20q is not a method of %.100q: it takes %s", r.Method, r.URL.Path, strings.Join(allowed, ", "))
}

func nothingAt(r *http.Request) *problem {
	return problemf(http.StatusNotFound, "", "there is nothing at %.100q: see /api/openapi.json", r.URL.Path)
}

func (s *Server) openapi(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(document)
	return err
}

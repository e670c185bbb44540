package api

import (
	"errors"
	"net/http"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/view"
)

// maxNodes is how many nodes of a graph are sent.
const maxNodes = 20_000

func (s *Server) canvas(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	after := uint64(p.number("after", 0, maxSeq, 0))
	b, done, err := s.opened(r, p)
	if err != nil {
		return err
	}
	defer done()
	out := struct {
		Nodes     []view.Node `json:"nodes"`
		Edges     []view.Edge `json:"edges"`
		Head      uint64      `json:"head"`
		Agents    []string    `json:"agents"`
		Truncated bool        `json:"truncated"`
	}{Head: b.state.Seq, Agents: []string{}}
	out.Nodes, out.Edges, out.Truncated = b.Canvas.Graph(after, maxNodes)
	for i := range out.Nodes {
		if out.Nodes[i].Changes == nil {
			out.Nodes[i].Changes = []view.Change{}
		}
	}
	for _, a := range b.state.Agents {
		out.Agents = append(out.Agents, a.Name)
	}
	return s.sendAndClose(w, out, done)
}

func (s *Server) cost(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	name := p.text("agent", 100)
	b, done, err := s.opened(r, p)
	if err != nil {
		return err
	}
	defer done()
	if name != "" && b.state.Agent(name) == nil {
		return badParameter("agent", "quest %s has no agent %.80q", b.name, name)
	}
	out := struct {
		Points   []view.CostPoint `json:"points"`
		Total    view.USD         `json:"total_usd"`
		Tokens   int64            `json:"total_tokens"`
		Unpriced int64            `json:"unpriced_calls"`
		ByAgent  []view.AgentCost `json:"by_agent"`
		Limits   Limits           `json:"limits"`
	}{Points: b.Cost.Points(name, maxPoints), ByAgent: b.Cost.Agents(), Limits: limitsOf(b.state.Limits)}
	out.Total, out.Tokens, out.Unpriced = b.Cost.Total()
	return s.sendAndClose(w, out, done)
}

// source is evidence with the words that were found in it.
type source struct {
	service.EvidencedSource
	Snippet string `json:"snippet,omitempty"`
}

func (s *Server) evidence(r *http.Request, b *book) (any, error) {
	debate, err := view.DebateOf(b.state)
	if err != nil {
		return nil, conflict("%v", err)
	}
	found, err := service.EvidenceOf(r.Context(), s.rt, b.state)
	if err != nil {
		if _, ok := errors.AsType[*runtime.PlanError](err); ok {
			return nil, conflict("%v", err)
		}
		return nil, err
	}
	out := struct {
		Claims  []service.EvidencedClaim `json:"claims"`
		Sources []source                 `json:"sources"`
		Broken  int                      `json:"broken"`
		*view.Debate
		Answer *string `json:"answer,omitempty"`
	}{found.Claims, []source{}, found.Broken, debate, nil}
	for i, src := range found.Sources {
		out.Sources = append(out.Sources, source{src, debate.Snippets[i]})
	}
	if b.state.Answer != nil {
		text, err := s.read(r.Context(), *b.state.Answer)
		if err != nil {
			return nil, err
		}
		out.Answer = &text
	}
	return out, nil
}

// diff sets two quests side by side.
func (s *Server) diff(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	names := [2]string{p.text("a", 100), p.text("b", 100)}
	if err := p.done(); err != nil {
		return err
	}
	var runs [2]*view.Run
	for i, name := range names {
		if !event.ValidName(name) {
			return badParameter([]string{"a", "b"}[i], "%.80q is not a quest's name: want %s", name, event.NameRule)
		}
		_, err := s.rt.Ledger.Head(r.Context(), name)
		if errors.Is(err, ledger.ErrNoQuest) {
			return s.noQuest(r, name)
		} else if err != nil {
			return err
		}
		blobs := func(ref event.Ref) ([]byte, error) { return s.rt.Blob(r.Context(), ref) }
		if runs[i], err = view.Read(name, s.rt.Ledger.Read(r.Context(), name, 1), blobs); err != nil {
			return err
		}
	}
	return s.send(w, http.StatusOK, view.Compare(runs[0], runs[1]))
}

func (s *Server) artifacts(r *http.Request, b *book) (any, error) {
	return struct {
		Artifacts []view.Artifact `json:"artifacts"`
		Recorded  []view.Recorded `json:"recorded"`
	}{append([]view.Artifact{}, b.Artifacts.List...), b.Recorded(b.state)}, nil
}

package api

import (
	"context"
	"net/http"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/view"
)

// Agent is an agent at a glance.
type Agent struct {
	Name string `json:"name"`
	// Executor is the outside agent that it is, if it is one. Model is then what that one gets.
	Executor string `json:"executor,omitempty"`
	Model    string `json:"model"`
	Doing    Doing  `json:"doing"`
	Turns    int64  `json:"turns"`
	Tokens   int64  `json:"tokens"`
	// Cost is null if there are answers of which nobody knows it.
	Cost     *view.USD `json:"cost_usd"`
	Seconds  float64   `json:"seconds"`
	Messages int       `json:"messages"`
	view.Role
	Tree     string `json:"tree,omitempty"`
	Commands int64  `json:"commands"`
}

// Doing is what an agent is doing now.
type Doing struct {
	Kind    string      `json:"kind"`
	Tool    string      `json:"tool,omitempty"`
	Command string      `json:"command,omitempty"`
	Paper   string      `json:"paper,omitempty"`
	Title   string      `json:"title,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	Since   *event.Time `json:"since,omitempty"`
	Seq     uint64      `json:"seq,omitempty"`
}

// team are the agents of a quest.
func (s *Server) team(ctx context.Context, b *book) []Agent {
	out := []Agent{}
	for _, a := range b.state.Agents {
		out = append(out, s.agentOf(ctx, b, a))
	}
	return out
}

func (s *Server) agentOf(ctx context.Context, b *book, a *agent.Agent) Agent {
	desk, role := b.Desks.Agent(a.Name), view.Of(b.state).Role(b.state, a.Name)
	out := Agent{
		Name: a.Name, Executor: a.Executor, Model: a.Model, Doing: s.doing(ctx, b, a, desk, role), Turns: a.Turns, Tokens: a.Tokens, Cost: knownCost(a.Cost, a.Unpriced), Seconds: float64(a.Duration) / 1e6,
		Messages: len(desk.Entries), Role: role, Commands: desk.Commands,
	}
	if a.Tree != nil {
		out.Tree = a.Tree.Hash.String()
	}
	return out
}

func (s *Server) doing(ctx context.Context, b *book, a *agent.Agent, desk *view.Desk, role view.Role) Doing {
	d := Doing{Kind: a.Phase().String(), Since: &desk.Time, Seq: desk.Since}
	if len(role.Open) > 0 {
		d.Paper, d.Title = role.Open[0], role.Title
	}
	switch phase := a.Phase(); {
	case a.Parked != "":
		d.Kind, d.Reason = "parked", a.Parked
	case a.Model == "":
		d.Kind, d.Tool, d.Command = "rules", role.Task, role.Text
	case b.state.Status == quest.Finished || b.state.Status == quest.Failed, b.state.Status != quest.Running && phase != agent.Acting:
		d.Kind = "resting" // a tool may still be under way where the quest only rests
	case phase == agent.Acting:
		d.Kind = "running"
		if i := slices.IndexFunc(a.Open, func(u agent.Use) bool { return !u.Done }); i >= 0 {
			d.Tool, d.Command = a.Open[i].Name, s.wish(ctx, a.Open[i].Args)
		}
	case phase == agent.Thinking && d.Paper != "":
		d.Kind = "reviewing"
	}
	return d
}

// wish is what a person wants to see of a tool's arguments.
func (s *Server) wish(ctx context.Context, args event.Text) string {
	text, err := s.read(ctx, args)
	if err != nil {
		return ""
	}
	return view.Arguments(text)
}

func (s *Server) agents(r *http.Request, b *book) (any, error) {
	return struct {
		Agents []Agent `json:"agents"`
	}{s.team(r.Context(), b)}, nil
}

// openAgent opens a quest and finds an agent of it.
func (s *Server) openAgent(r *http.Request) (*book, *agent.Agent, func(), error) {
	b, done, err := s.shelf.open(r.Context(), r.PathValue("quest"))
	if err != nil {
		return nil, nil, nil, err
	}
	a := b.state.Agent(r.PathValue("agent"))
	if a == nil {
		done()
		return nil, nil, nil, missing("quest %s has no agent %.80q", b.name, r.PathValue("agent"))
	}
	return b, a, done, nil
}

// maxPoints is how many points of a series are sent.
const maxPoints = 1000

func (s *Server) agent(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	at := uint64(p.number("at", 0, maxSeq, 0))
	if err := p.done(); err != nil {
		return err
	}
	b, a, done, err := s.openAgent(r)
	if err != nil {
		return err
	}
	defer done()
	if at > b.state.Seq {
		return badParameter("at", "there is no event %d: the last is %d", at, b.state.Seq)
	}
	if at == 0 {
		at = b.state.Seq
	}
	out := struct {
		Agent
		At     uint64           `json:"at"`
		System string           `json:"system,omitempty"`
		Tools  []string         `json:"tools"`
		Mind   view.Mind        `json:"mind"`
		Cost   []view.CostPoint `json:"cost"`
	}{Agent: s.agentOf(r.Context(), b, a), At: at, Tools: append([]string{}, a.ToolNames...), Mind: view.Of(b.state).Mind(b.Desks.Agent(a.Name), at), Cost: b.Cost.Points(a.Name, maxPoints)}
	if a.System.Size > 0 {
		if out.System, err = s.read(r.Context(), event.Text{Ref: &a.System}); err != nil {
			return err
		}
	}
	return s.sendAndClose(w, out, done)
}

// versionsOf and what follows are about an agent's files.
type version struct {
	Seq     uint64     `json:"seq"`
	Time    event.Time `json:"time"`
	Tree    string     `json:"tree"`
	Cause   string     `json:"cause"`
	Changes int64      `json:"changes"`
}

func (s *Server) versions(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	b, a, done, err := s.openAgent(r)
	if err != nil {
		return err
	}
	defer done()
	out := []version{}
	for _, v := range b.Spaces.Versions(a.Name) {
		out = append(out, version{v.Seq, v.Time, v.Tree.Hash.String(), v.Cause, v.Changes})
	}
	return s.sendAndClose(w, struct {
		Versions []version `json:"versions"`
	}{out}, done)
}

package api_test

import (
	"net/http"
	"slices"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/model"
)

// related runs a quest whose agent notes a plan, a step of it and a file beside.
func (s *server) related(name string, g *gate) {
	s.t.Helper()
	g.says = func(r *model.Request) *model.Answer {
		if r.Turn > 1 {
			return said("Done.")
		}
		a := call("relate", `{"id":"plan","type":"plan","description":"measure <b>it</b>","status":"in_progress"}`, r.Turn)
		for _, args := range []string{`{"id":"log","type":"file"}`, `{"id":"s1","type":"step","description":"set up","status":"done","parents":["plan"]}`} {
			p := call("relate", args, r.Turn).Parts[0]
			p.ID += args[7:9]
			a.Parts = append(a.Parts, p)
		}
		return a
	}
	s.create(name, map[string]any{"relations": true})
	g.let(2)
	s.control(name, map[string]any{"action": "start"}).want(s.t, 200)
	s.released(name)
	g.says = nil
}

// askRelations asks what agents noted, for the document of the API.
func (w *world) askRelations(ask func(string, string, any, ...func(*http.Request)) answer) {
	w.related("noted", w.gate)
	ask("GET /api/quests/{quest}/relations", "/api/quests/noted/relations", nil).want(w.t, 200)
	ask("GET /api/quests/{quest}", "/api/quests/noted", nil).want(w.t, 200)
}

// TestWhatAgentsNotedIsTold: each thing below what it is part of, and how much there is with the quest itself.
func TestWhatAgentsNotedIsTold(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{})
	s.related("noted", h.gate)
	var got struct {
		Nodes []struct {
			ID, Type, Description, Status string
			Depth                         int
		}
	}
	s.do("GET", "/api/quests/noted/relations", nil).want(t, 200).into(t, &got)
	var ids []string
	for _, n := range got.Nodes {
		ids = append(ids, n.ID)
	}
	if !slices.Equal(ids, []string{"plan", "s1", "log"}) || got.Nodes[1].Depth != 1 || got.Nodes[2].Depth != 0 || got.Nodes[1].Status != "done" {
		t.Errorf("the agent's notes are told as %+v", got.Nodes)
	}
	var d struct{ Related int }
	s.do("GET", "/api/quests/noted", nil).want(t, 200).into(t, &d)
	if d.Related != 3 {
		t.Errorf("a quest whose agent noted 3 things says that it noted %d", d.Related)
	}
}

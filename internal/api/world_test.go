package api_test

import (
	"context"
	"strings"
	"testing"

	"lyceum/internal/api"
)

// world is a server with quests of all societies, finished.
type world struct {
	*server
	gate  *gate
	paper string
	refs  []string // of all papers
	blob  string
	tree  string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{Model: "demo", Failures: 10_000, Upload: 30 << 20,
		Models: func(context.Context) ([]api.Offer, error) {
			return []api.Offer{{Name: "demo", Ready: true}, {Name: "far/one", Key: "FAR_KEY", Input: "1.00", Output: "2.00"}}, nil
		},
		Settings: func(context.Context) (*api.Settings, error) {
			return &api.Settings{File: "config.yaml", Settings: []api.Setting{{Key: "model", Value: "demo", Set: true, Source: "file", About: "x", Reader: "y"}}}, nil
		},
		Doctor: func(context.Context) (*api.Doctor, error) {
			return &api.Doctor{Healthy: true, Home: "h", Driver: "d", Findings: []api.Finding{{Section: "git", Name: "git", Status: "problem", Text: "none", Fix: "install it"}}}, nil
		}})
	s.finish("demo-number", "alone", "")
	s.finish("thermal", "net", "")
	s.lab("lab", "scholar")
	w := &world{server: s, gate: h.gate}
	var papers struct{ Papers []struct{ Ref string } }
	s.do("GET", "/api/quests/lab/papers", nil).want(t, 200).into(t, &papers)
	if len(papers.Papers) == 0 {
		t.Fatal("the lab has no papers")
	}
	w.paper = papers.Papers[0].Ref
	for _, p := range papers.Papers {
		w.refs = append(w.refs, p.Ref)
	}
	var list struct {
		Artifacts []struct {
			Kind, Hash string
			Tree       bool
		}
	}
	s.do("GET", "/api/quests/net/artifacts", nil).want(t, 200).into(t, &list)
	for _, a := range list.Artifacts {
		if a.Tree {
			w.tree = a.Hash
		} else {
			w.blob = a.Hash
		}
	}
	return w
}

// lab runs a lab to its end.
func (s *server) lab(name, model string) {
	s.t.Helper()
	s.do("POST", "/api/quests", map[string]any{"start": true, "spec": map[string]any{
		"name": name, "society": "lab", "agents": 3, "model": model, "computer": "none",
		"problem": "How many of the integers from 1 to 200,000 are squarefree?\n\nA number is squarefree if no square but 1 divides it.",
		"limits":  map[string]any{"turns": 60}, "tools": []string{"calculate", "write_file"},
	}}).want(s.t, 201)
	s.released(name)
}

// doubted runs a contract net that finds what it is asked for in one place alone: its auditor
// has doubts, and it plans again, as long as there is a researcher that was not asked.
func (s *server) doubted(name string) {
	s.t.Helper()
	s.do("POST", "/api/quests", map[string]any{"start": true, "spec": map[string]any{"name": name, "society": "contract", "corpus": "corpus", "audit": "strict",
		"task": "How hot does a battery cell get at 45 amperes?"},
		"files": []any{map[string]any{"path": "corpus/a.md", "text": "# Cells\n\nAt 45 amperes a battery cell gets 61 °C hot.\n\nThe battery of a clock lasts a year.\n"}}}).want(s.t, 201)
	s.released(name)
}

// path puts values into a pattern's path.
func (w *world) path(pattern, quest string) string {
	p := strings.Fields(pattern)[1]
	for name, value := range map[string]string{"quest": quest, "agent": "agent-0", "ref": w.paper, "hash": w.blob, "seq": "3", "task": "add", "message": "3", "artifact": "idea-1", "card": strings.Repeat("0", 32), "document": "brief.md", "job": "none", "study": "many"} {
		p = strings.ReplaceAll(p, "{"+name+"}", value)
	}
	return p
}

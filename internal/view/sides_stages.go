package view

import (
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
)

// Sides are two lines of work, or checkpoints of them, side by side.
type Sides struct {
	Base LineSide `json:"base"`
	Head LineSide `json:"head"`
	// Ahead counts the checkpoints that Head has and Base has not, Behind the others.
	Ahead  int64 `json:"ahead"`
	Behind int64 `json:"behind"`
	// Metrics are how the figures of the result of Head stand to those of Base, Lines the same in
	// words.
	Metrics []MetricStands `json:"metrics"`
	Lines   []string       `json:"lines"`
}

// LineSide is one of them.
type LineSide struct {
	Name string `json:"name"`
	// Head is its last checkpoint, 0 if there is none.
	Head   uint64 `json:"head,omitempty"`
	Result string `json:"result,omitempty"`
	// Tree is what it was recorded as.
	Tree *event.TreeRef `json:"-"`
}

// MetricStands is how a figure stands to another: better, worse, tie or not comparable.
type MetricStands struct {
	Metric  string `json:"metric"`
	Outcome string `json:"outcome"`
	Value   string `json:"value"`
	To      string `json:"to,omitempty"`
	Apart   string `json:"apart,omitempty"`
	Why     string `json:"why,omitempty"`
}

// Sides sets two lines of work side by side, each by its name, the id of its result, or the number
// of a checkpoint. It is nil if there is none of the name that missing says.
func (v *Views) Sides(s *quest.State, base, head string) (out *Sides, missing string) {
	m := studyOf(s)
	a, b := m.Side(base), m.Side(head)
	switch {
	case a == nil:
		return nil, base
	case b == nil:
		return nil, head
	}
	out = &Sides{Base: sideOf(m, a), Head: sideOf(m, b), Metrics: []MetricStands{}, Lines: m.CompareBranches(b.Name, a.Name)}
	out.Ahead, out.Behind = m.Ahead(b, a)
	if x, to := m.Result(out.Head.Result), m.Result(out.Base.Result); x != nil && to != nil {
		for _, c := range study.Contrast(x, to) {
			out.Metrics = append(out.Metrics, MetricStands{c.Metric, c.Outcome, c.Value, c.Other, c.Apart, c.Why})
		}
	}
	return out, ""
}

func sideOf(m *study.Study, b *study.Branch) LineSide {
	out := LineSide{Name: b.Name, Head: b.Head, Tree: m.Tree(b)}
	for _, r := range m.Results {
		if r.Branch == b.Name && b.Name != "" {
			out.Result = r.ID
		}
	}
	return out
}

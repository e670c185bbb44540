package view

import (
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

// BranchCanvas is the lines of work of a study as a graph.
type BranchCanvas struct {
	// Head is the last event that it tells of.
	Head    uint64        `json:"head"`
	Current string        `json:"current"`
	Nodes   []*BranchNode `json:"nodes"`
	Edges   []Edge        `json:"edges"`
	Views   BranchViews   `json:"views"`
}

// BranchViews are the lines of work by what one looks for: ideas and what came of them, or the
// analyses of results with what they analyse.
type BranchViews struct {
	Ideas    []string `json:"ideas"`
	Analysis []string `json:"analysis"`
}

// BranchNode is a line of work.
type BranchNode struct {
	Ref   string `json:"ref"`
	Label string `json:"label"`
	Kind  string `json:"branch_kind"`
	// Tier is 0 for main, 1 for ideas, runs and papers, 2 for what analyses them. Mode is idea
	// or analysis.
	Tier   int64  `json:"tier"`
	Mode   string `json:"mode"`
	Parent string `json:"parent_ref,omitempty"`
	// Base is what Ahead and Behind are against.
	Base    string `json:"compare_base,omitempty"`
	Current bool   `json:"current"`
	// Seq is the event that began it, Head its last checkpoint and Closed its result, 0 if
	// there is none.
	Seq     uint64     `json:"seq,omitempty"`
	Head    uint64     `json:"head,omitempty"`
	Closed  uint64     `json:"closed,omitempty"`
	Updated event.Time `json:"updated_at,omitzero"`
	// Subject is the first line of what its last checkpoint says.
	Subject  string        `json:"subject,omitempty"`
	Commits  int64         `json:"commit_count"`
	Ahead    int64         `json:"ahead"`
	Behind   int64         `json:"behind"`
	Run      string        `json:"run_id,omitempty"`
	RunKind  string        `json:"run_kind,omitempty"`
	Idea     string        `json:"idea_id,omitempty"`
	Worktree string        `json:"worktree_root"`
	Metric   *BranchMetric `json:"latest_metric,omitempty"`
	Summary  string        `json:"latest_summary,omitempty"`
	// Recent are the last things that were made there, the newest first.
	Recent []string `json:"recent_artifacts"`
}

// BranchMetric is the first figure of the result of a line of work, and how it stands.
type BranchMetric struct {
	event.Metric
	Result  string `json:"result"`
	Verdict string `json:"verdict,omitempty"`
	// Outcome is how it stands to the baseline, empty without one.
	Outcome string `json:"outcome,omitempty"`
}

// The kinds of edges of a study.
const (
	BranchOf   = "branch"
	Sequence   = "sequence"
	StageOrder = "stage"
	EvidenceOf = "evidence"
	DecidedBy  = "decision"
	Compares   = "compares"
	Supersedes = "supersedes"
)

// Trail is how a study came to what it has, empty where the quest's society has none.
func (v *Views) Trail() *Trail {
	if c, ok := v.society.(*conversing); ok {
		return &c.Trail
	}
	return &Trail{}
}

// studyOf is what a study knows, one that has not begun if the quest is none.
func studyOf(s *quest.State) *study.Study {
	if m := stages.Of(s); m != nil {
		return m.Study
	}
	return &study.Study{}
}

// Branches is the graph of a study's lines of work. It takes time by the number of branches,
// checkpoints and things.
func (v *Views) Branches(s *quest.State) *BranchCanvas {
	return branchCanvas(studyOf(s), v.Trail(), s.Seq)
}

func branchCanvas(m *study.Study, t *Trail, head uint64) *BranchCanvas {
	out := &BranchCanvas{Head: head, Current: m.Current, Nodes: []*BranchNode{}, Edges: []Edge{}, Views: BranchViews{[]string{}, []string{}}}
	byRef := map[string]*BranchNode{}
	depth := map[uint64]int64{}
	for i := range m.Checkpoints {
		depth[m.Checkpoints[i].Seq] = depth[m.Checkpoints[i].Parent] + 1
	}
	for _, b := range m.Branches {
		n := branchNode(m, b)
		if from := byRef[b.Parent]; from != nil {
			n.Base, n.Ahead, n.Behind = b.Parent, b.Count, depth[from.Head]-depth[b.From]
			out.Edges = append(out.Edges, studyEdge(b.Seq, BranchOf, b.Parent, b.Name))
		}
		byRef[b.Name], out.Nodes = n, append(out.Nodes, n)
	}
	for _, x := range t.Things {
		if n := byRef[x.Branch]; n != nil {
			n.holds(x)
		}
	}
	for _, n := range out.Nodes { // what came of an idea is of that idea
		if from := byRef[n.Parent]; from != nil && n.Idea == "" {
			n.Idea = from.Idea
		}
	}
	base := m.Baseline()
	for _, r := range m.Results {
		if n := byRef[r.Branch]; n != nil {
			n.Run, n.RunKind, n.Metric = r.ID, r.Kind, branchMetric(r, base)
			if base != nil && base != r && base.Branch != "" && r.Kind != study.ResultSlice {
				out.Edges = append(out.Edges, studyEdge(r.Seq, Compares, r.Branch, base.Branch))
			}
		}
	}
	out.Views.sort(out.Nodes, byRef)
	return out
}

// branchNode is what the line of work itself says.
func branchNode(m *study.Study, b *study.Branch) *BranchNode {
	n := &BranchNode{
		Ref: b.Name, Label: b.Name[strings.LastIndexByte(b.Name, '/')+1:], Kind: b.Kind, Tier: 1, Mode: "idea", Parent: b.Parent, Current: b.Name == m.Current,
		Seq: b.Seq, Head: b.Head, Closed: b.Closed, Updated: b.Time, Commits: b.Count, Worktree: b.Folder(), Recent: []string{},
	}
	switch b.Kind {
	case study.KindMain:
		n.Tier = 0
	case study.KindAnalysis:
		n.Tier, n.Mode = 2, "analysis"
	}
	if c := m.Checkpoint(b.Head); c != nil {
		first, _, _ := strings.Cut(c.Message, "\n")
		n.Subject = plain.Unmarked(event.Cut(first, maxLabel))
		if c.Branch == b.Name {
			n.Updated = c.Time
		}
	}
	return n
}

// maxRecent is how many things a line of work names.
const maxRecent = 5

// holds notes a thing that was made in a line of work. They come in order.
func (n *BranchNode) holds(x *Thing) {
	n.Recent = slices.Insert(n.Recent, 0, x.ID)
	n.Recent = n.Recent[:min(len(n.Recent), maxRecent)]
	n.Updated = max(n.Updated, x.Time)
	if x.Summary != "" {
		n.Summary = x.Summary
	}
	if x.Kind == study.KindIdea {
		n.Idea = x.ID
	}
}

// branchMetric is the first figure of a result, which is what it is about.
func branchMetric(r, base *study.Result) *BranchMetric {
	if len(r.Metrics) == 0 {
		return nil
	}
	out := &BranchMetric{Metric: r.Metrics[0], Result: r.ID, Verdict: r.Verdict}
	if base != nil && base != r {
		out.Outcome = study.Contrast(r, base)[0].Outcome
	}
	return out
}

// sort fills the views: an analysis is shown with what it analyses.
func (v *BranchViews) sort(nodes []*BranchNode, byRef map[string]*BranchNode) {
	seen := map[string]bool{}
	for _, n := range nodes {
		if n.Mode == "idea" {
			v.Ideas = append(v.Ideas, n.Ref)
			continue
		}
		for _, ref := range []string{n.Parent, n.Ref} {
			if byRef[ref] != nil && !seen[ref] {
				seen[ref] = true
				v.Analysis = append(v.Analysis, ref)
			}
		}
	}
}

func studyEdge(seq uint64, kind, from, to string) Edge {
	return Edge{ID: kind + ":" + from + ":" + to, From: from, To: to, Kind: kind, Seq: seq}
}

package view

import (
	"cmp"
	"slices"
	"strconv"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
)

// TraceCanvas is what a study has come to as a graph: a node for each thing, and one for each
// stage of each line of work. Edges say what follows what, and what rests on what.
type TraceCanvas struct {
	Head      uint64       `json:"head"`
	Events    []*EventNode `json:"events"`
	Stages    []*StageNode `json:"stages"`
	Edges     []Edge       `json:"edges"`
	Truncated bool         `json:"truncated"`
}

// EventNode is a thing that a study has come to, or a run that is still open.
type EventNode struct {
	Ref    string `json:"selection_ref"`
	Title  string `json:"title"`
	Kind   string `json:"kind"`
	Branch string `json:"branch"`
	Stage  string `json:"stage"`
	// Path is the folder of its line of work.
	Path     string       `json:"path"`
	Artifact *ArtifactRef `json:"artifact,omitempty"`
	Actions  []Action     `json:"actions"`
	Summary  string       `json:"summary,omitempty"`
	Counts   Counts       `json:"counts"`
	Seq      uint64       `json:"seq"`
	Last     uint64       `json:"last"`
	Updated  event.Time   `json:"updated_at"`
	Head     uint64       `json:"head,omitempty"`
	Changed  []string     `json:"changed_files"`
	// Open says that it is a run without a result.
	Open bool `json:"open"`
}

// ArtifactRef names what a node is of. Verdict is that of a decision, or of a result that was
// run again.
type ArtifactRef struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Verdict string `json:"verdict,omitempty"`
}

// StageNode is what was made at one stage in one line of work. Decisions are not a stage: each
// belongs to the one that the study was at.
type StageNode struct {
	Ref       string     `json:"selection_ref"`
	Title     string     `json:"title"`
	Branch    string     `json:"branch"`
	Stage     string     `json:"stage"`
	First     uint64     `json:"first"`
	Last      uint64     `json:"last"`
	Updated   event.Time `json:"updated_at"`
	Events    []string   `json:"events"`
	Decisions []string   `json:"decisions"`
	Summary   string     `json:"summary,omitempty"`
	Counts    Counts     `json:"counts"`
	Changed   []string   `json:"changed_files"`
	Current   bool       `json:"current"`
}

// TraceQuery says which part of the graph is wanted; what is empty does not matter.
type TraceQuery struct {
	// View is event or stage.
	View, Branch, Stage string
	// Max is how many events are told of.
	Max int
}

// maxShownActions is how many actions a node shows in the graph; Trace has all that are kept.
const maxShownActions = 8

// Traces is the graph. It takes time by the number of things and what they rest on.
func (v *Views) Traces(s *quest.State, q TraceQuery) *TraceCanvas {
	return traceCanvas(studyOf(s), v.Trail(), s.Seq, q)
}

func traceCanvas(m *study.Study, t *Trail, head uint64, q TraceQuery) *TraceCanvas {
	out := &TraceCanvas{Head: head, Events: []*EventNode{}, Stages: []*StageNode{}, Edges: []Edge{}}
	all := newTracer(m, t)
	for _, n := range all.nodes {
		switch {
		case q.Branch != "" && n.Branch != q.Branch, q.Stage != "" && n.Stage != q.Stage:
		case q.Max > 0 && len(out.Events) == q.Max:
			out.Truncated = true
		default:
			out.Events = append(out.Events, n)
		}
	}
	if q.View != "event" {
		out.Stages = stageNodes(out.Events, m)
	}
	there := map[string]bool{}
	for _, n := range out.Events {
		there[n.Ref] = true
	}
	if q.View != "stage" {
		for _, x := range all.edges() {
			if there[x.From] && there[x.To] {
				out.Edges = append(out.Edges, x)
			}
		}
	} else {
		out.Events = []*EventNode{}
	}
	last := map[string]string{}
	for _, n := range out.Stages {
		if from := last[n.Branch]; from != "" {
			out.Edges = append(out.Edges, studyEdge(n.First, StageOrder, from, n.Ref))
		}
		last[n.Branch] = n.Ref
	}
	for _, n := range out.Events {
		n.Actions = n.Actions[max(0, len(n.Actions)-maxShownActions):]
	}
	return out
}

// Trace is one node, by its reference, with all of its actions; nil if there is none. Seq is the
// event that it is of.
func (v *Views) Trace(s *quest.State, ref string) *EventNode {
	all := newTracer(studyOf(s), v.Trail())
	if i := slices.IndexFunc(all.nodes, func(n *EventNode) bool { return n.Ref == ref }); i >= 0 {
		return all.nodes[i]
	}
	return nil
}

// Stage is one stage node, by its reference; nil if there is none.
func (v *Views) Stage(s *quest.State, ref string) *StageNode {
	m := studyOf(s)
	list := stageNodes(newTracer(m, v.Trail()).nodes, m)
	if i := slices.IndexFunc(list, func(n *StageNode) bool { return n.Ref == ref }); i >= 0 {
		return list[i]
	}
	return nil
}

// tracer makes the graph of things.
type tracer struct {
	study  *study.Study
	things []*Thing
	nodes  []*EventNode
	// byID, bySeq and byBranch find nodes: by what they are of, by the events that made or
	// judged that, and by line of work, in order.
	byID     map[string]*EventNode
	bySeq    map[uint64]*EventNode
	byBranch map[string][]*EventNode
}

func newTracer(m *study.Study, t *Trail) *tracer {
	x := &tracer{study: m, things: t.Things, byID: map[string]*EventNode{}, bySeq: map[uint64]*EventNode{}, byBranch: map[string][]*EventNode{}}
	folder := map[string]*study.Branch{}
	for _, b := range m.Branches {
		folder[b.Name] = b
	}
	verdicts := map[string]string{}
	for _, a := range m.Artifacts {
		verdicts[a.ID] = a.Verdict
	}
	for _, r := range m.Results {
		verdicts[r.ID] = r.Verdict
	}
	for _, h := range t.Things {
		n := &EventNode{
			Ref: "event:" + h.ID, Title: h.Title, Kind: h.Kind, Branch: h.Branch, Stage: h.Stage, Artifact: &ArtifactRef{h.ID, h.Kind, verdicts[h.ID]},
			Actions: append([]Action{}, h.Actions...), Summary: h.Summary, Counts: h.Counts, Seq: h.Seq, Last: h.Last, Updated: h.Time, Head: h.Head, Changed: append([]string{}, h.Changed...),
		}
		x.put(n, folder[h.Branch])
		x.byID[h.ID] = n
	}
	for _, r := range m.Results {
		if n := x.byID[r.ID]; n != nil && r.Run != 0 {
			x.bySeq[r.Run] = n
		}
	}
	for _, b := range m.Branches {
		if b.Closed == 0 && (b.Kind == study.KindRun || b.Kind == study.KindAnalysis) {
			x.put(x.open(b, t), b)
			slices.SortStableFunc(x.byBranch[b.Name], func(a, b *EventNode) int { return cmp.Compare(a.Seq, b.Seq) })
		}
	}
	return x
}

func (x *tracer) put(n *EventNode, b *study.Branch) {
	if b != nil {
		n.Path = b.Folder()
	}
	x.nodes, x.bySeq[n.Seq], x.byBranch[n.Branch] = append(x.nodes, n), n, append(x.byBranch[n.Branch], n)
}

// open is a run without a result. What was done since the last thing was done for it, if the
// researcher is there.
func (x *tracer) open(b *study.Branch, t *Trail) *EventNode {
	stage := study.Experiment
	if b.Kind == study.KindAnalysis {
		stage = study.Campaign
	}
	n := &EventNode{
		Ref: "open:" + b.Name, Title: b.Name, Kind: study.KindRun, Branch: b.Name, Stage: stage, Actions: []Action{}, Seq: b.Seq, Last: max(b.Seq, b.Head),
		Updated: b.Time, Head: b.Head, Changed: []string{}, Open: true,
	}
	if c := x.study.Checkpoint(b.Head); c != nil && c.Branch == b.Name {
		n.Updated = c.Time
	}
	if b.Name == x.study.Current {
		n.Stage = x.study.Anchor
		n.Actions, n.Counts, n.Changed = append(n.Actions, t.Doing.Actions...), t.Doing.Counts, append(n.Changed, t.Doing.Changed...)
	}
	return n
}

// edges are those between things: by seq, and by recorded ids.
func (x *tracer) edges() (out []Edge) {
	seen := map[string]bool{}
	join := func(seq uint64, kind string, from, to *EventNode) {
		if from == nil || to == nil || from == to {
			return
		}
		if e := studyEdge(seq, kind, from.Ref, to.Ref); !seen[e.ID] {
			seen[e.ID] = true
			out = append(out, e)
		}
	}
	for _, b := range x.study.Branches {
		own := x.byBranch[b.Name]
		for i := 1; i < len(own); i++ {
			join(own[i].Seq, Sequence, own[i-1], own[i])
		}
		if len(own) > 0 {
			join(b.Seq, BranchOf, before(x.byBranch[b.Parent], b.Seq), own[0])
		}
	}
	for _, h := range x.things {
		for _, id := range h.Because {
			from := x.named(id)
			kind := EvidenceOf
			if from != nil && from.Kind == study.KindDecision {
				kind = DecidedBy
			}
			join(h.Seq, kind, from, x.byID[h.ID])
		}
		if h.Old != "" {
			join(h.Seq, Supersedes, x.byID[h.ID], x.byID[h.Old])
		}
	}
	accepted := x.accepted()
	for _, r := range x.study.Results {
		if r.Accepted == 0 && r.Kind != study.ResultSlice {
			join(r.Seq, Compares, x.byID[r.ID], x.byID[standing(accepted, r.Seq)])
		}
	}
	return out
}

// named is what an id or the number of an event names, nil if it is nothing that is drawn.
func (x *tracer) named(id string) *EventNode {
	if n := x.byID[id]; n != nil {
		return n
	}
	if seq, err := strconv.ParseUint(id, 10, 64); err == nil {
		return x.bySeq[seq]
	}
	return nil
}

// accepted are the results that are baselines, in the order in which they became that.
func (x *tracer) accepted() (out []*study.Result) {
	for _, r := range x.study.Results {
		if r.Accepted != 0 {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b *study.Result) int { return cmp.Compare(a.Accepted, b.Accepted) })
	return out
}

// standing is the baseline that was accepted when an event was recorded, else the first one.
func standing(accepted []*study.Result, seq uint64) string {
	if len(accepted) == 0 {
		return ""
	}
	id := accepted[0].ID
	for _, b := range accepted {
		if b.Accepted < seq {
			id = b.ID
		}
	}
	return id
}

// before is the last of some nodes that was there before an event.
func before(list []*EventNode, seq uint64) (last *EventNode) {
	i, _ := slices.BinarySearchFunc(list, seq, func(n *EventNode, seq uint64) int {
		if n.Seq < seq {
			return -1
		}
		return 1
	})
	if i > 0 {
		last = list[i-1]
	}
	return last
}

// stageNodes are things by line of work and stage, in the order in which the first of each came.
func stageNodes(events []*EventNode, m *study.Study) []*StageNode {
	out := []*StageNode{}
	byRef := map[string]*StageNode{}
	files := map[string]map[string]bool{}
	for _, n := range events {
		ref := "stage:" + n.Branch + ":" + n.Stage
		g := byRef[ref]
		if g == nil {
			g = &StageNode{Ref: ref, Title: n.Stage + " on " + n.Branch, Branch: n.Branch, Stage: n.Stage, First: n.Seq, Events: []string{}, Decisions: []string{}, Changed: []string{}, Current: n.Branch == m.Current && n.Stage == m.Anchor}
			byRef[ref], files[ref], out = g, map[string]bool{}, append(out, g)
		}
		g.First, g.Last, g.Updated = min(g.First, n.Seq), max(g.Last, n.Last), max(g.Updated, n.Updated)
		g.Counts = Counts{g.Counts.Actions + n.Counts.Actions, g.Counts.Files + n.Counts.Files, g.Counts.Commands + n.Counts.Commands}
		if n.Summary != "" {
			g.Summary = n.Summary
		}
		if n.Kind == study.KindDecision {
			g.Decisions = append(g.Decisions, n.Ref)
		} else {
			g.Events = append(g.Events, n.Ref)
		}
		for _, path := range n.Changed {
			if !files[ref][path] && len(g.Changed) < maxTrailFiles {
				files[ref][path] = true
				g.Changed = append(g.Changed, path)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *StageNode) int { return cmp.Compare(a.First, b.First) })
	return out
}

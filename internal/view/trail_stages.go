package view

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/society/stages/study"
)

// Trail is how a study came to what it has: for each thing what was done before it, and what the
// study itself does not remember. It grows event by event; encoding/json shows all of it.
type Trail struct {
	// Things are what the study has come to, in the order of their events.
	Things []*Thing `json:",omitempty"`
	// Doing is what was done since the last of them.
	Doing Deeds `json:",omitzero"`
	// Flow are the events that a workflow tells of, Files the last that changed.
	Flow  []uint64      `json:",omitempty"`
	Files []ChangedFile `json:",omitempty"`
	// Revisions are those of cards, by id.
	Revisions map[string][]CardRevision `json:",omitempty"`
	Threads   []*Thread                 `json:",omitempty"`
	// Calls are what runs that are under way are of.
	Calls map[uint64]string `json:",omitempty"`
}

// Thing is something that a study has come to: an artifact, a result, a campaign, what it said to
// people, an outline, a paper or a review.
type Thing struct {
	ID    string
	Kind  string
	Title string
	// Branch and Stage are where the study was, Head is the last checkpoint there.
	Branch, Stage string
	Head          uint64 `json:",omitzero"`
	Seq           uint64
	// Last is the event that last changed it.
	Last    uint64
	Time    event.Time
	Summary string `json:",omitzero"`
	// Because are ids and events that it rests on, Old is the thing that it takes the place of.
	Because []string `json:",omitempty"`
	Old     string   `json:",omitzero"`
	Deeds
}

// Deeds are what was done on the way to something.
type Deeds struct {
	// Actions are the last calls of tools, Changed the first files that changed.
	Actions []Action `json:",omitempty"`
	Changed []string `json:",omitempty"`
	Counts  Counts
}

// Action is a call of a tool.
type Action struct {
	Seq  uint64 `json:"seq"`
	Tool string `json:"tool"`
}

// Counts say how much was done.
type Counts struct {
	Actions  int64 `json:"actions"`
	Files    int64 `json:"files"`
	Commands int64 `json:"commands"`
}

// ChangedFile is a file of the researcher's home that changed, or a document of the quest's folder.
type ChangedFile struct {
	Path string     `json:"path"`
	Kind string     `json:"kind"`
	Seq  uint64     `json:"seq,omitempty"`
	Time event.Time `json:"time,omitzero"`
}

// CardRevision is one of a card.
type CardRevision struct {
	Revision int64      `json:"revision"`
	Seq      uint64     `json:"seq"`
	Time     event.Time `json:"time"`
	Title    string     `json:"title"`
}

// Bounds of what is kept for each thing, and of the files and threads of a study.
const (
	maxActions      = 40
	maxTrailFiles   = 40
	maxChangedFiles = 100
	maxThreads      = 200
)

// take adds the next event; m is what the study knows after it.
func (t *Trail) take(e event.Event, m *study.Study) {
	t.flow(e)
	t.talk(e)
	switch b := e.Body.(type) {
	case *event.ToolCall:
		t.Doing.Counts.Actions++
		t.Doing.Actions = append(t.Doing.Actions, Action{e.Seq, e.Tool})
		if n := len(t.Doing.Actions) - maxActions; n > 0 {
			t.Doing.Actions = slices.Delete(t.Doing.Actions, 0, n)
		}
	case *event.CliRun:
		t.Doing.Counts.Commands++
	case *event.FileDiff:
		t.changed(e, b)
	case *event.CardWritten:
		if t.Revisions == nil {
			t.Revisions = map[string][]CardRevision{}
		}
		t.Revisions[b.ID] = append(t.Revisions[b.ID], CardRevision{b.Revision, e.Seq, e.Time, b.Title})
	case *event.ReproductionCall:
		if t.Calls == nil {
			t.Calls = map[uint64]string{}
		}
		t.Calls[e.Seq] = b.Ref
	case *event.ReproductionResult:
		t.touch(t.Calls[b.Call], e)
		delete(t.Calls, b.Call)
	case *event.BaselineAccepted:
		t.touch(b.Result, e)
	default:
		t.made(e, m)
	}
}

// made adds what an event says that the study has come to.
func (t *Trail) made(e event.Event, m *study.Study) {
	switch b := e.Body.(type) {
	case *event.ArtifactRecorded:
		t.add(e, m, b.Branch, Thing{ID: b.ID, Kind: b.Kind, Title: b.Title, Summary: study.Summary(b.Text.Text), Because: b.Because, Old: b.Supersedes})
	case *event.ResultRecorded:
		x := Thing{ID: b.ID, Kind: study.KindRun, Title: b.Title, Summary: study.Summary(b.Summary), Because: b.Because}
		if b.Kind == study.ResultBaseline {
			x.Kind = study.KindBaseline
		}
		if b.Campaign != "" {
			x.Because = append([]string{b.Campaign}, b.Because...)
		}
		t.add(e, m, b.Branch, x)
	case *event.BaselineResult:
		if r := m.ResultAt(e.Seq); r != nil {
			t.add(e, m, "", Thing{ID: r.ID, Kind: study.KindBaseline, Title: r.Title})
		}
	case *event.CampaignCreated:
		branch := ""
		if r := m.Result(b.Result); r != nil {
			branch = r.Branch
		}
		t.add(e, m, branch, Thing{ID: b.ID, Kind: "campaign", Title: Several(int64(len(b.Slices)), "question") + " about " + b.Result, Summary: study.Summary(b.Reason), Because: []string{b.Result}})
	case *event.InteractSaid:
		kind := b.Kind
		switch kind {
		case study.Approval:
			kind = study.KindApproval
		case study.Request:
			kind = "question"
		}
		t.add(e, m, "", Thing{ID: fmt.Sprintf("said-%d", e.Seq), Kind: kind, Title: event.Cut(study.Summary(b.Text.Text), maxLabel), Summary: study.Summary(b.Text.Text)})
	default:
		t.wrote(e, m)
	}
}

// wrote adds what belongs to a paper.
func (t *Trail) wrote(e event.Event, m *study.Study) {
	switch b := e.Body.(type) {
	case *event.OutlineSubmitted:
		x := Thing{ID: b.ID, Kind: "outline", Title: b.Title, Summary: Several(int64(len(b.Claims)), "claim"), Because: slices.Clone(b.Because), Old: b.Supersedes}
		for _, c := range b.Claims {
			x.Because = append(x.Because, c.Results...)
		}
		t.add(e, m, "", x)
	case *event.PaperSubmitted:
		x := Thing{ID: paperID(b.ID, b.Revision), Kind: study.KindPaper, Title: b.Title, Because: []string{b.Outline}}
		if b.Revision > 1 {
			x.Old = paperID(b.ID, b.Revision-1)
		}
		failing := int64(0)
		for _, r := range b.Checklist {
			if !r.Holds {
				failing++
			}
		}
		x.Summary = fmt.Sprintf("Revision %d; %d of %s of its checklist hold.", b.Revision, int64(len(b.Checklist))-failing, Several(int64(len(b.Checklist)), "item"))
		t.add(e, m, "", x)
	case *event.ReviewGiven:
		t.add(e, m, "", Thing{ID: fmt.Sprintf("review-%d", e.Seq), Kind: "review", Title: fmt.Sprintf("Review %d of %s: %s", b.Round, b.Paper, Several(int64(len(b.Points)), "point")), Summary: study.Summary(b.Summary), Because: []string{t.lastPaper(b.Paper)}})
	}
}

// paperID names a revision of a paper; the first one is the paper.
func paperID(id string, revision int64) string {
	if revision <= 1 {
		return id
	}
	return fmt.Sprintf("%s.%d", id, revision)
}

// lastPaper is the last revision of a paper.
func (t *Trail) lastPaper(id string) string {
	for _, x := range slices.Backward(t.Things) {
		if x.Kind == study.KindPaper && (x.ID == id || len(x.ID) > len(id) && x.ID[:len(id)+1] == id+".") {
			return x.ID
		}
	}
	return id
}

// add adds a thing, with all that was done since the last one.
func (t *Trail) add(e event.Event, m *study.Study, branch string, x Thing) {
	if branch == "" {
		branch = m.Current
	}
	x.Branch, x.Stage, x.Seq, x.Last, x.Time, x.Deeds = branch, m.Anchor, e.Seq, e.Seq, e.Time, t.Doing
	if b := m.Branch(branch); b != nil {
		x.Head = b.Head
	}
	t.Things, t.Doing = append(t.Things, &x), Deeds{}
}

// touch notes that an event has changed a thing.
func (t *Trail) touch(id string, e event.Event) {
	for _, x := range slices.Backward(t.Things) {
		if x.ID == id {
			x.Last, x.Time = e.Seq, e.Time
			return
		}
	}
}

// changed notes the files that changed, those that nobody's call changed too.
func (t *Trail) changed(e event.Event, b *event.FileDiff) {
	t.Doing.Counts.Files += int64(len(b.Changes)) + b.More
	for _, c := range b.Changes {
		if len(t.Doing.Changed) < maxTrailFiles && !slices.Contains(t.Doing.Changed, c.Path) {
			t.Doing.Changed = append(t.Doing.Changed, c.Path)
		}
		t.Files = slices.DeleteFunc(t.Files, func(f ChangedFile) bool { return f.Path == c.Path })
		t.Files = append(t.Files, ChangedFile{c.Path, "file", e.Seq, e.Time})
	}
	if n := len(t.Files) - maxChangedFiles; n > 0 {
		t.Files = slices.Delete(t.Files, 0, n)
	}
}

// flow notes the events that a workflow tells of.
func (t *Trail) flow(e event.Event) {
	if flowKind(e.Body) != "" {
		t.Flow = append(t.Flow, e.Seq)
	}
}

// flowKind is what an event is in a workflow, empty if it is not part of one.
func flowKind(b event.Body) string {
	switch b.(type) {
	case *event.SittingBegun, *event.SittingEnded:
		return "sitting"
	case *event.ToolCall:
		return "tool"
	case *event.ArtifactRecorded, *event.ResultRecorded, *event.CampaignCreated, *event.OutlineSubmitted, *event.PaperSubmitted, *event.ReviewGiven:
		return "artifact"
	case *event.BranchPrepared, *event.BranchActivated:
		return "branch"
	case *event.CheckpointMade:
		return "checkpoint"
	case *event.AnchorMoved:
		return KindMove
	case *event.BaselineAccepted, *event.BaselineWaived:
		return "baseline"
	case *event.CardWritten, *event.CardPromoted:
		return "memory"
	}
	return ""
}

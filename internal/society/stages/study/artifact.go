package study

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// The kinds of artifacts; idea and run are also kinds of lines of work.
const (
	KindBaseline  = "baseline"
	KindDecision  = "decision"
	KindProgress  = "progress"
	KindAnswer    = "answer"
	KindMilestone = "milestone"
	KindReport    = "report"
	KindApproval  = "approval"
	KindGraph     = "graph"
)

// ArtifactKinds and Verdicts of decisions are all of them.
var (
	ArtifactKinds = []string{KindBaseline, KindIdea, KindDecision, KindProgress, KindAnswer, KindMilestone, KindRun, KindReport, KindApproval, KindGraph}
	Verdicts      = []string{"good", "bad", "neutral", "open"}
)

// Artifact is something that a study has come to. Its id is its kind and a number.
type Artifact struct {
	ID, Kind, Title string
	Seq             uint64
	Time            event.Time
	Stage           string
	Branch          string   `json:",omitzero"`
	Summary         string   `json:",omitzero"`
	Verdict         string   `json:",omitzero"`
	Action          string   `json:",omitzero"`
	Because         []string `json:",omitempty"`
	// Replaced is the artifact that took its place.
	Replaced string `json:",omitzero"`
}

// NewID is the id of the next thing of a kind: an artifact, a result or a campaign.
func (s *Study) NewID(kind string) string { return fmt.Sprintf("%s-%d", kind, s.Counts[kind]+1) }

// count takes in that there is one more of a kind, by that id.
func (s *Study) count(kind, id string) {
	if id != s.NewID(kind) {
		panic(fmt.Sprintf("the next %s is %s, and not %.40q", kind, s.NewID(kind), id))
	}
	if s.Counts == nil {
		s.Counts = map[string]int64{}
	}
	s.Counts[kind]++
}

// Artifact is the one of that id, nil if there is none.
func (s *Study) Artifact(id string) *Artifact {
	return byID(s.Artifacts, id, func(a *Artifact) string { return a.ID })
}

// byID finds the newest of a list first: that is what is asked for most.
func byID[T any](list []*T, id string, of func(*T) string) *T {
	for _, x := range slices.Backward(list) {
		if of(x) == id {
			return x
		}
	}
	return nil
}

// Exists reports whether there is something of that id: an artifact, a result, a campaign, an
// outline, a paper, a card, or an event before seq.
func (s *Study) Exists(id string, seq uint64) bool {
	n, err := strconv.ParseUint(id, 10, 64)
	return s.Artifact(id) != nil || s.Result(id) != nil || s.Campaign(id) != nil || s.Card(id) != nil || s.isWritten(id) || err == nil && len(id) <= 15 && id[0] != '0' && n < seq
}

// isWritten reports whether an outline or a paper has that id.
func (s *Study) isWritten(id string) bool {
	return byID(s.Outlines, id, func(o *Outline) string { return o.ID }) != nil || byID(s.Papers, id, func(p *Paper) string { return p.ID }) != nil
}

// rests panics if something rests on what is not there.
func (s *Study) rests(e event.Event, because []string) {
	for _, id := range because {
		if !s.Exists(id, e.Seq) {
			panic(fmt.Sprintf("%s rests on %.40q, which is not there", e.Type, id))
		}
	}
}

// MayRecord says what is missing of an artifact.
func (s *Study) MayRecord(b *event.ArtifactRecorded) error {
	old := s.Artifact(b.Supersedes)
	switch decides := b.Kind == KindDecision; {
	case !slices.Contains(ArtifactKinds, b.Kind):
		return fmt.Errorf("there is no kind %.40q of artifacts", b.Kind)
	case decides && !slices.Contains(Verdicts, b.Verdict):
		return errors.New("a decision has a verdict: good, bad, neutral or open")
	case decides && b.Action == "":
		return errors.New("a decision has an action: what follows from it")
	case decides && len(b.Because) == 0:
		return errors.New("a decision says what it rests on: because has ids of artifacts, results and cards, and numbers of events")
	case !decides && (b.Verdict != "" || b.Action != ""):
		return errors.New("only a decision has a verdict and an action")
	case b.Supersedes == "":
	case old == nil || old.Kind != b.Kind:
		return fmt.Errorf("there is no %s %.40q that it could take the place of", b.Kind, b.Supersedes)
	case old.Replaced != "":
		return fmt.Errorf("%s has taken the place of %s already", old.Replaced, old.ID)
	}
	return nil
}

// recorded takes in an artifact.
func (s *Study) recorded(e event.Event, b *event.ArtifactRecorded) {
	if err := s.MayRecord(b); err != nil {
		panic("artifact.recorded: " + err.Error())
	}
	s.rests(e, b.Because)
	s.count(b.Kind, b.ID)
	if b.Answer != 0 {
		s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	}
	if old := s.Artifact(b.Supersedes); old != nil {
		old.Replaced = b.ID
	}
	s.Artifacts = append(s.Artifacts, &Artifact{
		ID: b.ID, Kind: b.Kind, Title: b.Title, Seq: e.Seq, Time: e.Time, Stage: s.Anchor, Branch: b.Branch, Summary: Summary(b.Text.Text),
		Verdict: b.Verdict, Action: b.Action, Because: b.Because,
	})
}

// Line is an artifact as it is shown.
func (a *Artifact) Line() string {
	line := a.ID
	if a.Verdict != "" {
		line += ", " + a.Verdict
	}
	line += ": " + quote(a.Title, 100)
	if a.Action != "" {
		line += ", so " + quote(a.Action, 100)
	}
	if a.Replaced != "" {
		line += " (" + a.Replaced + " took its place)"
	}
	return line
}

// ArtifactAt, ResultAt and CampaignAt are what an event made, nil if it made no such thing.
func (s *Study) ArtifactAt(seq uint64) *Artifact {
	return madeAt(s.Artifacts, seq, func(a *Artifact) uint64 { return a.Seq })
}
func (s *Study) ResultAt(seq uint64) *Result {
	return madeAt(s.Results, seq, func(r *Result) uint64 { return r.Seq })
}
func (s *Study) CampaignAt(seq uint64) *Analysis {
	return madeAt(s.Campaigns, seq, func(c *Analysis) uint64 { return c.Seq })
}

func madeAt[T any](list []*T, seq uint64, of func(*T) uint64) *T {
	for _, x := range slices.Backward(list) {
		if of(x) == seq {
			return x
		}
	}
	return nil
}

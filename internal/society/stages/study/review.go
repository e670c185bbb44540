package study

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/workspace"
)

// Reviewing is a round of reviews under way.
type Reviewing struct {
	Agent    string
	Seq      uint64
	Paper    string
	Revision int64
	Round    int64
	// Reminded counts how often the reviewer was told to hand its review in.
	Reminded int64 `json:",omitzero"`
}

// Review is what was said of a paper. Its points stand by themselves.
type Review struct {
	Seq             uint64
	Round           int64
	Paper           string `json:",omitzero"`
	Revision        int64  `json:",omitzero"`
	Source, Summary string
	Points          int64 `json:",omitzero"`
}

// Point is something that a reviewer finds wrong.
type Point struct {
	Number   int64
	Severity string
	Text     string
	Round    int64
	// Paper and Revision are what it was said of, empty and 0 for one of before.
	Paper    string `json:",omitzero"`
	Revision int64  `json:",omitzero"`
	// How is what was done about it, empty while it is open; Answer says more.
	How, Answer string   `json:",omitzero"`
	Because     []string `json:",omitempty"`
}

// What is done about a point. A warning is what two rounds have left.
const (
	Mended   = "mended"
	Sliced   = "slice"
	Rebutted = "rebutted"
	Warning  = "warning"
)

// Hows are what a researcher does, Severities how bad a point is.
var (
	Hows       = []string{Mended, Sliced, Rebutted}
	Severities = []string{"major", "minor"}
)

// SourceReviewer is where a review comes from that is not in materials.
const SourceReviewer = "reviewer"

// Bounds of reviews. MaxReminders is how often a reviewer is told to hand its review in.
const (
	MaxRounds    = 2
	MaxPoints    = 12
	MaxPoint     = 900
	MaxSummary   = 2000
	MaxReminders = 2
)

// Due is the paper that is to be reviewed next, nil if none is: its checklist holds, nobody has
// read this revision, and there is a round left.
func (s *Study) Due() *Paper {
	p := s.Paper()
	switch {
	case p == nil || s.Reviewed != nil || !s.Reads():
		return nil
	case s.Unreviewed == p.Seq || len(s.Unmet(p)) > 0:
		return nil
	case slices.ContainsFunc(s.Reviews, func(r Review) bool {
		return r.Source == SourceReviewer && r.Paper == p.ID && r.Revision == p.Revision
	}):
		return nil
	}
	return p
}

// Reads reports whether the next paper that holds is given to a reviewer.
func (s *Study) Reads() bool {
	return s.Reviewer && s.Rounds < MaxRounds && !s.isWaived(ItemReview)
}

// reviewOver reports whether the review of the paper is: there is nobody who reads it, a person
// has waived it, or all points are answered, or two rounds have passed.
func (s *Study) reviewOver() bool {
	switch {
	case !s.Reviewer || s.isWaived(ItemReview):
		return true
	case s.Reviewed != nil || s.Due() != nil:
		return false
	case s.Rounds >= MaxRounds:
		return true
	}
	return s.Rounds > 0 && len(s.OpenPoints()) == 0 && s.Unreviewed != s.Paper().Seq
}

// reviewing takes in that a paper is read.
func (s *Study) reviewing(e event.Event, b *event.ReviewBegun) {
	p := s.Due()
	if p == nil || b.Paper != p.ID || b.Revision != p.Revision || b.Round != s.Rounds+1 || !sameText(b.Text, p.Text) {
		panic(fmt.Sprintf("review.begun: round %d of %.40q is not due", b.Round, b.Paper))
	}
	s.Reviewed = &Reviewing{Agent: e.Actor, Seq: e.Seq, Paper: p.ID, Revision: p.Revision, Round: b.Round}
}

func sameText(a, b event.Text) bool {
	return a.Text == b.Text && (a.Ref == b.Ref || a.Ref != nil && b.Ref != nil && *a.Ref == *b.Ref)
}

// MayReview says why such a review cannot be given by somebody.
func (s *Study) MayReview(by string, b *event.ReviewGiven) error {
	r := s.Reviewed
	switch own := b.Source == SourceReviewer; {
	case own && (r == nil || r.Agent != by || b.Paper != r.Paper || b.Round != r.Round):
		return errors.New("no such review is asked for")
	case own && b.Error != "":
		return nil
	case !own && (r != nil || s.Rounds >= MaxRounds || b.Round != s.Rounds+1 || b.Paper != s.paperID() || b.Error != ""):
		return fmt.Errorf("there are %d rounds of reviews, one at a time, and %d have passed", MaxRounds, s.Rounds)
	case !own && !isFile(b.Source):
		return fmt.Errorf("%.100q is no file", b.Source)
	case strings.TrimSpace(b.Summary) == "" || event.Weight(b.Summary) > MaxSummary:
		return fmt.Errorf("the summary must have 1 to %d bytes", MaxSummary)
	case len(b.Points) > MaxPoints:
		return fmt.Errorf("a review has at most %d points: those that matter", MaxPoints)
	}
	for i, p := range b.Points {
		switch {
		case p.Number != int64(len(s.Points)+i+1):
			return fmt.Errorf("the next point has the number %d", len(s.Points)+i+1)
		case !slices.Contains(Severities, p.Severity):
			return errors.New("a point is major or minor")
		case strings.TrimSpace(p.Text) == "" || event.Weight(p.Text) > MaxPoint:
			return fmt.Errorf("a point must have 1 to %d bytes", MaxPoint)
		}
	}
	return nil
}

func isFile(path string) bool {
	p, err := workspace.Path(path)
	return err == nil && p != "" && len(path) <= MaxPath
}

func (s *Study) paperID() string {
	if p := s.Paper(); p != nil {
		return p.ID
	}
	return ""
}

// reviewed takes in a review, or that there is none.
func (s *Study) reviewed(e event.Event, b *event.ReviewGiven) {
	if err := s.MayReview(e.Actor, b); err != nil {
		panic("review.given: " + err.Error())
	}
	if b.Source != SourceReviewer {
		if err := s.unread(b); err != nil {
			panic("review.given: " + err.Error())
		}
	}
	if b.Answer != 0 {
		s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	}
	revision := int64(0)
	if p := s.Paper(); p != nil {
		revision = p.Revision
	}
	if r := s.Reviewed; r != nil {
		revision = r.Revision
		s.Reviewed = nil
	}
	if b.Error != "" {
		s.Unreviewed = s.Paper().Seq
		return
	}
	s.Rounds++
	s.Reviews = append(s.Reviews, Review{Seq: e.Seq, Round: b.Round, Paper: b.Paper, Revision: revision, Source: b.Source, Summary: Summary(b.Summary), Points: int64(len(b.Points))})
	for _, p := range b.Points {
		s.Points = append(s.Points, &Point{Number: p.Number, Severity: p.Severity, Text: p.Text, Round: b.Round, Paper: b.Paper, Revision: revision})
	}
}

// Point is the one of that number, nil if there is none.
func (s *Study) Point(number int64) *Point {
	if number < 1 || number > int64(len(s.Points)) {
		return nil
	}
	return s.Points[number-1]
}

// OpenPoints are those that nothing was done about.
func (s *Study) OpenPoints() (out []*Point) {
	for _, p := range s.Points {
		if p.How == "" {
			out = append(out, p)
		}
	}
	return out
}

// MayAnswer says why a point cannot be answered like that.
func (s *Study) MayAnswer(b *event.PointAnswered) error {
	p, paper := s.Point(b.Point), s.Paper()
	slice := func(id string) bool {
		r := s.Result(id)
		return s.Campaign(id) != nil || r != nil && r.Kind == ResultSlice
	}
	switch {
	case p == nil:
		return fmt.Errorf("there is no point %d", b.Point)
	case p.How != "":
		return fmt.Errorf("point %d is answered: %s", p.Number, p.How)
	case b.Paper != s.paperID():
		return fmt.Errorf("the paper is %.40q", s.paperID())
	case b.How == Warning:
		if s.Anchor != Finalize {
			return errors.New("a point is left as a warning when the study is finalized")
		}
		return nil
	case !slices.Contains(Hows, b.How):
		return fmt.Errorf("a point is %s", strings.Join(Hows, ", "))
	case b.How == Mended && (paper == nil || paper.ID == p.Paper && paper.Revision <= p.Revision):
		return fmt.Errorf("point %d is mended by a newer revision than it was said of: submit the mended paper first", p.Number)
	case b.How == Sliced && !slices.ContainsFunc(b.Because, slice):
		return errors.New("a point that is sent to a slice rests on that: because has the id of the campaign, or of the slice's result")
	case strings.TrimSpace(b.Text) == "" || event.Weight(b.Text) > MaxPoint:
		return fmt.Errorf("the answer to a point must have 1 to %d bytes", MaxPoint)
	}
	return nil
}

// pointAnswered takes in what is done about a point.
func (s *Study) pointAnswered(e event.Event, b *event.PointAnswered) {
	if err := s.MayAnswer(b); err != nil {
		panic("point.answered: " + err.Error())
	}
	s.rests(e, b.Because)
	if b.Answer != 0 {
		s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	}
	p := s.Point(b.Point)
	p.How, p.Answer, p.Because = b.How, b.Text, b.Because
}

// Left is the next point that is left as a warning, now that the study is finalized; nil if
// there is none.
func (s *Study) Left() *event.PointAnswered {
	if s.Anchor != Finalize {
		return nil
	}
	for _, p := range s.OpenPoints() {
		return &event.PointAnswered{How: Warning, Paper: s.paperID(), Point: p.Number, Text: "It was open when the study was finalized."}
	}
	return nil
}

// Warnings are what is left open of reviews, and which items a person has waived, in words.
func (s *Study) Warnings() (out []string) {
	for _, p := range s.Points {
		if p.How == Warning {
			out = append(out, event.Shorten(fmt.Sprintf("point %d of the review, %s: %s", p.Number, p.Severity, quote(p.Text, 200)), 300))
		}
	}
	for _, w := range s.Waived {
		if slices.Contains(Items, w.Policy) {
			out = append(out, event.Shorten(fmt.Sprintf("%s was waived: %s", w.Policy, quote(w.Reason, 200)), 300))
		}
	}
	return out
}

// Line is a paper as it is shown, a point as well.
func (p *Paper) Line() string {
	return fmt.Sprintf("%s, revision %d: %s, in %s", p.ID, p.Revision, quote(p.Title, 100), p.Branch)
}
func (p *Point) Line() string {
	line := fmt.Sprintf("point %d, %s", p.Number, p.Severity)
	if p.How != "" {
		return line + ", " + p.How + ": " + quote(p.Text, 100)
	}
	return line + ", open: " + quote(p.Text, MaxPoint)
}

// paperLines are lines on what was written and said of it, with all points or those that are open.
func (s *Study) paperLines(all bool) (out []string) {
	if o := s.Outline(); o != nil {
		out = append(out, fmt.Sprintf("%s: %s, %d claims", o.ID, quote(o.Title, 100), len(o.Claims)))
	}
	if p := s.Paper(); p != nil {
		out = append(out, p.Line())
		for _, l := range s.WhyNot() {
			out = append(out, p.ID+": "+l)
		}
	}
	for _, r := range s.Reviews {
		out = append(out, fmt.Sprintf("review, round %d, by %s, %d points: %s", r.Round, quote(r.Source, 100), r.Points, quote(r.Summary, 200)))
	}
	for _, p := range s.Points {
		if all || p.How == "" {
			out = append(out, p.Line())
		}
	}
	return out
}

package runtimetest

import (
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

// bundleResult is the row of bundle.call: the paper is made, whole or with something wrong about
// it, or it is not.
func bundleResult(w *World, call event.Event) event.Body {
	r, b := &event.BundleResult{Call: call.Seq}, call.Body.(*event.BundleCall)
	if w.Chance(150) {
		r.Error = "no room"
		return r
	}
	for _, f := range b.Figures {
		made := event.FigureMade{ID: f.ID, Verdict: "same"}
		if w.Chance(100) {
			made.Verdict, made.Why = "differs", w.Word()
		}
		r.Figures = append(r.Figures, made)
	}
	for _, o := range b.Outputs {
		if w.Chance(950) {
			r.Named = append(r.Named, o.Result)
		}
	}
	if w.Chance(200) {
		r.Numbers = append(r.Numbers, event.NumberTraced{Line: 1, Text: "1.5"})
	}
	if w.Chance(950) {
		r.Sections = []string{"Limits"}
	}
	r.Files, r.PDF, r.Text, r.Tree = []string{"paper.md"}, "missing", &event.Text{Text: w.Word()}, treeOf(w, "paper", w.IntN(5))
	w.Saw("papers made")
	return r
}

// reproduced is the row of reproduction.call: what a writer claims mostly comes out again.
func (p *Stages) reproduced(w *World, call event.Event) event.Body {
	r := reproductionResult(w, call).(*event.ReproductionResult)
	if p.writes && w.Chance(800) {
		r.Status, r.Reason, r.Fingerprint, r.Output, r.Figures = event.SameOutput, "", event.HashOf([]byte("computer")), &event.Ref{Hash: event.HashOf([]byte("output")), Size: 6}, nil
		for _, name := range call.Body.(*event.ReproductionCall).Metrics {
			r.Figures = append(r.Figures, event.Figure{Name: name, First: "1.5", Second: "1.5"})
		}
	}
	return r
}

// reviewArgs are what a reviewer hands in: sensible, or not.
func reviewArgs(w *World) object {
	points := []object{}
	for range w.IntN(3) {
		points = append(points, object{"severity": []string{"major", "minor"}[w.IntN(2)], "text": w.Word()})
	}
	if w.Chance(100) {
		points = append(points, object{"severity": "grave", "text": w.Word()})
	}
	w.Saw("reviews")
	return object{"summary": w.Word(), "points": points}
}

// reportResult is the row of report.call: mostly the points are those of the file.
func reportResult(w *World, call event.Event) event.Body {
	b, r := call.Body.(*event.ReportCall), &event.ReportResult{Call: call.Seq}
	switch {
	case w.Chance(100):
		r.Error = "no text"
	case w.Chance(100) && len(b.Quotes) > 0:
		r.Absent = []int64{1 + int64(w.IntN(len(b.Quotes)))}
	case w.Chance(100):
		r.Items, r.Left = 1, []string{"1. " + w.Word()}
	}
	w.Saw("reports")
	return r
}

// paperCall is what a researcher does about its paper: what comes next, or anything.
func paperCall(w *World, s *study.Study) (string, any) {
	point := object{"point": 1 + w.IntN(len(s.Points)+1), "how": study.Hows[w.IntN(len(study.Hows))], "text": w.Word()}
	submit := object{"title": w.Word(), "source": "paper.md", "branch": "paper/p", "figures": []object{{"id": "f", "caption": "c", "program": "f.sh", "output": "f.svg"}}}
	sure := slices.IndexFunc(s.Results, func(r *study.Result) bool { return r.Verdict == study.Verified }) + 1
	outline := object{"title": w.Word(), "claims": []object{{"id": "a", "text": w.Word(), "results": []string{fmt.Sprint("result-", sure)}}}}
	if w.Chance(100) {
		switch w.IntN(4) {
		case 0:
			return "submit_outline", outline
		case 1:
			return "submit_paper", submit
		case 2:
			x := reviewArgs(w)
			x["source"] = "old/review.md"
			for _, p := range x["points"].([]object) {
				p["quotes"] = []string{"words of " + w.Word()}
			}
			return "submit_review", x
		}
		return "answer_point", point
	}
	of := s.Branch("paper/p")
	switch {
	case sure == 0:
		return nextResult(w, s, figure(w, study.ResultMain))
	case s.Baseline() == nil:
		return "confirm_baseline", object{"result": fmt.Sprint("result-", sure), "reason": w.Word()}
	case s.Outline() == nil:
		return "submit_outline", outline
	case of == nil:
		return "prepare_branch", object{"kind": "paper", "id": "p"}
	case s.Current != of.Name && of.Head == 0:
		return "activate_branch", object{"name": of.Name}
	case of.Head == 0:
		return "checkpoint", object{"message": w.Word()}
	case len(s.OpenPoints()) > 0 && w.Chance(600):
		return "answer_point", point
	case s.Anchor == study.Finalize && w.Chance(500):
		return study.Complete, object{"answer": w.Word()}
	case len(s.Lacks(study.Finalize)) == 0 && s.Anchor != study.Finalize:
		return "move_anchor", object{"to": study.Finalize, "reason": w.Word()}
	}
	return "submit_paper", submit
}

// paperBooks hold what is written and read against what was promised, by the events alone: a paper
// is read when its checklist holds, in two rounds at most, by somebody who does nothing else; each
// point is answered once; and a study is finalized with a paper that holds, or a person's word.
type paperBooks struct {
	paperless bool
	waived    []string
	paper     *event.PaperSubmitted
	reading   bool
	rounds    int64
	points    int64
	answered  []int64
}

func (b *paperBooks) count(w *World, e event.Event) error {
	switch x := e.Body.(type) {
	case *event.StudyOrder:
		if x.Action == event.SteerWaive {
			b.waived = append(b.waived, x.What)
		}
	case *event.PaperSubmitted:
		b.paper = x
	case *event.ReviewBegun:
		if b.reading || b.rounds >= 2 || x.Round != b.rounds+1 || !b.holds() {
			return fmt.Errorf("round %d begins after %d, reading %v, and the paper holds: %v", x.Round, b.rounds, b.reading, b.holds())
		}
		b.reading = true
	case *event.ReviewGiven:
		b.reading = false
		if x.Error != "" {
			w.Saw("reviews failed")
			return nil
		}
		b.rounds++
		for _, p := range x.Points {
			if b.points++; p.Number != b.points {
				return fmt.Errorf("point %d has the number %d", b.points, p.Number)
			}
		}
	case *event.PointAnswered:
		if slices.Contains(b.answered, x.Point) || x.Point < 1 || x.Point > b.points {
			return fmt.Errorf("point %d of %d is answered, and %v are", x.Point, b.points, b.answered)
		}
		b.answered = append(b.answered, x.Point)
		w.Saw("points answered")
	case *event.ModelCall:
		if e.Actor == stages.Reviewer && !b.reading {
			return errors.New("the reviewer is asked, and has nothing to read")
		}
	case *event.AnchorMoved:
		if x.To == study.Finalize && x.From != study.Finalize && !b.paperless && !slices.Contains(b.waived, study.CheckedPaper) && !b.holds() {
			return errors.New("the study is finalized, and its paper does not hold")
		}
	}
	return nil
}

// holds reports whether each row of the last paper holds, or was waived.
func (b *paperBooks) holds() bool {
	return b.paper != nil && !slices.ContainsFunc(b.paper.Checklist, func(r event.ChecklistRow) bool { return !r.Holds && !slices.Contains(b.waived, r.Item) })
}

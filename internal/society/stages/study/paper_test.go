package study_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	. "lyceum/internal/society/stages/study"
)

// writes is a study with a baseline, a result that lost, one that won, an outline and a branch
// for the paper.
func writes(t *testing.T) *tale {
	t.Helper()
	s := begin(t, Copilot)
	s.Reviewer = true
	s.take("person", &event.StudyOrder{Action: event.SteerWaive, What: IdeaFirst, Reason: "no idea"})
	base := s.result(ResultBaseline, "base", mae("2", ""))
	s.ran("2")
	s.take("researcher", &event.BaselineAccepted{Answer: s.seq + 1, By: ByReproduction, Result: base.ID})
	s.result(ResultMain, "lost", mae("3", ""))
	s.ran("3")
	s.result(ResultMain, "won", mae("1", ""))
	s.ran("1")
	s.take("researcher", &event.OutlineSubmitted{Answer: s.seq + 1, Claims: []event.OutlineClaim{{ID: "better", Results: []string{"result-3"}, Text: "It is better."}}, ID: "outline-1", Title: "o"})
	s.prepare(KindPaper, "p", Main)
	s.save("paper/p", "draft")
	return s
}

// asks is the call for the paper of the branch as it is.
func (s *tale) asks() *event.BundleCall {
	o := s.Outline()
	outputs, err := s.Outputs(o.Claims)
	if err != nil {
		s.t.Fatal(err)
	}
	of := s.Branch("paper/p")
	id, _ := s.NextPaper(of.Name)
	return &event.BundleCall{Answer: s.seq + 1, Branch: of.Name, Checkpoint: of.Head, Claims: o.Claims, Outputs: outputs, Paper: id, Source: "paper.md", Title: "t", Tree: *s.Tree(of),
		Figures: []event.BundleFigure{{Caption: "c", ID: "errors", Output: "errors.svg", Program: "plot.sh"}}}
}

// fine is a paper that was made with nothing wrong about it.
func fine(call uint64) *event.BundleResult {
	return &event.BundleResult{Call: call, Figures: []event.FigureMade{{ID: "errors", Verdict: FigureSame}}, Files: []string{"paper.md"}, Named: []string{"result-1", "result-2", "result-3"},
		Numbers: []event.NumberTraced{{Line: 3, Result: "result-3", Text: "1"}}, Sections: []string{"Results", "Limits"}, Text: &event.Text{Text: "the words"}, Tree: new(treeOf("bundle"))}
}

// made has the paper made, as change says, and submits it.
func (s *tale) made(change func(*event.BundleResult)) *Paper {
	s.t.Helper()
	call := s.asks()
	r := fine(s.take("researcher", call))
	if change != nil {
		change(r)
	}
	s.take("core", r)
	return s.PaperAt(s.take("researcher", s.Submission(s.Bundle(agent.Place{Answer: call.Answer}))))
}

func TestTheChecklistIsComputed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		item, want string
		change     func(*event.BundleResult)
	}{
		{"", "", nil},
		{ItemEvidence, `line 9: "7" follows from no output`, func(r *event.BundleResult) {
			r.Numbers = append(r.Numbers, event.NumberTraced{Line: 9, Text: "7"})
		}},
		{ItemBaselines, "the baseline, result-1 (", func(r *event.BundleResult) { r.Named = r.Named[1:] }},
		{ItemLosers, "result-2 (", func(r *event.BundleResult) { r.Named = []string{"result-1", "result-3"} }},
		{ItemLimits, "no section", func(r *event.BundleResult) { r.Sections = r.Sections[:1] }},
		{ItemReferences, `the reference "knuth" is neither`, func(r *event.BundleResult) { r.References, r.Unknown = []string{"knuth"}, []string{"knuth"} }},
		{ItemFigures, "the figure errors: differs: ", func(r *event.BundleResult) { r.Figures[0].Verdict, r.Figures[0].Why = FigureDiffers, "a date" }},
		{ItemFigures, "the figure errors: unchecked: ", func(r *event.BundleResult) { r.Figures[0].Verdict = FigureUnchecked }},
	} {
		s := writes(t)
		p := s.made(c.change)
		if len(p.Checklist) != 6 {
			t.Fatalf("the checklist has %d rows, want 6", len(p.Checklist))
		}
		for _, r := range p.Checklist {
			if r.Holds != (r.Item != c.item) || r.Holds != (len(r.Findings) == 0) {
				t.Errorf("%s is changed, and %s holds: %v, %q", c.item, r.Item, r.Holds, r.Findings)
			}
			if !r.Holds && !strings.Contains(r.Findings[0], c.want) {
				t.Errorf("%s says %q, want %q", r.Item, r.Findings, c.want)
			}
		}
		unmet := s.Unmet(p)
		if len(unmet) != min(1, len(c.item)) || (s.Due() != nil) != (c.item == "") {
			t.Errorf("with %q changed, %+v is unmet, and a review is due: %v", c.item, unmet, s.Due() != nil)
		}
		if c.item == "" {
			continue
		}
		if err := s.MayMove(Finalize); err == nil || !strings.Contains(err.Error(), CheckedPaper) || !strings.Contains(err.Error(), c.item+" does not hold") {
			t.Errorf("with %q the study may be finalized: %v", c.item, err)
		}
		if len(s.Lacks(Finalize)) == 0 {
			t.Errorf("nothing is lacking with %q", c.item)
		}
		s.take("person", &event.StudyOrder{Action: event.SteerWaive, What: c.item, Reason: "it is a toy"})
		if len(s.Unmet(p)) != 0 || s.Due() == nil {
			t.Errorf("%s is waived, and %+v is unmet", c.item, s.Unmet(p))
		}
		if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], c.item+" was waived") {
			t.Errorf("the warnings are %q", w)
		}
		s.saved()
	}
}

// What was not verified is told as such, and no claim stands on it.
func TestEvidenceThatWasNotVerified(t *testing.T) {
	t.Parallel()
	s := writes(t)
	s.result(ResultMain, "wrong", mae("0.5", ""))
	s.ran("9")
	s.take("researcher", &event.OutlineSubmitted{Answer: s.seq + 1, Claims: []event.OutlineClaim{{ID: "best", Results: []string{"result-4"}, Text: "It is best."}}, ID: "outline-2", Supersedes: "outline-1", Title: "o"})
	losers := s.Losers()
	if len(losers) != 2 || losers[0].ID != "result-2" || losers[1].ID != "result-4" {
		t.Errorf("%d results lost, want result-2, which is worse, and result-4, which differs", len(losers))
	}
	p := s.made(func(r *event.BundleResult) {
		r.Named, r.Numbers = []string{"result-1", "result-2"}, []event.NumberTraced{{Line: 2, Result: "result-4", Text: "0.5"}}
	})
	all := fmt.Sprint(p.Checklist)
	for _, want := range []string{"the claim best rests on result-4, which is differs", `line 2: "0.5" follows from result-4`, "result-4 (", "lost and is not told"} {
		if !strings.Contains(all, want) {
			t.Errorf("the checklist is %s, want %q", all, want)
		}
	}
}

func TestFindingsAreFew(t *testing.T) {
	t.Parallel()
	s := writes(t)
	p := s.made(func(r *event.BundleResult) {
		for range 40 {
			r.Unknown = append(r.Unknown, strings.Repeat("k\n", 400))
		}
	})
	row := p.Checklist[4]
	if len(row.Findings) != 8 || row.Findings[7] != "and 33 more" || len(row.Findings[0]) > 200 || strings.Contains(row.Findings[0], "\n") {
		t.Errorf("%d findings: %q", len(row.Findings), row.Findings)
	}
}

func TestOutlinesAreChecked(t *testing.T) {
	t.Parallel()
	s := writes(t)
	claim := event.OutlineClaim{ID: "a", Results: []string{"result-1"}, Text: "x"}
	change := func(f func(*event.OutlineClaim)) []event.OutlineClaim {
		c := claim
		f(&c)
		return []event.OutlineClaim{c}
	}
	for want, claims := range map[string][]event.OutlineClaim{
		"1 to 16 claims":          nil,
		"cannot name a claim":     {claim, claim},
		"one line":                change(func(c *event.OutlineClaim) { c.Text = "a\nb" }),
		"follows from 1 to 8":     change(func(c *event.OutlineClaim) { c.Results = nil }),
		"there is no such result": change(func(c *event.OutlineClaim) { c.Results = []string{"result-9"} }),
	} {
		b := &event.OutlineSubmitted{Answer: s.seq + 1, Claims: claims, ID: "outline-2", Supersedes: "outline-1", Title: "o"}
		if err := s.MayOutline(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", claims, err, want)
		}
		s.forged("researcher", b)
	}
	s.forged("researcher", &event.OutlineSubmitted{Answer: s.seq + 1, Claims: []event.OutlineClaim{claim}, ID: "outline-2", Title: "o"})
}

func TestPapersAreMadeOfWhatIsRecorded(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*tale, *event.BundleCall){
		"ends in a report":      func(s *tale, _ *event.BundleCall) { s.Paperless = true },
		"there is no outline":   func(s *tale, _ *event.BundleCall) { s.Outlines = nil },
		"no branch for a paper": func(_ *tale, b *event.BundleCall) { b.Branch = "run/won" },
		"or a newer one":        func(_ *tale, b *event.BundleCall) { b.Tree = treeOf("another") },
		"the paper of paper/p":  func(_ *tale, b *event.BundleCall) { b.Paper = "paper-7" },
		"claims what outline-1": func(_ *tale, b *event.BundleCall) { b.Claims = nil },
		"twice":                 func(_ *tale, b *event.BundleCall) { b.Figures = append(b.Figures, b.Figures[0]) },
		"at most 8 figures":     func(_ *tale, b *event.BundleCall) { b.Figures = make([]event.BundleFigure, 9) },
		"cannot name a figure":  func(_ *tale, b *event.BundleCall) { b.Figures[0].ID = "../x" },
		"the caption":           func(_ *tale, b *event.BundleCall) { b.Figures[0].Caption = "" },
		"the program":           func(_ *tale, b *event.BundleCall) { b.Figures[0].Program = "../../etc/passwd" },
		"ends in .svg":          func(_ *tale, b *event.BundleCall) { b.Figures[0].Output = "a.exe" },
		"the data":              func(_ *tale, b *event.BundleCall) { b.Figures[0].Data = []string{"/etc/passwd"} },
	} {
		s := writes(t)
		b := s.asks()
		change(s, b)
		if err := s.MayBundle(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		s.forged("researcher", b)
	}
	s := writes(t)
	if b := s.asks(); len(b.Outputs) != 3 || b.Outputs[0].Result != "result-3" || b.Outputs[1].Result != "result-1" || b.Outputs[2].Result != "result-2" {
		t.Errorf("the paper can rest on %+v, want what is claimed, the baseline and what lost", b.Outputs)
	}
}

// Whoever makes papers is not believed either.
func TestABundleThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*event.BundleResult){
		"there is none":           func(r *event.BundleResult) { r.Tree = nil },
		"and may have":            func(r *event.BundleResult) { r.Text = &event.Text{Ref: &event.Ref{Size: event.MaxPaper + 1}} },
		"other figures":           func(r *event.BundleResult) { r.Figures = nil },
		`names "result-9"`:        func(r *event.BundleResult) { r.Named = []string{"result-9"} },
		`follows from "result-9"`: func(r *event.BundleResult) { r.Numbers[0].Result = "result-9" },
	} {
		s := writes(t)
		r := fine(s.take("researcher", s.asks()))
		change(r)
		if err := s.CheckBundle(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		s.forged("core", r)
	}
	s := writes(t)
	call := s.asks()
	s.take("core", fine(s.take("researcher", call)))
	b := s.Submission(s.Bundle(agent.Place{Answer: call.Answer}))
	b.Checklist = slices.Clone(b.Checklist)
	b.Checklist[0].Holds = false
	s.forged("researcher", b)
}

func (s *tale) begins() {
	s.t.Helper()
	p := s.Due()
	s.take("reviewer", &event.ReviewBegun{Paper: p.ID, Revision: p.Revision, Round: s.Rounds + 1, Text: p.Text})
}

func (s *tale) gives(points ...string) {
	s.t.Helper()
	b := &event.ReviewGiven{Answer: s.seq + 1, Paper: s.Reviewed.Paper, Round: s.Reviewed.Round, Source: SourceReviewer, Summary: "so"}
	for _, p := range points {
		b.Points = append(b.Points, event.ReviewPoint{Number: int64(len(s.Points) + len(b.Points) + 1), Severity: "major", Text: p})
	}
	s.take("reviewer", b)
}

func (s *tale) answers(point int64, how string, because ...string) error {
	b := &event.PointAnswered{Answer: s.seq + 1, Because: because, How: how, Paper: s.Paper().ID, Point: point, Text: "done"}
	if err := s.MayAnswer(b); err != nil {
		s.forged("researcher", b)
		return err
	}
	s.take("researcher", b)
	return nil
}

func TestTwoRoundsOfReviews(t *testing.T) {
	t.Parallel()
	s := writes(t)
	s.made(nil)
	may := func(want string) {
		t.Helper()
		if err := s.MayMove(Finalize); (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("the study may be finalized: %v, want %q", err, want)
		}
	}
	may("it has not been reviewed")
	s.begins()
	may("it has not been reviewed")
	if s.Due() != nil {
		t.Error("a second review is due during the first")
	}
	s.gives("one", "two", "three")
	may("3 points of its review are open")
	for want, b := range map[string]func() error{
		"submit the mended paper first": func() error { return s.answers(1, Mended) },
		"the id of the campaign":        func() error { return s.answers(2, Sliced) },
		"there is no point 9":           func() error { return s.answers(9, Rebutted) },
		"a point is mended":             func() error { return s.answers(1, "ignored") },
		"when the study is finalized":   func() error { return s.answers(1, Warning) },
	} {
		if err := b(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	s.take("researcher", &event.CampaignCreated{Answer: s.seq + 1, ID: "campaign-1", Reason: "r", Result: "result-3", Slices: []event.CampaignSlice{{ID: "a", Question: "q"}}})
	if err := s.answers(2, Sliced, "campaign-1"); err != nil {
		t.Error(err)
	}
	if err := s.answers(2, Rebutted); err == nil || !strings.Contains(err.Error(), "is answered") {
		t.Errorf("a point is answered twice: %v", err)
	}
	s.save("paper/p", "mended")
	if p := s.made(nil); p.ID != "paper-1" || p.Revision != 2 {
		t.Errorf("the paper is %s, revision %d", p.ID, p.Revision)
	}
	if err := s.answers(1, Mended); err != nil {
		t.Error(err)
	}
	may("points of its review are open")
	s.begins()
	s.gives("four")
	if s.Points[3].Number != 4 || s.Points[3].Round != 2 {
		t.Errorf("the points are %+v", s.Points[3])
	}
	may("") // two rounds have passed
	s.save("paper/p", "again")
	s.made(nil)
	if s.Due() != nil {
		t.Error("a third round is due")
	}
	if s.Left() != nil || len(s.Warnings()) != 0 {
		t.Error("there are warnings before the study is finalized")
	}
	s.take("researcher", &event.AnchorMoved{Answer: s.seq + 1, By: "tool", From: s.Anchor, Reason: "r", To: Finalize})
	for s.Left() != nil {
		s.take("core", s.Left())
	}
	w := s.Warnings()
	if len(w) != 2 || !strings.Contains(w[0], "point 3") || !strings.Contains(w[1], `"four"`) {
		t.Errorf("the warnings are %q", w)
	}
	s.saved()
}

func TestAReviewThatComesToNoEnd(t *testing.T) {
	t.Parallel()
	s := writes(t)
	s.made(nil)
	s.begins()
	s.forged("researcher", &event.ReviewGiven{Error: "e", Paper: "paper-1", Round: 1, Source: SourceReviewer})
	s.take("reviewer", &event.ReviewGiven{Error: "no model", Paper: "paper-1", Round: 1, Source: SourceReviewer})
	if s.Rounds != 0 || s.Due() != nil || !strings.Contains(strings.Join(s.WhyNot(), ""), "came to no end") {
		t.Errorf("after a failure there are %d rounds, due: %v, %q", s.Rounds, s.Due() != nil, s.WhyNot())
	}
	s.made(nil)
	if s.Due() == nil {
		t.Error("the next revision is not to be reviewed")
	}
	s.take("person", &event.StudyOrder{Action: event.SteerWaive, What: ItemReview, Reason: "none here"})
	if s.Due() != nil || len(s.WhyNot()) != 0 {
		t.Errorf("review is waived, and %q", s.WhyNot())
	}
}

func TestForgedReviewsDoNotFold(t *testing.T) {
	t.Parallel()
	s := writes(t)
	p := s.made(nil)
	s.forged("reviewer", &event.ReviewBegun{Paper: p.ID, Revision: 2, Round: 1, Text: p.Text})
	s.forged("reviewer", &event.ReviewBegun{Paper: p.ID, Revision: 1, Round: 1, Text: event.Text{Text: "other words"}})
	s.forged("reviewer", &event.ReviewBegun{Paper: p.ID, Revision: 1, Round: 2, Text: p.Text})
	s.begins()
	point := []event.ReviewPoint{{Number: 2, Severity: "major", Text: "x"}}
	s.forged("reviewer", &event.ReviewGiven{Answer: s.seq + 1, Paper: p.ID, Points: point, Round: 1, Source: SourceReviewer, Summary: "so"})
	s.forged("reviewer", &event.ReviewGiven{Answer: s.seq + 1, Paper: p.ID, Round: 1, Source: SourceReviewer})
	s.forged("researcher", &event.ReviewGiven{Answer: s.seq + 1, Paper: p.ID, Round: 2, Source: "old.md", Summary: "so"})
}

package study

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/workspace"
)

// Written is what a study has written: outlines, papers, and what reviewers said of them.
type Written struct {
	Outlines []*Outline `json:",omitempty"`
	// Papers are all revisions of all papers, in their order: the last one counts.
	Papers []*Paper `json:",omitempty"`
	// Bundles are the papers that are being made, and the last that were.
	Bundles []*Bundle `json:",omitempty"`
	// Reviewed is the round of reviews under way, nil if none is; Rounds counts those that
	// came to an end, and Unreviewed is the paper.submitted whose review came to none.
	Reviewed   *Reviewing `json:",omitzero"`
	Rounds     int64      `json:",omitzero"`
	Unreviewed uint64     `json:",omitzero"`
	// Reviews are those that were given, Points what they say, by their numbers from 1.
	Reviews []Review `json:",omitempty"`
	Points  []*Point `json:",omitempty"`
	// Reviewer says that the study has somebody who reads its papers.
	Reviewer bool `json:",omitzero"`
}

// Outline is what a paper will claim.
type Outline struct {
	ID, Title string
	Seq       uint64
	Claims    []event.OutlineClaim
}

// Bundle is a paper that is made for a tool call.
type Bundle struct {
	agent.Place
	Seq            uint64
	Paper, Outline string
	Branch, Title  string
	// Results are what its numbers can follow from, Figures the ids of its figures.
	Results []string `json:",omitempty"`
	Figures []string `json:",omitempty"`
	// Result is what came of it, nil as long as it is being made.
	Result *event.BundleResult `json:",omitzero"`
}

// Paper is a revision of a paper.
type Paper struct {
	ID, Title string
	Revision  int64
	Seq       uint64
	Time      event.Time
	Branch    string
	Outline   string
	Tree      event.TreeRef
	// Text is what a reviewer reads. Checklist is that of the last revision alone, Files are what
	// was made, and PDF is what became of that.
	Text      event.Text
	Checklist []event.ChecklistRow `json:",omitempty"`
	Files     []string             `json:",omitempty"`
	PDF       string               `json:",omitzero"`
}

// Bounds of what is written.
const (
	MaxClaims       = 16
	MaxClaim        = 300
	MaxClaimResults = 8
	MaxFigures      = 8
	MaxCaption      = 200
	MaxFigureData   = 4
	maxOutputs      = 24
)

// Outline is the one that holds, nil if there is none.
func (s *Study) Outline() *Outline { return last(s.Outlines) }

// Paper is the last revision that was submitted, nil if there is none.
func (s *Study) Paper() *Paper { return last(s.Papers) }

func last[T any](list []*T) *T {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// OutlineAt and PaperAt are what an event made, nil if it made no such thing.
func (s *Study) OutlineAt(seq uint64) *Outline {
	return madeAt(s.Outlines, seq, func(o *Outline) uint64 { return o.Seq })
}
func (s *Study) PaperAt(seq uint64) *Paper {
	return madeAt(s.Papers, seq, func(p *Paper) uint64 { return p.Seq })
}

// applyPaper takes in what is about papers and their reviews.
func (s *Study) applyPaper(e event.Event) {
	switch b := e.Body.(type) {
	case *event.OutlineSubmitted:
		s.outlined(e, b)
	case *event.BundleCall:
		s.bundling(e, b)
	case *event.BundleResult:
		s.bundled(b)
	case *event.PaperSubmitted:
		s.submitted(e, b)
	case *event.ReviewBegun:
		s.reviewing(e, b)
	case *event.ReviewGiven:
		s.reviewed(e, b)
	case *event.PointAnswered:
		s.pointAnswered(e, b)
	case *event.MessageSent:
		if s.Reviewed != nil && b.To == s.Reviewed.Agent {
			s.Reviewed.Reminded++
		}
	}
}

// MayOutline says why there can be no such outline.
func (s *Study) MayOutline(b *event.OutlineSubmitted) error {
	before := ""
	if o := s.Outline(); o != nil {
		before = o.ID
	}
	switch {
	case b.Supersedes != before:
		return fmt.Errorf("the outline before it is %.40q", before)
	case len(b.Claims) == 0 || len(b.Claims) > MaxClaims:
		return fmt.Errorf("an outline has 1 to %d claims", MaxClaims)
	}
	seen := map[string]bool{}
	for _, c := range b.Claims {
		switch {
		case !event.ValidName(c.ID) || len(c.ID) > 32 || seen[c.ID]:
			return fmt.Errorf("%.40q cannot name a claim: each has a name of its own of 1 to 32 letters a to z, digits and hyphens", c.ID)
		case strings.TrimSpace(c.Text) == "" || event.Weight(c.Text) > MaxClaim || plain.Papers.In(c.Text):
			return fmt.Errorf("the claim %s must be one line of 1 to %d bytes", c.ID, MaxClaim)
		case len(c.Results) == 0 || len(c.Results) > MaxClaimResults:
			return fmt.Errorf("the claim %s follows from 1 to %d results: name them", c.ID, MaxClaimResults)
		}
		for _, id := range c.Results {
			if s.Result(id) == nil {
				return fmt.Errorf("the claim %s follows from %.40q, and there is no such result", c.ID, id)
			}
		}
		seen[c.ID] = true
	}
	return nil
}

// outlined takes in an outline.
func (s *Study) outlined(e event.Event, b *event.OutlineSubmitted) {
	if err := s.MayOutline(b); err != nil {
		panic("outline.submitted: " + err.Error())
	}
	s.rests(e, b.Because)
	s.count("outline", b.ID)
	s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	s.Outlines = append(s.Outlines, &Outline{ID: b.ID, Title: b.Title, Seq: e.Seq, Claims: b.Claims})
}

// Outputs are what the numbers of a paper can follow from: the results that its claims rest on,
// the baseline, and the results that lost, each once. What they printed is not read here.
func (s *Study) Outputs(claims []event.OutlineClaim) (out []event.BundleOutput, err error) {
	seen := map[string]bool{}
	add := func(r *Result) {
		if r != nil && !seen[r.ID] {
			seen[r.ID] = true
			out = append(out, event.BundleOutput{Metrics: r.Metrics, Output: r.Output, Result: r.ID, Title: event.Shorten(r.Title, 100), Verdict: tellVerdict(r)})
		}
	}
	for _, c := range claims {
		for _, id := range c.Results {
			add(s.Result(id))
		}
	}
	add(s.Baseline())
	for _, r := range s.Losers() {
		add(r)
	}
	if len(out) > maxOutputs {
		return nil, fmt.Errorf("a paper is about %d results at most, with the baseline and those that lost, and this one about %d: claim less", maxOutputs, len(out))
	}
	return out, nil
}

// NextPaper is the id that a paper of a branch has, and its next revision.
func (s *Study) NextPaper(branch string) (id string, revision int64) {
	for _, p := range slices.Backward(s.Papers) {
		if p.Branch == branch {
			return p.ID, p.Revision + 1
		}
	}
	return s.NewID("paper"), 1
}

// MayBundle says why no such paper can be made.
func (s *Study) MayBundle(b *event.BundleCall) error {
	of, o := s.Branch(b.Branch), s.Outline()
	id, _ := s.NextPaper(b.Branch)
	switch {
	case s.Paperless:
		return errors.New("the study ends in a report, and not in a paper: record one of the kind report")
	case o == nil:
		return errors.New("there is no outline: submit one first, with what the paper claims and the results that it follows from")
	case of == nil || of.Kind != KindPaper:
		return fmt.Errorf("%.100q is no branch for a paper: prepare one of the kind paper", b.Branch)
	case of.Head == 0 || b.Checkpoint != of.Head || b.Tree != *s.Tree(of):
		return fmt.Errorf("%s has no checkpoint, or a newer one: checkpoint what the paper is made of first", of.Name)
	case b.Paper != id:
		return fmt.Errorf("the paper of %s is %s", of.Name, id)
	case !slices.EqualFunc(b.Claims, o.Claims, sameClaim):
		return fmt.Errorf("a paper claims what %s does", o.ID)
	case len(b.Figures) > MaxFigures:
		return fmt.Errorf("a paper has at most %d figures", MaxFigures)
	}
	seen := map[string]bool{}
	for i := range b.Figures {
		f := &b.Figures[i]
		if err := checkFigure(f); err != nil {
			return err
		}
		if seen[f.ID] {
			return fmt.Errorf("the figure %s is there twice", f.ID)
		}
		seen[f.ID] = true
	}
	return nil
}

func sameClaim(a, b event.OutlineClaim) bool {
	return a.ID == b.ID && a.Text == b.Text && slices.Equal(a.Results, b.Results)
}

// figureForms are how the file of a figure can end.
var figureForms = []string{".svg", ".png", ".pdf"}

func checkFigure(f *event.BundleFigure) error {
	bad := func(path string) bool {
		p, err := workspace.Path(path)
		return err != nil || p != path || len(path) > MaxPath
	}
	switch {
	case !event.ValidName(f.ID) || len(f.ID) > 32:
		return fmt.Errorf("%.40q cannot name a figure: it has 1 to 32 letters a to z, digits and hyphens", f.ID)
	case strings.TrimSpace(f.Caption) == "" || event.Weight(f.Caption) > MaxCaption || plain.Papers.In(f.Caption):
		return fmt.Errorf("the caption of %s must be one line of 1 to %d bytes", f.ID, MaxCaption)
	case bad(f.Program):
		return fmt.Errorf("the program of %s is no file of the branch", f.ID)
	case bad(f.Output) || !slices.ContainsFunc(figureForms, func(end string) bool { return strings.HasSuffix(f.Output, end) }):
		return fmt.Errorf("the file that the program of %s writes is one of the branch and ends in .svg, .png or .pdf", f.ID)
	case len(f.Data) > MaxFigureData || slices.ContainsFunc(f.Data, bad):
		return fmt.Errorf("the data of %s are at most %d files of the branch", f.ID, MaxFigureData)
	}
	return nil
}

// bundling takes in that a paper is made.
func (s *Study) bundling(e event.Event, b *event.BundleCall) {
	if err := s.MayBundle(b); err != nil {
		panic("bundle.call: " + err.Error())
	}
	x := &Bundle{Place: agent.Place{Answer: b.Answer, Part: b.Part}, Seq: e.Seq, Paper: b.Paper, Outline: s.Outline().ID, Branch: b.Branch, Title: b.Title}
	for _, o := range b.Outputs {
		x.Results = append(x.Results, o.Result)
	}
	for _, f := range b.Figures {
		x.Figures = append(x.Figures, f.ID)
	}
	s.Bundles = append(s.Bundles, x)
}

// Bundle is the paper that is made for a tool call, nil if there is none.
func (s *Study) Bundle(at agent.Place) *Bundle {
	for _, b := range slices.Backward(s.Bundles) {
		if b.Place == at {
			return b
		}
	}
	return nil
}

func (s *Study) bundle(call uint64) *Bundle {
	return madeAt(s.Bundles, call, func(b *Bundle) uint64 { return b.Seq })
}

// How a figure was made.
const (
	FigureSame      = "same"
	FigureDiffers   = "differs"
	FigureFailed    = "failed"
	FigureUnchecked = "unchecked"
)

// CheckBundle says why a paper cannot have been made as a result says. A call that a fork has
// left behind is nobody's.
func (s *Study) CheckBundle(r *event.BundleResult) error {
	b := s.bundle(r.Call)
	switch {
	case b == nil || b.Result != nil || r.Error != "":
		return nil
	case r.Tree == nil || r.Text == nil:
		return fmt.Errorf("%s was made, and there is none", b.Paper)
	case r.Text.Len() > event.MaxPaper:
		return fmt.Errorf("the text of %s has %d bytes, and may have %d", b.Paper, r.Text.Len(), event.MaxPaper)
	case !slices.EqualFunc(r.Figures, b.Figures, func(f event.FigureMade, id string) bool { return f.ID == id }):
		return fmt.Errorf("%s was made with other figures than it was asked for", b.Paper)
	}
	for _, id := range r.Named {
		if !slices.Contains(b.Results, id) {
			return fmt.Errorf("%s names %.40q, which is none of its results", b.Paper, id)
		}
	}
	for _, n := range r.Numbers {
		if n.Result != "" && !slices.Contains(b.Results, n.Result) {
			return fmt.Errorf("a number of %s follows from %.40q, which is none of its results", b.Paper, n.Result)
		}
	}
	return nil
}

// bundled takes in what came of making a paper.
func (s *Study) bundled(r *event.BundleResult) {
	b := s.bundle(r.Call)
	if b == nil {
		return // a fork has forgotten it
	}
	if err := s.CheckBundle(r); err != nil {
		panic("bundle.result: " + err.Error())
	}
	b.Result = r
	for i := 0; len(s.Bundles) > maxAnswered && i < len(s.Bundles); i++ {
		if s.Bundles[i].Result != nil {
			s.Bundles = slices.Delete(s.Bundles, i, i+1)
			break
		}
	}
}

// Submission is the paper that was made for a tool call, with its checklist.
func (s *Study) Submission(b *Bundle) *event.PaperSubmitted {
	id, revision := s.NextPaper(b.Branch)
	return &event.PaperSubmitted{Call: b.Seq, Checklist: s.Checklist(b), ID: id, Outline: b.Outline, Revision: revision, Title: b.Title, Tree: *b.Result.Tree}
}

// submitted takes in a paper. Its checklist is what the rules find.
func (s *Study) submitted(e event.Event, b *event.PaperSubmitted) {
	x := s.bundle(b.Call)
	if x == nil || x.Result == nil || x.Result.Error != "" {
		panic(fmt.Sprintf("paper.submitted: no paper was made at %d", b.Call))
	}
	want := s.Submission(x)
	if b.ID != want.ID || b.Outline != want.Outline || b.Revision != want.Revision || b.Title != want.Title || b.Tree != want.Tree || !slices.EqualFunc(b.Checklist, want.Checklist, sameRow) {
		panic("paper.submitted: the paper, or its checklist, is another than was made")
	}
	if b.Revision == 1 {
		s.count("paper", b.ID)
	}
	s.did(e, x.Place)
	if p := s.Paper(); p != nil {
		p.Checklist = nil
	}
	s.Papers = append(s.Papers, &Paper{
		ID: b.ID, Title: b.Title, Revision: b.Revision, Seq: e.Seq, Time: e.Time, Branch: x.Branch, Outline: b.Outline, Tree: b.Tree, Text: *x.Result.Text,
		Checklist: b.Checklist, Files: x.Result.Files, PDF: pdf(x.Result),
	})
	s.Bundles = slices.DeleteFunc(s.Bundles, func(o *Bundle) bool { return o == x })
}

// maxPDF is how many bytes of the reason are kept why a PDF is as it is.
const maxPDF = 300

// pdf is what became of the PDF, and why if there is something to say.
func pdf(r *event.BundleResult) string {
	if r.Why == "" {
		return r.PDF
	}
	return r.PDF + ": " + event.Shorten(r.Why, maxPDF)
}

func sameRow(a, b event.ChecklistRow) bool {
	return a.Item == b.Item && a.Holds == b.Holds && slices.Equal(a.Findings, b.Findings)
}

// abandonPapers forgets papers that are being made.
func (s *Study) abandonPapers() {
	s.Bundles = slices.DeleteFunc(s.Bundles, func(b *Bundle) bool { return b.Result == nil })
}

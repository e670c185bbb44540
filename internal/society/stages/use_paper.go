package stages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab/paper"
	"lyceum/internal/society/stages/study"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
)

const (
	submitOutline = "submit_outline"
	submitPaper   = "submit_paper"
	submitReview  = "submit_review"
	answerPoint   = "answer_point"
)

// paperTools are about what a study writes, and what is said of it.
var paperTools = []quest.OwnTool{
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: submitOutline, Description: "Say what the paper will claim: each claim in a sentence, with the results that it follows from. A newer outline takes the place of the one before. The study goes to the stage write, if it is elsewhere.",
			Schema: `{"type":"object","additionalProperties":false,"required":["title","claims"],"properties":{` + titleSchema + `,` +
				`"claims":{"type":"array","minItems":1,"maxItems":16,"items":{"type":"object","additionalProperties":false,"required":["id","text","results"],"properties":{` +
				`"id":{"type":"string","maxLength":32,"description":"a short name: a to z, digits, hyphens"},` +
				`"text":{"type":"string","minLength":1,"maxLength":300,"description":"one sentence"},` +
				`"results":{"type":"array","minItems":1,"maxItems":8,"items":{"type":"string"},"description":"ids of results"}}}},` + becauseSchema + `}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: submitPaper, Description: "Have the paper made of the last checkpoint of a branch of the kind paper, with what the outline claims: Markdown, HTML, LaTeX, PDF where there is TeX, and each figure by its program, twice, in fresh computers without network. You are told its checklist; if that holds, a reviewer who has seen nothing else reads it, and you get the points. Submitted again from the same branch it is the next revision.",
			Schema: `{"type":"object","additionalProperties":false,"required":["title","source"],"properties":{` + titleSchema + `,` +
				`"source":{"type":"string","minLength":1,"maxLength":300,"description":"the text in Markdown, a file of the branch; [@key] cites an entry of the bibliography, and a result is named by its id"},` +
				`"bibliography":{"type":"string","maxLength":300,"description":"a BibTeX file of the branch; default none"},` +
				`"figures":{"type":"array","maxItems":8,"items":{"type":"object","additionalProperties":false,"required":["id","caption","program","output"],"properties":{` +
				`"id":{"type":"string","maxLength":32,"description":"a short name: a to z, digits, hyphens"},` +
				`"caption":{"type":"string","minLength":1,"maxLength":200,"description":"one line"},` +
				`"program":{"type":"string","minLength":1,"maxLength":300,"description":"a file of the branch that makes it: .py is run by python3, .sh by sh, others by themselves"},` +
				`"output":{"type":"string","minLength":1,"maxLength":300,"description":"the file that the program writes: .svg, .png or .pdf"},` +
				`"data":{"type":"array","maxItems":4,"items":{"type":"string"},"description":"files of the branch that it shows; default none"}}}},` + branchSchema + `}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: submitReview, Description: "Hand in a review: a summary, and points that are numbered in their order, the gravest first. A reviewer reviews the paper that it was given. A researcher hands in what reviewers wrote before, with the file of the materials that it stands in as source: each point quotes that file, and each point that the file lists is quoted; it is compared.",
			Schema: `{"type":"object","additionalProperties":false,"required":["summary"],"properties":{` +
				`"summary":{"type":"string","minLength":1,"maxLength":2000,"description":"what you think of it, in a few sentences"},` +
				`"points":{"type":"array","maxItems":12,"description":"default none","items":{"type":"object","additionalProperties":false,"required":["severity","text"],"properties":{` +
				`"severity":{"type":"string","enum":["major","minor"]},` +
				`"text":{"type":"string","minLength":1,"maxLength":900,"description":"the place, what is wrong or missing, and what would settle it"},` +
				`"quotes":{"type":"array","maxItems":12,"items":{"type":"string","minLength":8,"maxLength":200},"description":"of a review of the materials: words of the file as they stand there, of each point of it that this one is about; a reviewer leaves it out"}}}},` +
				`"source":{"type":"string","maxLength":300,"description":"the file of the materials that it stands in; a reviewer leaves it out"}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: answerPoint, Description: "Say what was done about a point of a review: mended, in a newer revision; slice, sent to a campaign, which because names; rebutted, with the reason.",
			Schema: `{"type":"object","additionalProperties":false,"required":["point","how","text"],"properties":{` +
				`"point":{"type":"integer","minimum":1,"description":"its number"},` +
				`"how":{"type":"string","enum":["mended","slice","rebutted"]},` +
				`"text":{"type":"string","minLength":1,"maxLength":900,"description":"what was done, and where it is seen; or why not"},` + becauseSchema + `}}`},
	},
}

var paperUses = map[string]func(*using) []event.Draft{
	submitOutline: (*using).outline, submitPaper: (*using).paper, submitReview: (*using).review, answerPoint: (*using).point,
}

// outline submits an outline.
func (c *using) outline() []event.Draft {
	var x struct {
		Title   string               `json:"title"`
		Claims  []event.OutlineClaim `json:"claims"`
		Because []string             `json:"because"`
	}
	if bad := c.read(&x); bad != "" {
		return c.wrong("%s", bad)
	}
	if o := c.study.OutlineAt(c.study.Effect(c.place)); o != nil {
		return c.say("%s is submitted, with %d claims. Write the paper in a branch of the kind paper, checkpoint it, and submit it with %s.", o.ID, len(o.Claims), submitPaper)
	}
	b := &event.OutlineSubmitted{Answer: c.place.Answer, Because: x.Because, Claims: x.Claims, ID: c.study.NewID("outline"), Part: c.place.Part, Title: strings.TrimSpace(x.Title)}
	if o := c.study.Outline(); o != nil {
		b.Supersedes = o.ID
	}
	for i := range b.Claims {
		b.Claims[i].Text = strings.TrimSpace(b.Claims[i].Text)
	}
	if bad := cmp.Or(lines(b.Title, ""), c.because(x.Because)); bad != "" {
		return c.wrong("%s", bad)
	}
	if err := c.study.MayOutline(b); err != nil {
		return c.wrong("%s.", capital(err.Error()))
	}
	if step := c.arrive(study.Write, "the outline "+paper.Quote(event.Shorten(b.Title, 100))+" is submitted"); step != nil {
		return step
	}
	return c.do(b)
}

// draft is a paper as it is handed in.
type draft struct {
	Title        string               `json:"title"`
	Source       string               `json:"source"`
	Bibliography string               `json:"bibliography"`
	Figures      []event.BundleFigure `json:"figures"`
	Branch       string               `json:"branch"`
}

// paper has a paper made, submits it with its checklist, waits for its review, and tells both.
func (c *using) paper() []event.Draft {
	var x draft
	if bad := c.read(&x); bad != "" {
		return c.wrong("%s", bad)
	}
	if p := c.study.PaperAt(c.study.Effect(c.place)); p != nil {
		return c.submitted(p)
	}
	if b := c.study.Bundle(c.place); b != nil {
		switch {
		case b.Result == nil:
			return nil
		case b.Result.Error != "":
			return c.wrong("The paper was not made: %s", event.Shorten(b.Result.Error, 2*maxReason))
		}
		return c.do(c.study.Submission(b))
	}
	b, bad := c.bundle(&x)
	if bad != "" {
		return c.wrong("%s", bad)
	}
	if text := c.costs(b); text != "" {
		if step, wait := c.asked(text, cost); wait {
			return step
		}
	}
	if step := c.arrive(study.Write, "the paper "+paper.Quote(event.Shorten(b.Title, 100))+" is submitted"); step != nil {
		return step
	}
	return c.do(b)
}

// costs says what is run for a paper: the programs of its figures, and whoever reviews it; empty if
// that is nothing. Its review begins later, perhaps with no call under way: so it is asked about here.
func (c *using) costs(b *event.BundleCall) string {
	var what []string
	if n := len(b.Figures); n > 0 {
		what = append(what, fmt.Sprintf("%d figures made, each twice", n))
	}
	if c.study.Reads() {
		what = append(what, fmt.Sprintf("it read by a reviewer if its checklist holds, round %d of %d", c.study.Rounds+1, study.MaxRounds))
	}
	if len(what) == 0 {
		return ""
	}
	return fmt.Sprintf("The researcher wants to submit the paper %s, and to have %s.", paper.Quote(b.Title), strings.Join(what, ", and "))
}

// maxBundle is how many bytes the call for a paper has, so that it fits into an event.
const maxBundle = 15 << 10

// bundle is the call that has a paper made, or what is wrong with it.
func (c *using) bundle(x *draft) (b *event.BundleCall, bad string) {
	x.Title = strings.TrimSpace(x.Title)
	branch, bad := c.branch(x.Branch)
	if bad == "" {
		bad = lines(x.Title, "")
	}
	if bad == "" {
		bad = fileOf(x.Source)
	}
	if bad == "" && x.Bibliography != "" {
		bad = fileOf(x.Bibliography)
	}
	if bad != "" {
		return nil, bad
	}
	of := c.study.Branch(branch)
	id, _ := c.study.NextPaper(branch)
	b = &event.BundleCall{
		Answer: c.place.Answer, Bibliography: x.Bibliography, Branch: branch, Checkpoint: of.Head, Figures: x.Figures, Paper: id, Part: c.place.Part,
		Source: x.Source, Title: x.Title,
	}
	if tree := c.study.Tree(of); tree != nil {
		b.Tree = *tree
	}
	if o := c.study.Outline(); o != nil {
		outputs, err := c.study.Outputs(o.Claims)
		if err != nil {
			return nil, capital(err.Error()) + "."
		}
		b.Claims, b.Outputs = o.Claims, outputs
	}
	if err := c.study.MayBundle(b); err != nil {
		return nil, capital(err.Error()) + "."
	}
	if !fitted(b) {
		return nil, "The claims, figures and results are too much for one paper: claim less, or say it in fewer words."
	}
	return b, ""
}

// fitted makes a call small enough for an event: of results with many figures the first of them
// is enough. It reports whether it is.
func fitted(b *event.BundleCall) bool {
	for _, most := range []int{study.MaxMetrics, 8, 2, 1} {
		for i := range b.Outputs {
			o := &b.Outputs[i]
			o.Metrics = o.Metrics[:min(len(o.Metrics), most)]
		}
		if data, err := json.Marshal(b); err == nil && len(data) <= maxBundle {
			return true
		}
	}
	return false
}

// fileOf says that something is no file of a branch.
func fileOf(path string) string {
	if p, err := workspace.Path(path); err != nil || p != path || p == "" || len(p) > study.MaxPath {
		return fmt.Sprintf("%s is no file of the branch.", paper.Quote(event.Shorten(path, 100)))
	}
	return ""
}

// submitted tells what came of a paper, once its review is given or there is none.
func (c *using) submitted(p *study.Paper) []event.Draft {
	if c.study.Reviewed != nil || c.study.Due() != nil {
		return nil
	}
	out := []string{fmt.Sprintf("%s, revision %d, is made: %s. PDF: %s.", p.ID, p.Revision, strings.Join(p.Files, ", "), cmp.Or(p.PDF, "none")), "Checklist:"}
	for _, r := range p.Checklist {
		line := "- " + r.Item + ": holds"
		if !r.Holds {
			line = "- " + r.Item + ": does not hold: " + strings.Join(r.Findings, "; ")
		}
		if w := c.study.Waiver(r.Item); !r.Holds && w != nil {
			line += " (waived: " + study.Quoted(w.Reason) + ")"
		}
		out = append(out, line)
	}
	if len(c.study.Unmet(p)) > 0 {
		out = append(out, "What does not hold keeps the study from finalize. Mend it and submit the paper again; only a person can waive an item.")
	}
	out = append(out, c.points(p)...)
	return c.say("%s", strings.Join(out, "\n"))
}

// points tell what the reviewer says of a revision. Its words are data.
func (c *using) points(p *study.Paper) (out []string) {
	for _, r := range c.study.Reviews {
		if r.Paper == p.ID && r.Revision == p.Revision {
			out = append(out, fmt.Sprintf("Review, round %d of %d, by %s: %s", r.Round, study.MaxRounds, r.Source, study.Quoted(r.Summary)))
		}
	}
	if c.study.Unreviewed == p.Seq {
		out = append(out, "Its review came to no end. Submit it again, or have a person waive review.")
	}
	open := c.study.OpenPoints()
	for _, q := range open {
		out = append(out, "- "+q.Line())
	}
	switch {
	case len(open) > 0 && c.study.Rounds < study.MaxRounds:
		out = append(out, fmt.Sprintf("Answer each with %s; a point is mended by a newer revision, which is the second and last round.", answerPoint))
	case len(open) > 0:
		out = append(out, fmt.Sprintf("These were the last rounds. Answer with %s what you can; the rest stands as warnings.", answerPoint))
	}
	return out
}

// review hands in a review: the reviewer's of the paper before it, or one of the materials.
func (c *using) review() []event.Draft {
	var x struct {
		Summary string `json:"summary"`
		Points  []struct {
			event.ReviewPoint
			Quotes []string `json:"quotes"`
		} `json:"points"`
		Source string `json:"source"`
	}
	if bad := c.read(&x); bad != "" {
		return c.wrong("%s", bad)
	}
	if c.study.Effect(c.place) != 0 {
		return c.say("The review is handed in.")
	}
	b := &event.ReviewGiven{Answer: c.place.Answer, Part: c.place.Part, Round: c.study.Rounds + 1, Source: x.Source, Summary: strings.TrimSpace(x.Summary)}
	if p := c.study.Paper(); p != nil {
		b.Paper = p.ID
	}
	if r := c.study.Reviewed; c.a.Name == Reviewer {
		if r == nil {
			return c.wrong("There is no paper before you.")
		}
		b.Paper, b.Round, b.Source = r.Paper, r.Round, study.SourceReviewer
	} else if sent := c.study.Sent(x.Source); sent == nil && c.study.Drops && !c.isMaterial(x.Source) {
		return c.wrong("%s is none of the quest's materials, nor a file that came with a message: source is the file that the review stands in, as it is called in your home, such as files/12/report.pdf.", paper.Quote(event.Shorten(x.Source, 100)))
	} else if sent == nil && !c.isMaterial(x.Source) {
		return c.wrong("%s is none of the quest's materials: source is the file there that the review stands in.", paper.Quote(event.Shorten(x.Source, 100)))
	}
	call := &event.ReportCall{Answer: c.place.Answer, Part: c.place.Part, Points: int64(len(x.Points)), Ref: c.study.Sent(x.Source), Source: x.Source}
	for i, p := range x.Points {
		b.Points = append(b.Points, event.ReviewPoint{Number: int64(len(c.study.Points) + i + 1), Severity: p.Severity, Text: strings.TrimSpace(p.Text)})
		for _, q := range p.Quotes {
			call.Quotes = append(call.Quotes, event.ReportQuote{Point: int64(i + 1), Text: q})
		}
	}
	if err := c.study.MayReview(c.a.Name, b); err != nil {
		return c.wrong("%s.", capital(err.Error()))
	}
	if c.a.Name != Reviewer && c.study.Compares {
		return c.report(call, b)
	}
	return c.do(b)
}

// report has the points of a review of the materials read against its file, and hands them in if
// they are what stands there. The file's words are data.
func (c *using) report(call *event.ReportCall, b *event.ReviewGiven) []event.Draft {
	r := c.study.Report(c.place)
	switch {
	case r == nil:
		if err := study.MayCompare(call); err != nil {
			return c.wrong("%s.", capital(err.Error()))
		}
		return c.do(call)
	case r.Result == nil:
		return nil
	case r.Result.Error != "":
		return c.wrong("The review was not read: %s", event.Shorten(r.Result.Error, maxReason))
	}
	if differs := r.Differs(); len(differs) > 0 {
		return c.wrong("The points are not those of the file:\n- %s\nQuote it as it stands, and leave nothing of it out; one point may quote several of the file's.", strings.Join(differs, "\n- "))
	}
	return c.do(b)
}

// isMaterial reports whether a file is one of the materials, or below one of them.
func (c *using) isMaterial(file string) bool {
	p, err := workspace.Path(file)
	return err == nil && p == file && file != study.SourceReviewer && slices.ContainsFunc(c.m.Settings.Materials, func(m string) bool {
		m = strings.TrimSuffix(strings.TrimPrefix(m, "./"), "/")
		return m != "" && (file == m || strings.HasPrefix(file, m+"/"))
	})
}

// point answers a point of a review.
func (c *using) point() []event.Draft {
	var x struct {
		Point   int64    `json:"point"`
		How     string   `json:"how"`
		Text    string   `json:"text"`
		Because []string `json:"because"`
	}
	if bad := c.read(&x); bad != "" {
		return c.wrong("%s", bad)
	}
	if c.study.Effect(c.place) != 0 {
		return c.say("Point %d is answered; %d are open.", x.Point, len(c.study.OpenPoints()))
	}
	b := &event.PointAnswered{Answer: c.place.Answer, Because: x.Because, How: x.How, Part: c.place.Part, Point: x.Point, Text: strings.TrimSpace(x.Text)}
	if p := c.study.Paper(); p != nil {
		b.Paper = p.ID
	}
	if bad := c.because(x.Because); bad != "" {
		return c.wrong("%s", bad)
	}
	if x.How == study.Warning {
		return c.wrong("how must be %s.", strings.Join(study.Hows, ", "))
	}
	if err := c.study.MayAnswer(b); err != nil {
		return c.wrong("%s.", capital(err.Error()))
	}
	return c.do(b)
}

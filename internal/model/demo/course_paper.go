package demo

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// The tools that a paper needs besides.
const (
	toolOutline = "submit_outline"
	toolPaper   = "submit_paper"
	toolPoint   = "answer_point"
)

// told is a result as the account of a study tells it.
type told struct{ id, kind, verdict, mae string }

var toldLine = late(`^- (result-\d+), (baseline|main|slice), ([a-z ]+): "([^"]*)": mae (-?[0-9.]+)`)

// results are those of an account, by what they are: the baseline, the idea that lost, the one that
// won, the slices, and what does not stand.
func results(account string) (base, lost, won, recent, growth told, wrong []told) {
	for line := range strings.Lines(account) {
		m := toldLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		r, title := told{m[1], m[2], m[3], m[5]}, strings.ToLower(m[4])
		switch {
		case r.verdict != "verified":
			wrong = append(wrong, r)
		case r.kind == "baseline":
			base = r
		case r.kind == "slice" && strings.Contains(title, yearAlone.name):
			growth = r
		case r.kind == "slice":
			recent = r
		case strings.Contains(title, meanOfYear.name):
			lost = r
		case strings.Contains(title, yearBefore.name):
			won = r
		}
	}
	return base, lost, won, recent, growth, wrong
}

// manuscript is the paper that a study is to come to.
type manuscript struct {
	s                               aSeries
	base, lost, won, recent, growth told
	wrong                           []told
	// revised says that a reviewer has read it.
	revised bool
}

// paper writes the paper, has it made and reviewed, and answers what the reviewer says.
func (c *course) paper(s aSeries) (string, error) {
	account, err := c.account()
	if err != nil {
		return stuck(err)
	}
	m := &manuscript{s: s}
	m.base, m.lost, m.won, m.recent, m.growth, m.wrong = results(account)
	for _, r := range []told{m.base, m.lost, m.won, m.recent, m.growth} {
		if r.id == "" {
			return "A result that the paper is about was not verified, so I write none.", nil
		}
	}
	if _, err := c.did("First what the paper claims, and by which results.", using(toolOutline, m.outline())); err != nil {
		return stuck(err)
	}
	said, err := c.draft(m)
	if err != nil {
		return stuck(err)
	}
	points := openPoints(said)
	if len(points) > 0 {
		m.revised = true
		if said, err = c.draft(m); err != nil {
			return stuck(err)
		}
	}
	for _, p := range points {
		if _, err := c.did("I answer the reviewer.", using(toolPoint, m.answer(p))); err != nil {
			return stuck(err)
		}
	}
	return c.goOn("finalize", "The paper is written and was reviewed.", []string{paperID.FindString(said)}, "The paper is there, and its reviewer was answered. What is left is the answer.")
}

var paperID = late(`\bpaper-\d+\b`)

type claim struct {
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	Results []string `json:"results"`
}

type outline struct {
	Title  string  `json:"title"`
	Claims []claim `json:"claims"`
}

const paperTitle = "The same month a year before forecasts the next one"

func (m *manuscript) outline() outline {
	return outline{paperTitle, []claim{
		{"season-wins", sentenceCase(yearBefore.name) + " has a smaller error than " + lastValue.name + ".", []string{m.won.id, m.base.id}},
		{"mean-loses", sentenceCase(meanOfYear.name) + " has a larger one.", []string{m.lost.id, m.base.id}},
		{"it-holds", "The gain is there in " + halves[1].name + " alone.", []string{m.recent.id}},
		{"growth-adds", "Without what a year has added the error is larger.", []string{m.growth.id, m.won.id}},
	}}
}

const paperBranch = "paper/forecasts"

// draft writes the paper's files, records them, and submits the paper. What does not hold of its
// checklist ends the sitting.
func (c *course) draft(m *manuscript) (string, error) {
	type prepare struct {
		Kind   string `json:"kind"`
		ID     string `json:"id"`
		Parent string `json:"parent"`
	}
	type name struct {
		Name string `json:"name"`
	}
	type message struct {
		Message string `json:"message"`
	}
	dir, say, record := path.Join("work", paperBranch), "I write the paper, with a figure that a program draws.", "The paper as it is submitted"
	if m.revised {
		say, record = "I mend what the reviewer found missing.", "The paper with what the reviewer found missing"
	}
	said, err := c.did(say,
		using(toolPrepare, prepare{"paper", path.Base(paperBranch), "main"}), using(toolActivate, name{paperBranch}),
		writeFile(path.Join(dir, "paper.md"), m.text()), writeFile(path.Join(dir, "references.bib"), m.bibliography()),
		writeFile(path.Join(dir, "errors.csv"), m.table()), writeFile(path.Join(dir, "errors.sh"), drawErrors),
		using(toolCheckpoint, message{record}), using(toolPaper, m.submission()))
	if err == nil && strings.Contains(said, ": does not hold: ") {
		err = fmt.Errorf("the paper does not hold: %s", brief(said[strings.Index(said, ": does not hold: "):]))
	}
	return said, err
}

// figured is a figure of a paper.
type figured struct {
	ID      string   `json:"id"`
	Caption string   `json:"caption"`
	Program string   `json:"program"`
	Output  string   `json:"output"`
	Data    []string `json:"data"`
}

type submission struct {
	Title        string    `json:"title"`
	Source       string    `json:"source"`
	Bibliography string    `json:"bibliography"`
	Figures      []figured `json:"figures"`
}

func (m *manuscript) submission() submission {
	caption := "The mean absolute error of each way; less is better."
	if m.revised {
		caption = "The mean absolute error of each way over the same months; less is better."
	}
	return submission{paperTitle, "paper.md", "references.bib", []figured{{"errors", caption, "errors.sh", "errors.svg", []string{"errors.csv"}}}}
}

// table is what the figure shows.
func (m *manuscript) table() string {
	return fmt.Sprintf("way,mae\nlast value,%s\nmean of a year,%s\nyear before,%s\n", m.base.mae, m.lost.mae, m.won.mae)
}

func (m *manuscript) bibliography() string {
	return fmt.Sprintf("@misc{series,\n  title = {%s, by month},\n  note = {%s of this study},\n}\n", sentenceCase(m.s.column), m.s.path)
}

// Sentences that the reviewer looks for. The first draft has none of them.
const (
	saysHowMany  = "Each error is the mean over"
	saysOtherWay = "Another measure than the absolute error was not tried"
)

// text is the paper. Every number in it stands in an output.
func (m *manuscript) text() string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n\n", args...) }
	add("# %s", paperTitle)
	add("## Question")
	add("What forecasts the %s of the next month [@series] better than %s does?", m.s.column, lastValue.name)
	add("## What was done")
	add("Three ways were tried on %s, each of which sees only what was before the month that it forecasts. What counts is the mean absolute error.", tested.name)
	if m.revised {
		add("%s %s, and all ways are measured on the same ones [%s].", saysHowMany, strings.TrimPrefix(tested.name, "the last "), m.won.id)
	}
	add("## Results")
	add("| way | error | result |\n|---|---|---|\n| %s | %s | %s |\n| %s | %s | %s |\n| %s | %s | %s |",
		lastValue.name, m.base.mae, m.base.id, meanOfYear.name, m.lost.mae, m.lost.id, yearBefore.name, m.won.mae, m.won.id)
	add("![The error of each way](errors.svg)")
	add("The baseline is %s: its error is %s %s [%s]. %s has an error of %s [%s]: it wins, as [@fig:errors] shows.", lastValue.name, m.base.mae, m.s.column, m.base.id, sentenceCase(yearBefore.name), m.won.mae, m.won.id)
	add("## What did not work")
	add("%s has an error of %s [%s]: it forgets the seasons.", sentenceCase(meanOfYear.name), m.lost.mae, m.lost.id)
	for _, r := range m.wrong {
		add("%s was written down wrongly and did not come out again: it stands for nothing.", r.id)
	}
	add("## Why")
	add("In %s alone the error is %s [%s], so the gain is no accident of the older months. Without what a year has added it is %s [%s].", halves[1].name, m.recent.mae, m.recent.id, m.growth.mae, m.growth.id)
	add("## Limits")
	limits := "One series was looked at, and one step ahead. A series without seasons would not show this."
	if m.revised {
		limits += " " + saysOtherWay + "."
	}
	add("%s", limits)
	add("%s", Label)
	return b.String()
}

// drawErrors draws bars with their values: they are told apart by their labels.
var drawErrors = script(`
	# Draws errors.csv as bars.
	awk -F, 'NR > 1 { n++; name[n] = $1; value[n] = $2; if ($2 > most) most = $2 }
	END {
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"%d\" font-family=\"sans-serif\" font-size=\"16\">\n", 48 * n + 16
		for (i = 1; i <= n; i++) {
			y = 48 * i - 40
			w = int(360 * value[i] / most)
			printf "<text x=\"8\" y=\"%d\">%s</text>\n", y + 25, name[i]
			printf "<rect x=\"160\" y=\"%d\" width=\"%d\" height=\"36\" fill=\"#dddddd\" stroke=\"#222222\"/>\n", y, w
			printf "<text x=\"%d\" y=\"%d\">%s</text>\n", 168 + w, y + 25, value[i]
		}
		print "</svg>"
	}' errors.csv > errors.svg
`)

// point is something that a reviewer says.
type point struct {
	number int
	text   string
}

var pointLine = late(`(?m)^- point (\d+), (?:major|minor), open: "(.*)"$`)

func openPoints(said string) (out []point) {
	for _, m := range pointLine.FindAllStringSubmatch(said, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			out = append(out, point{n, m[2]})
		}
	}
	return out
}

type reply struct {
	Point int    `json:"point"`
	How   string `json:"how"`
	Text  string `json:"text"`
}

// answer is what was done about a point.
func (m *manuscript) answer(p point) reply {
	if strings.Contains(p.text, "how many months") {
		return reply{p.number, "mended", "It is said under What was done, and in the caption."}
	}
	return reply{p.number, "rebutted", "The question was about the absolute error. The limits now say that no other measure was tried."}
}

// noPaper is how a prompt says that a study ends in a report.
const noPaper = `- paper: "none"`

// everything is what was said to an agent, as one text.
func everything(r *model.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if m.Role == model.User && p.Kind == event.PartText {
				b.WriteString(p.Text + "\n")
			}
		}
	}
	return b.String()
}

// referee is a reviewer in a study: it has the paper before it and nothing else.
type referee struct {
	*desk
	text string
}

// next reads the paper for what it does not say.
func (r *referee) next() (string, []call) {
	type found struct {
		Severity string `json:"severity"`
		Text     string `json:"text"`
	}
	type review struct {
		Summary string  `json:"summary"`
		Points  []found `json:"points,omitempty"`
	}
	v := review{Summary: "The claims follow from the figures that are shown. " + Label}
	if !strings.Contains(r.text, saysHowMany) {
		v.Points = append(v.Points, found{"major", "What was done: it is not said how many months each error is a mean of. A sentence would settle it."})
	}
	if !strings.Contains(r.text, saysOtherWay) {
		v.Points = append(v.Points, found{"minor", "Limits: would another measure than the absolute error rank the ways in the same order? A run or a sentence would settle it."})
	}
	if _, err := r.use("I have read the paper, and hand my review in.", using(toolReview, v)); err != nil {
		return mark + r.say, r.calls
	}
	return mark + "My review is handed in.", nil
}

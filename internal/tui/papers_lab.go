package tui

import (
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
	"lyceum/internal/view"

	tea "charm.land/bubbletea/v2"
)

// papers is the panel of a lab. They are shown from the last to the first.
type papers struct {
	state *quest.State
	// paper is the number of the one that is chosen, which does not change; latest says
	// that the last is chosen, whichever that is.
	paper  int
	latest bool
}

func newPapers(s *quest.State) panel { return &papers{state: s, latest: true} }

func (x *papers) library() *paper.Library { return lab.Library(x.state) }

func (x *papers) all() []*paper.Paper { return x.library().Papers }

func (x *papers) length() int { return len(x.all()) }

func (x *papers) asked(agent string) []string { return x.library().Asked[agent] }

func (x *papers) counts() []string {
	lib := x.library()
	return []string{fmt.Sprintf("%d published, %d submitted, %d rejected", lib.Count(event.Published), lib.Count(event.Submitted), lib.Count(event.Rejected)), view.Several(int64(len(lib.Votes)), "vote")}
}

func (x *papers) about(agent string) (facts []fact) {
	lib := x.library()
	vote := "none"
	if p := lib.Paper(lib.Votes[agent]); p != nil {
		vote = p.Ref + "  " + p.Title
	}
	facts = append(facts, fact{"vote", vote})
	for _, p := range lib.Requests(agent) {
		facts = append(facts, fact{"to review", p.Ref + "  " + p.Title})
	}
	for _, p := range lib.By(agent) {
		facts = append(facts, fact{"paper", p.Ref + "  " + p.Status + "  " + p.Title})
	}
	return facts
}

func (x *papers) move(by int) {
	last := x.length() - 1
	x.paper = max(min(max(x.chosen()-by, 0), last), 0)
	x.latest = x.paper == last
}

// chosen is the number of the paper that is chosen.
func (x *papers) chosen() int {
	if last := x.length() - 1; x.latest || x.paper > last {
		return last
	}
	return x.paper
}

func (x *papers) open(src *Source) (tea.Cmd, string) {
	i := x.chosen()
	if i < 0 {
		return nil, "There are no papers yet."
	}
	doc, read := NewDocument(x.library(), x.all()[i], src.Folder), src.Read
	return func() tea.Msg {
		err := doc.Load(func(t event.Text) (string, error) { return agent.Read(t, read) })
		return loaded{title: "Paper " + doc.Ref[:min(len(doc.Ref), 8)], text: doc.Render, err: err}
	}, ""
}

func (x *papers) list(m *Model, l layout) []string {
	all := x.all()
	inner := l.right - 2
	author := 0
	if inner >= 60 {
		author = 10
	}
	signsWidth := gradeWidth
	if inner < 40 {
		signsWidth = 3
	}
	numbers := 1 + signsWidth + 2 + 4 + 4 // grades, run, citations, votes
	title := max(inner-3-numbers, 0)
	if author > 0 {
		title -= author + 1
	}
	row := func(mark, sign, name, by, signs, ran, cited, votes string) string {
		out := mark + sign + " " + fit(name, title) + " "
		if author > 0 {
			out += fit(by, author) + " "
		}
		return out + fit(signs, signsWidth) + " " + ran + right(cited, 4) + right(votes, 4)
	}
	// What happens speaks of papers by the beginnings of their references.
	name := func(p *paper.Paper) string {
		if title < 40 {
			return line(p.Title)
		}
		return p.Ref[:min(len(p.Ref), 8)] + " " + line(p.Title)
	}
	rows := []string{faint.Render(row(" ", " ", "paper", "author", "rev", "r", "cit", "vot"))}
	n, chosen := len(all), x.chosen()
	from, to := around(n-1-max(chosen, 0), n, l.rows)
	for i := from; i < to; i++ {
		p := all[n-1-i]
		style := statusStyle(p.Status)
		rows = append(rows, row(m.mark(panelPane, n-1-i == chosen), style.Render(statusSign(p.Status)), name(p), line(p.Author),
			gradeSigns(p, signsWidth), run(p), some(p.Cited), some(p.Votes)))
	}
	if n == 0 {
		rows = append(rows, faint.Render("   Nothing has been handed in yet."))
	}
	return frame(bold.Render("Papers"), place(from, to, n), padded(rows, l.lists-2), l.right, m.focus == panelPane)
}

func statusSign(status string) string {
	switch status {
	case event.Published:
		return "●"
	case event.Rejected:
		return "×"
	}
	return "◌"
}

// run is what came of a paper's entry point, as one character: a question mark where a
// claim is not in its output.
func run(p *paper.Paper) string {
	switch r := p.Reproduction; {
	case r != nil && len(r.Missing) > 0:
		return red.Render("?")
	case r != nil && r.Status == event.SameOutput:
		return green.Render("=")
	case r != nil && r.Status == event.Differs:
		return yellow.Render("≠")
	case r != nil:
		return red.Render("!")
	case p.Trial != 0:
		return "…"
	}
	return " "
}

// gradeWidth is room for the signs of as many reviews; more are counted.
const gradeWidth = 5

func gradeSigns(p *paper.Paper, width int) string {
	yes, no, open := grades(p)
	if yes+no+open <= width {
		return green.Render(strings.Repeat("✓", yes)) + red.Render(strings.Repeat("✗", no)) + faint.Render(strings.Repeat("·", open))
	}
	return green.Render(fmt.Sprint(yes)) + "/" + red.Render(fmt.Sprint(no))
}

// grades are the reviews of a paper as signs: those that accept, those that reject,
// and a point for each that is to come.
func grades(p *paper.Paper) (accepts, rejects, open int) {
	for _, r := range p.Reviews {
		if r.Grade == event.Accept {
			accepts++
		} else {
			rejects++
		}
	}
	if p.Status == event.Submitted {
		for _, r := range p.Requests {
			if r.State == paper.Open {
				open++
			}
		}
	}
	return accepts, rejects, open
}

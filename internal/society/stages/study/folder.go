package study

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/society/lab/paper"
)

// Page is a file of the quest's folder that follows from the study: its path, what it is at its
// head, and a text. Key is another when the page is.
type Page struct {
	Path, Head, Key string
	Text            event.Text
}

// Pages are the files of cards, artifacts and results, in their order.
func (s *Study) Pages(quest string) (out []Page) {
	for _, c := range s.Cards {
		out = append(out, Page{Path: "memory/" + c.File(), Head: c.Header(quest), Key: fmt.Sprint(c.Seq, c.Promoted), Text: c.Text})
	}
	for _, a := range s.Artifacts {
		out = append(out, Page{Path: "artifacts/" + a.ID + ".md", Head: s.page(a), Key: fmt.Sprint(a.Seq, a.Replaced)})
	}
	for _, r := range s.Results {
		out = append(out, Page{Path: "artifacts/" + r.ID + ".md", Head: r.page(), Key: fmt.Sprint(r.Seq, r.Run, r.Accepted)})
	}
	return out
}

// page is a result for people: its figures, and what came of running it again.
func (r *Result) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, AsOf+"\n\n", max(r.Seq, r.Run, r.Accepted))
	fmt.Fprintf(&b, "# %s\n\n- id: %s\n- kind: %s result\n- recorded: %s, event %d\n- verdict: %s\n", paper.Quote(r.Title), r.ID, r.Kind, r.Time, r.Seq, tellVerdict(r))
	from, output := "", ""
	if r.From != nil {
		from = r.From.Result + " of " + r.From.Quest
	}
	if r.Output != nil {
		output = r.Output.Hash.String()
	}
	for _, p := range []Pair{
		{"why", r.Why}, {"from", from}, {"branch", r.Branch}, {"campaign", r.Campaign}, {"slice", r.Slice}, {"program", r.Entrypoint}, {"its folder", r.Tree.Hash.String()},
		{"what it printed", output}, {"because", strings.Join(r.Because, ", ")}, {"summary", r.Summary},
	} {
		if p.Value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", p.Name, paper.Quote(p.Value))
		}
	}
	if r.Accepted != 0 {
		fmt.Fprintf(&b, "- accepted as baseline: event %d\n", r.Accepted)
	}
	b.WriteString("\n| figure | value | unit | better | tolerance | data |\n|---|---|---|---|---|---|\n")
	for _, m := range r.Metrics {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", cell(m.Name), m.Value, cell(m.Unit), m.Direction, m.Tolerance, m.Data)
	}
	return b.String()
}

// cell is a stranger's word in a table.
func cell(s string) string { return strings.ReplaceAll(paper.Quote(s), "|", `\u007c`) }

// AsOf is how a page begins that changes: with the last event that it tells of.
const AsOf = "<!-- as of event %d -->"

// page is an artifact for people. What its author wrote stands in quotes.
func (s *Study) page(a *Artifact) string {
	var b strings.Builder
	last := a.Seq
	if by := s.Artifact(a.Replaced); by != nil {
		last = by.Seq
	}
	fmt.Fprintf(&b, AsOf+"\n\n", last)
	fmt.Fprintf(&b, "# %s\n\n- id: %s\n- kind: %s\n- stage: %s\n- recorded: %s, event %d\n", paper.Quote(a.Title), a.ID, a.Kind, a.Stage, a.Time, a.Seq)
	for _, p := range []Pair{
		{"branch", a.Branch}, {"verdict", a.Verdict}, {"action", a.Action}, {"because", strings.Join(a.Because, ", ")}, {"replaced by", a.Replaced},
		{"summary", a.Summary},
	} {
		if p.Value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", p.Name, paper.Quote(p.Value))
		}
	}
	return b.String()
}

// Track is the way of the study through its stages, in Markdown: where it is, what the next ones
// need, and how it came there.
func (s *Study) Track() string {
	var b strings.Builder
	b.WriteString("# Plan\n")
	for _, to := range Anchors {
		mark := " "
		switch {
		case to == s.Anchor:
			mark = ">"
		case !Forward(s.Anchor, to):
			mark = "x"
		}
		fmt.Fprintf(&b, "\n- [%s] %s", mark, to)
		if lacks := s.Lacks(to); Forward(s.Anchor, to) && len(lacks) > 0 {
			fmt.Fprintf(&b, ": needs %s (%s)", lacks[len(lacks)-1].Needs, lacks[len(lacks)-1].Name)
		}
	}
	if len(s.Moves) > 0 {
		b.WriteString("\n\n## Moves\n")
	}
	for _, m := range slices.Backward(s.Moves) {
		fmt.Fprintf(&b, "\n- %s, event %d, by %s: from %s to %s, %s", m.Time, m.Seq, m.Actor, m.From, m.To, paper.Quote(m.Reason))
	}
	return b.String() + "\n"
}

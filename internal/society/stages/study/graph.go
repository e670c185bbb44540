package study

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"
)

// Bounds of what is drawn. The newest checkpoints stay.
const (
	maxDrawn   = 200
	maxSubject = 72
)

// Graph is all lines of work in words: each below the one that it comes from, with its last
// checkpoints.
func (s *Study) Graph() string {
	children := map[string][]*Branch{}
	for _, b := range s.Branches[1:] {
		children[b.Parent] = append(children[b.Parent], b)
	}
	steps := map[string][]*Checkpoint{}
	for i := range s.Checkpoints {
		c := &s.Checkpoints[i]
		steps[c.Branch] = append(steps[c.Branch], c)
	}
	var out strings.Builder
	var draw func(b *Branch, indent string)
	draw = func(b *Branch, indent string) {
		here := ""
		if b.Name == s.Current {
			here = ", you are here"
		}
		fmt.Fprintf(&out, "%s* %s%s\n", indent, b.title(), here)
		const most = 5
		own := steps[b.Name]
		if n := len(own) - most; n > 0 {
			fmt.Fprintf(&out, "%s| (%d before these)\n", indent, n)
			own = own[n:]
		}
		for _, c := range own {
			fmt.Fprintf(&out, "%s| %d %s\n", indent, c.Seq, c.subject())
		}
		for _, child := range children[b.Name] {
			draw(child, indent+"  ")
		}
	}
	draw(s.Branches[0], "")
	return out.String()
}

// title is a line of work in a line.
func (b *Branch) title() string {
	text := fmt.Sprintf("%s (%d checkpoints", b.Name, b.Count)
	if b.From != 0 {
		text += fmt.Sprintf(", from %d", b.From)
	}
	if b.Closed != 0 {
		text += fmt.Sprintf(", closed by %d", b.Closed)
	}
	return text + ")"
}

// subject is the first line of a message, as people are shown it.
func (c *Checkpoint) subject() string {
	first, _, _ := strings.Cut(c.Message, "\n")
	first = plain.Line(first)
	if utf8.RuneCountInString(first) > maxSubject {
		first = string([]rune(first)[:maxSubject-1]) + "…"
	}
	return first
}

// escaped is a text within SVG.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// Picture is the same as an SVG: a lane for each line of work, a row for each checkpoint, the
// oldest first.
func (s *Study) Picture() string {
	const rowHeight, laneWidth, top = 24, 18, 28
	steps := s.Checkpoints
	left := max(0, len(steps)-maxDrawn)
	steps = steps[left:]
	lane := map[string]int{} // in the order in which they are first drawn
	for _, c := range steps {
		if _, ok := lane[c.Branch]; !ok {
			lane[c.Branch] = len(lane)
		}
	}
	text := 20 + (len(lane)+1)*laneWidth
	at := func(i int) (x, y int) { return 20 + lane[steps[i].Branch]*laneWidth, top + i*rowHeight }
	row := map[uint64]int{}
	var lines, dots strings.Builder
	for i, c := range steps {
		x, y := at(i)
		row[c.Seq] = i
		if p, ok := row[c.Parent]; ok {
			px, py := at(p)
			fmt.Fprintf(&lines, `<path d="M%d %d C%d %d %d %d %d %d"/>`+"\n", px, py, px, py+rowHeight, x, y-rowHeight, x, y)
		}
		fmt.Fprintf(&dots, `<circle cx="%d" cy="%d" r="5" fill="%s"/>`+"\n", x, y, colours[lane[c.Branch]%len(colours)])
		label := fmt.Sprintf("%d %s", c.Seq, c.subject())
		if b := s.Branch(c.Branch); b.Head == c.Seq {
			label = "[" + b.Name + "] " + label
		}
		fmt.Fprintf(&dots, `<text x="%d" y="%d">%s</text>`+"\n", text, y+4, escaped.Replace(label))
	}
	head := fmt.Sprintf("%d lines of work, %d checkpoints", len(s.Branches), len(s.Checkpoints))
	if left > 0 {
		head += fmt.Sprintf(", the last %d", maxDrawn)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n"+
		`<text x="10" y="14" fill="#666">%s</text>`+"\n"+`<g fill="none" stroke="#999" stroke-width="2">`+"\n%s</g>\n<g>\n%s</g>\n</svg>\n",
		text+700, top+len(steps)*rowHeight+10, head, lines.String(), dots.String())
}

// colours tell lanes apart.
var colours = []string{"#1f6fb2", "#c4541a", "#2e8b57", "#8a4fa3", "#b8860b", "#5f6b7a"}

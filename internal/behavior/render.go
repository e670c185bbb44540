package behavior

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"lyceum/internal/plain"
)

// Text tells a person what each thread states now, and how the program stands.
func (p *Program) Text() string {
	var out strings.Builder
	for _, d := range p.Describe() {
		out.WriteString(d.Name)
		if d.Text != "" {
			out.WriteString(": " + d.Text)
		}
		out.WriteByte('\n')
		if d.Broken != "" {
			fmt.Fprintf(&out, "  broke down: %s\n", d.Broken)
		}
		for _, line := range d.States {
			out.WriteString("  " + line + "\n")
		}
	}
	return out.String() + "status: " + oneLine(p.Status().String()) + "\n"
}

// standing is what a part of a thread states.
type standing struct {
	who  string
	bids Bids
}

// standings implements what Text asks for: who stands at each point.
func (r *each) standings() (out []standing) {
	const most = 3
	by := make([][]string, len(r.points)+1)
	for _, key := range slices.Sorted(maps.Keys(r.at)) {
		at := r.at[key].Point
		by[at] = append(by[at], key)
	}
	name := strings.Join(r.per, ".")
	for i := range r.points {
		if r.count[i] == 0 {
			continue
		}
		names := by[i]
		if more := len(names) - most; more > 0 {
			names = append(names[:most:most], fmt.Sprintf("%d more", more))
		}
		if r.rest.Point == i {
			names = append(names, "every other")
		}
		out = append(out, standing{name + " " + strings.Join(names, ", "), r.points[i].Bids})
	}
	return out
}

// lines says what is stated, one thing in each.
func (b *Bids) lines() (out []string) {
	out = b.onward()
	for i := range b.Block {
		out = append(out, b.Block[i].line())
	}
	if text := wording(b.Interrupt); text != "" {
		out = append(out, "is interrupted by "+text)
	}
	return out
}

// onward says what leads on from here.
func (b *Bids) onward() (out []string) {
	for _, e := range b.Request {
		out = append(out, "requests "+e.String())
	}
	text := wording(b.Wait)
	if text != "" {
		out = append(out, "waits for "+text)
	}
	if p, ok := b.Wait.(passage); ok && p.times > 1 && text == "" {
		out = append(out, fmt.Sprintf("%d times", p.times))
	}
	return out
}

func (b *Ban) line() string {
	out := "blocks " + wording(b.Match)
	if b.Ask != nil {
		out = "asks a person about " + wording(b.Match)
	}
	if b.Later {
		out += " for now"
	}
	if b.Reason != "" {
		out += " (" + b.Reason + ")"
	}
	return out
}

// wording is the text of a matcher. That is code of a thread's, and may panic.
func wording(m Matcher) (text string) {
	defer func() {
		if recover() != nil {
			text = "?"
		}
	}()
	if m == nil {
		return ""
	}
	return m.String()
}

// oneLine takes out of a text what would break a line, move the cursor of a
// terminal or turn the direction of writing.
func oneLine(s string) string {
	return (plain.People | plain.Controls).Replace(s, ' ')
}

// Mermaid draws threads as a Mermaid flowchart: their points in order, with what
// they block there, and what leads from one to the next.
func Mermaid(threads []Thread) string {
	var out strings.Builder
	out.WriteString("flowchart TD\n")
	for i, t := range threads {
		draw(&out, fmt.Sprintf("t%d", i), &t)
	}
	return out.String()
}

func draw(out *strings.Builder, id string, t *Thread) {
	repeat, title := t.Repeat, t.Name
	for i := range t.Outline {
		if p, ok := t.Outline[i].Wait.(passage); ok && p.per != "" {
			repeat, title = p.repeat, t.Name+" for each "+p.per
		}
	}
	fmt.Fprintf(out, "  subgraph %s[%s]\n", id, label(title))
	if len(t.Outline) == 0 {
		text := t.Text
		if text == "" {
			text = t.Name
		}
		fmt.Fprintf(out, "    %sp0[%s]\n", id, label(text))
	}
	for i := range t.Outline {
		lines := []string{fmt.Sprint(i + 1)}
		for j := range t.Outline[i].Block {
			lines = append(lines, t.Outline[i].Block[j].line())
		}
		fmt.Fprintf(out, "    %sp%d[%s]\n", id, i, label(lines...))
	}
	drawEdges(out, id, t.Outline, repeat)
	out.WriteString("  end\n")
}

func drawEdges(out *strings.Builder, id string, points []Bids, repeat bool) {
	var edges strings.Builder
	over := id + "e"
	for i := range points {
		to := fmt.Sprintf("%sp%d", id, i+1)
		switch {
		case i+1 < len(points):
		case repeat:
			to = id + "p0"
		default:
			to = over
		}
		if onward := points[i].onward(); len(onward) > 0 {
			fmt.Fprintf(&edges, "    %sp%d -->|%s| %s\n", id, i, label(onward...), to)
		}
		if text := wording(points[i].Interrupt); text != "" {
			fmt.Fprintf(&edges, "    %sp%d -.->|%s| %s\n", id, i, label("interrupted by "+text), over)
		}
	}
	if strings.Contains(edges.String(), "| "+over+"\n") {
		fmt.Fprintf(out, "    %s([%s])\n", over, label("over"))
	}
	out.WriteString(edges.String())
}

var lowerEnd = regexp.MustCompile(`\bend\b`)

// label quotes lines of text for Mermaid. All but letters, digits and a few signs
// become entities: Mermaid looks for directives, comments, Markdown and HTML
// within quotes too.
func label(lines ...string) string {
	const most = 300
	out := make([]string, len(lines))
	for i, line := range lines {
		text := []rune(oneLine(line))
		if len(text) > most {
			text = append(text[:most:most], '…')
		}
		var safe strings.Builder
		for _, r := range text {
			if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune(" .,-_=≤≥…", r) {
				safe.WriteRune(r)
			} else {
				fmt.Fprintf(&safe, "#%d;", r)
			}
		}
		// Some versions take the word for the end of the subgraph.
		out[i] = lowerEnd.ReplaceAllString(safe.String(), "#101;nd")
	}
	return `"` + strings.Join(out, "<br/>") + `"`
}

package bundle

import (
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/evidence"
)

// passage is a part of the paper whose numbers are claims, line by line, and the results that it
// cites.
type passage struct {
	lines  map[int]*strings.Builder
	order  []int
	citing []string
}

func (p *passage) add(line int, text string) {
	if p.lines == nil {
		p.lines = map[int]*strings.Builder{}
	}
	for part := range strings.Lines(text) {
		if p.lines[line] == nil {
			p.lines[line] = &strings.Builder{}
			p.order = append(p.order, line)
		}
		p.lines[line].WriteString(strings.TrimSuffix(part, "\n"))
		if strings.HasSuffix(part, "\n") {
			line++
		}
	}
}

func (p *passage) spans(list []span, line int) int {
	for i := range list {
		s := &list[i]
		if s.line > 0 {
			line = s.line
		}
		switch s.kind {
		case words, fixed:
			p.add(line, s.text)
		case inMath:
			p.add(line, s.formula.claims())
		case lineBreak, cited:
			p.add(line, " ")
		default:
			line = p.spans(s.spans, line)
		}
		for _, c := range s.cites {
			if ResultID(c.key) {
				p.citing = append(p.citing, c.key)
			}
			if c.after != "" || c.before != "" { // a page is no claim, but a figure hides there well
				p.add(line, " "+located(c.before)+" "+located(c.after))
			}
		}
	}
	return line
}

// located leaves out the page of a citation: p. 3, pp. 3-5, ch. 2.
func located(s string) string {
	first, rest, _ := strings.Cut(s, " ")
	for _, word := range []string{"p.", "pp.", "ch.", "chap.", "sec.", "fig.", "table", "vol.", "§"} {
		if strings.EqualFold(first, word) {
			return strings.TrimLeft(rest, "0123456789-–, ")
		}
	}
	return s
}

// passages are what the paper says: its title, claims, captions, and all of its text but for
// programs that are shown. A block of code without a language is no program.
func (d *document) passages() (out []*passage) {
	add := func(line int, text string, citing ...string) {
		p := &passage{citing: citing}
		p.add(line, text)
		out = append(out, p)
	}
	add(0, d.Title)
	for _, c := range d.Claims {
		add(0, c.Text, c.Results...)
	}
	for i := range d.Figures {
		add(0, d.Figures[i].Caption)
	}
	walk(d.blocks, func(b *block) {
		p := &passage{}
		switch {
		case b.kind == code && (b.language == "" || strings.EqualFold(b.language, "text")):
			for i, l := range b.lines {
				p.add(b.line+i, l)
			}
		case b.kind == table:
			for i, row := range b.rows {
				line := b.line + i
				if i > 0 {
					line++ // the line of dashes
				}
				for _, cell := range row {
					line = p.spans(cell, line)
					p.add(line, " ; ")
				}
			}
		default:
			p.spans(b.spans, b.line)
		}
		out = append(out, p)
	})
	return out
}

// trace finds for each number of the paper the result whose output it follows from. What the
// passage cites comes first. A number that stands in a line twice is told once.
func (d *document) trace() (out []event.NumberTraced) {
	known := make([]*evidence.Known, len(d.Outputs))
	for i := range d.Outputs {
		known[i] = evidence.Know([]string{ends(d.Outputs[i].Text)})
	}
	for _, p := range d.passages() {
		order := d.order(p.citing)
		for _, line := range p.order {
			text := p.lines[line].String()
			missing := make([][]string, len(known))
			for i, k := range known {
				missing[i] = k.Missing(text)
			}
			var seen []string
			for _, n := range evidence.Numbers(text) {
				if slices.Contains(seen, n.Text) {
					continue
				}
				seen = append(seen, n.Text)
				x := event.NumberTraced{Line: int64(line), Text: event.Shorten(n.Text, 60)}
				for _, i := range order {
					if !slices.Contains(missing[i], n.Text) {
						x.Result = d.Outputs[i].Result
						break
					}
				}
				out = append(out, x)
			}
		}
	}
	return out
}

// order is that in which outputs are looked through: those that are cited first, then those that
// were verified.
func (d *document) order(citing []string) []int {
	rank := func(i int) int {
		switch o := &d.Outputs[i]; {
		case slices.Contains(citing, o.Result):
			return 0
		case o.Verdict == verified:
			return 1
		}
		return 2
	}
	out := make([]int, len(d.Outputs))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return rank(a) - rank(b) })
	return out
}

// verified is the verdict on a result that two runs have printed.
const verified = "verified"

// ends are the beginning and the end of what is too long to be looked through.
func ends(s string) string {
	if len(s) <= MaxOutput {
		return s
	}
	return s[:MaxOutput/2] + "\n" + s[len(s)-MaxOutput/2:]
}

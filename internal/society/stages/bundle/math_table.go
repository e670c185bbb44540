package bundle

import (
	"regexp"
	"slices"
	"strings"
)

// Tables of a formula stand between \begin and \end of a name from a closed list: lines that end with
// two backslashes, of cells that end with an ampersand. Neither means anything elsewhere in a formula.

// mathEnv is what a name stands for.
type mathEnv struct {
	// tex is the name that is written: what a paragraph of TeX has is set within a formula.
	tex string
	// open and end stand around it, columns is how many it may have.
	open, end string
	columns   int
}

// mathTables are all that there are.
var mathTables = map[string]*mathEnv{
	"align": {tex: "aligned", columns: 12}, "align*": {tex: "aligned", columns: 12}, "aligned": {tex: "aligned", columns: 12}, "cases": {tex: "cases", open: "{", columns: 2},
	"matrix": {tex: "matrix", columns: 10}, "pmatrix": {tex: "pmatrix", open: "(", end: ")", columns: 10}, "bmatrix": {tex: "bmatrix", open: "[", end: "]", columns: 10},
	"Bmatrix": {tex: "Bmatrix", open: "{", end: "}", columns: 10}, "vmatrix": {tex: "vmatrix", open: "|", end: "|", columns: 10}, "Vmatrix": {tex: "Vmatrix", open: "‖", end: "‖", columns: 10},
}

// Bounds of a table.
const maxMathLines = 40

// lineGap is room that TeX leaves after a line. A page does not.
var lineGap = regexp.MustCompile(`^\[ ?[0-9]{0,2}(?:\.[0-9]{1,2})? ?(?:pt|ex|em|mm)\]`)

// table reads lines of cells until the end of its name.
func (r *mathReader) table() *formula {
	name, rest, found := strings.Cut(strings.TrimPrefix(r.rest(), "{"), "}")
	env := mathTables[name]
	if !found || env == nil || !strings.HasPrefix(r.rest(), "{"+name+"}") || strings.HasPrefix(rest, "[") {
		return r.fail()
	}
	r.at += len(name) + 2
	out, line := &formula{kind: mathTable, tex: env.tex, env: env}, &formula{kind: mathLine}
	for !r.bad {
		line.parts = append(line.parts, r.cell())
		if len(line.parts) > env.columns || len(out.parts) >= maxMathLines {
			return r.fail()
		}
		if r.take("&") {
			continue
		}
		out.parts, line = append(out.parts, line), &formula{kind: mathLine}
		switch {
		case r.take(`\\`):
			r.at += len(lineGap.FindString(r.rest()))
		case r.take(`\end{` + name + "}"):
			return out.trimmed(r)
		default:
			return r.fail()
		}
	}
	return r.fail()
}

// cell reads parts until something ends the cell.
func (r *mathReader) cell() *formula {
	out := &formula{kind: mathRow}
	if r.depth++; r.depth > maxFormulaDepth {
		return r.fail()
	}
	defer func() { r.depth-- }()
	for {
		r.skip()
		rest := r.rest()
		switch {
		case rest == "":
			return r.fail()
		case rest[0] == '&', strings.HasPrefix(rest, `\\`), strings.HasPrefix(rest, `\end{`):
			return out
		}
		out.parts = append(out.parts, r.scripted())
	}
}

// trimmed is a table without an empty line at its end; one with nothing in it is none.
func (f *formula) trimmed(r *mathReader) *formula {
	filled := func(l *formula) bool {
		return slices.ContainsFunc(l.parts, func(c *formula) bool { return len(c.parts) > 0 })
	}
	if n := len(f.parts); len(f.parts[n-1].parts) == 1 && !filled(f.parts[n-1]) {
		f.parts = f.parts[:n-1]
	}
	if !slices.ContainsFunc(f.parts, filled) {
		return r.fail()
	}
	return f
}

// tableInTeX writes a table. What TeX would take for an option of a table or of a line is not at the beginning of
// a cell.
func (f *formula) tableInTeX(b *strings.Builder) {
	b.WriteString(`\begin{` + f.tex + "}")
	for i, line := range f.parts {
		if i > 0 {
			b.WriteString(`\\`)
		}
		for j, cell := range line.parts {
			if j > 0 {
				b.WriteString("&")
			}
			text := cell.latex()
			if j == 0 && (strings.HasPrefix(text, "[") || strings.HasPrefix(text, "*")) {
				b.WriteString("{}")
			}
			b.WriteString(text)
		}
	}
	b.WriteString(`\end{` + f.tex + "}")
}

// table writes one for a browser.
func (w *mathWriter) table(f *formula) {
	w.WriteString("<mrow>")
	w.edge(f.env.open)
	was := w.display
	if w.display = f.tex == "aligned"; w.display {
		w.WriteString(`<mtable displaystyle="true">`)
	} else {
		w.WriteString("<mtable>")
	}
	for _, line := range f.parts {
		w.WriteString("<mtr>")
		for i, cell := range line.parts {
			w.WriteString(`<mtd class="` + column(f.tex, i) + `">`)
			w.row(cell.parts)
			w.WriteString("</mtd>")
		}
		w.WriteString("</mtr>")
	}
	w.display = was
	w.WriteString("</mtable>")
	w.edge(f.env.end)
	w.WriteString("</mrow>")
}

// column is the class of a cell, which says where its side is.
func column(tex string, at int) string {
	switch {
	case tex == "cases":
		return "case"
	case tex == "aligned" && at%2 == 0:
		return "left-of"
	case tex == "aligned":
		return "right-of"
	}
	return "entry"
}

// sayTable writes the numbers of a table. A line of equations is one formula, whose sides are values as
// they are elsewhere; an entry of a matrix or a case is a part of the whole.
func (f *formula) sayTable(b *strings.Builder, value bool) {
	for _, line := range f.parts {
		b.WriteString(" ")
		if f.tex == "aligned" {
			whole := &formula{kind: mathRow}
			for _, cell := range line.parts {
				whole.parts = append(whole.parts, cell.parts...)
			}
			b.WriteString(whole.claims() + " ; ")
			continue
		}
		for _, cell := range line.parts {
			cell.say(b, value)
			b.WriteString(" ; ")
		}
	}
}

package bundle

import (
	"fmt"
	"html"
	"strings"
)

// latex is a formula as TeX has it, made of our own names alone. It can stand in any formula.
func (f *formula) latex() string {
	var b strings.Builder
	for _, p := range f.parts {
		p.inTeX(&b)
	}
	return b.String()
}

func (f *formula) inTeX(b *strings.Builder) {
	group := func(p *formula) {
		b.WriteString("{")
		if p.kind == mathRow {
			b.WriteString(p.latex())
		} else {
			p.inTeX(b)
		}
		b.WriteString("}")
	}
	switch f.kind {
	case mathRow:
		group(f)
	case mathFraction:
		b.WriteString(`\` + f.tex)
		group(f.parts[0])
		group(f.parts[1])
	case mathRoot:
		b.WriteString(`\sqrt`)
		if len(f.parts) > 1 {
			b.WriteString("[")
			group(f.parts[1])
			b.WriteString("]")
		}
		group(f.parts[0])
	case mathAccent:
		b.WriteString(`\` + f.tex)
		group(f.parts[0])
	case mathTable:
		f.tableInTeX(b)
	case mathFence:
		b.WriteString(`\left` + f.tex + " " + f.parts[0].latex() + `\right` + f.closing.tex + " ")
	case mathScript:
		f.parts[0].inTeX(b)
		if below := f.parts[1]; below != nil {
			b.WriteString("_")
			group(below)
		}
		if above := f.parts[2]; above != nil || f.primes > 0 {
			b.WriteString("^{" + strings.Repeat(`\prime `, f.primes))
			if above != nil {
				above.inTeX(b)
			}
			b.WriteString("}")
		}
	default:
		b.WriteString(f.tex)
		if strings.HasPrefix(f.tex, `\`) && asciiLetter(rune(f.tex[len(f.tex)-1])) {
			b.WriteString(" ")
		}
	}
}

// mathML is a formula for a browser.
func (f *formula) mathML(display bool) string {
	w := &mathWriter{display: display}
	w.row(f.parts)
	if display {
		return `<math display="block">` + w.String() + "</math>"
	}
	return "<math>" + w.String() + "</math>"
}

// mathWriter writes a formula for a browser.
type mathWriter struct {
	strings.Builder
	display bool
}

func (w *mathWriter) element(name, text string) {
	fmt.Fprintf(w, "<%s>%s</%s>", name, html.EscapeString(text), name)
}

// within writes parts as the children of an element; each is one.
func (w *mathWriter) within(name string, parts ...*formula) {
	w.WriteString("<" + name + ">")
	for _, p := range parts {
		w.part(p)
	}
	element, _, _ := strings.Cut(name, " ")
	w.WriteString("</" + element + ">")
}

func (w *mathWriter) row(parts []*formula) {
	for i, p := range parts {
		w.part(p)
		if i+1 < len(parts) && p.applied() && parts[i+1].kind != mathSign && parts[i+1].kind != mathFence && parts[i+1].kind != mathSpace {
			w.WriteString(`<mspace width="0.167em"/>`)
		}
	}
}

// applied reports whether a part is the name of a function, perhaps with scripts.
func (f *formula) applied() bool {
	return f.kind == mathFunction || f.kind == mathScript && f.parts[0].kind == mathFunction
}

func (w *mathWriter) part(f *formula) {
	switch f.kind {
	case mathRow:
		w.WriteString("<mrow>")
		w.row(f.parts)
		w.WriteString("</mrow>")
	case mathNumber:
		w.element("mn", f.char)
	case mathLetter, mathFunction:
		w.element("mi", f.char)
	case mathSign:
		w.sign(f.char, strings.Contains("()[]{}|‖⟨⟩⌊⌋⌈⌉/↑↓", f.char))
	case mathWords:
		w.words(f)
	case mathSpace:
		fmt.Fprintf(w, `<mspace width="%s"/>`, f.char)
	case mathFraction:
		w.fraction(f)
	case mathRoot:
		if len(f.parts) > 1 {
			w.within("mroot", f.parts...)
			break
		}
		w.within("msqrt", f.parts[0])
	case mathScript:
		w.script(f)
	case mathAccent:
		name := "mover"
		if f.tex == "underline" {
			name = "munder"
		}
		fmt.Fprintf(w, `<%s accent="true">`, name)
		w.part(f.parts[0])
		w.sign(f.char, !strings.HasPrefix(f.tex, "wide") && !strings.HasSuffix(f.tex, "line"))
		fmt.Fprintf(w, "</%s>", name)
	case mathTable:
		w.table(f)
	case mathFence:
		w.WriteString("<mrow>")
		w.edge(f.char)
		w.row(f.parts[0].parts)
		w.edge(f.closing.char)
		w.WriteString("</mrow>")
	}
}

// sign writes one; fixed says that it does not grow with what stands beside it.
func (w *mathWriter) sign(char string, fixed bool) {
	if !fixed {
		w.element("mo", char)
		return
	}
	fmt.Fprintf(w, `<mo stretchy="false">%s</mo>`, html.EscapeString(char))
}

// edge is one of a fence, which grows.
func (w *mathWriter) edge(char string) {
	if char != "" {
		fmt.Fprintf(w, `<mo fence="true" stretchy="true">%s</mo>`, html.EscapeString(char))
	}
}

// words are upright. A browser would slant a single letter, and drop spaces at the ends.
func (w *mathWriter) words(f *formula) {
	switch {
	case strings.HasPrefix(f.tex, `\text`):
		w.element("mtext", strings.ReplaceAll(f.char, " ", "\u00a0"))
	case len(f.char) == 1:
		fmt.Fprintf(w, `<mi mathvariant="normal">%s</mi>`, html.EscapeString(f.char))
	default:
		w.element("mi", f.char)
	}
}

func (w *mathWriter) fraction(f *formula) {
	if f.tex != "binom" {
		w.within("mfrac", f.parts...)
		return
	}
	w.WriteString("<mrow>")
	w.edge("(")
	w.within(`mfrac linethickness="0"`, f.parts...)
	w.edge(")")
	w.WriteString("</mrow>")
}

func (w *mathWriter) script(f *formula) {
	base, below, above := f.parts[0], f.parts[1], f.parts[2]
	names := [3]string{"msub", "msup", "msubsup"}
	if w.display && base.limits {
		names = [3]string{"munder", "mover", "munderover"}
	}
	if f.primes > 0 {
		signs := &formula{kind: mathRow}
		for range f.primes {
			signs.parts = append(signs.parts, symbols[`\prime`])
		}
		if above != nil {
			signs.parts = append(signs.parts, above)
		}
		above = signs
	}
	switch {
	case above == nil:
		w.within(names[0], base, below)
	case below == nil:
		w.within(names[1], base, above)
	default:
		w.within(names[2], base, below, above)
	}
}

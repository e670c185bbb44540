package bundle

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"lyceum/internal/media"
	"lyceum/internal/plain"

	"golang.org/x/text/unicode/norm"
)

// preamble is how a paper begins in LaTeX. It takes what every TeX has, by any of its engines. The
// oldest one has all Latin letters only with a package of fonts; without it no font is made. What no
// font has stands as its number, and TeX prints a line about it: nothing is left out in silence.
const preamble = `\documentclass[11pt]{article}
\usepackage{iftex}
\newif\ifold
\let\otherfont\relax
\let\widefont\relax
\ifPDFTeX
  \usepackage[utf8]{inputenc}
  \IfFileExists{lmodern.sty}{\usepackage[T1]{fontenc}\usepackage{lmodern}}{\oldtrue}
  \pdfinfoomitdate=1
  \pdftrailerid{}
\else
  \usepackage{fontspec}
\fi
\ifLuaTeX
  \pdfvariable suppressoptionalinfo 608
\fi
\ifXeTeX
  \IfFontExistsTF{DejaVu Serif}{\newfontfamily\otherfont{DejaVu Serif}}{}
  \IfFontExistsTF{Noto Serif CJK SC}{\newfontfamily\widefont{Noto Serif CJK SC}}{\IfFontExistsTF{Noto Sans CJK SC}{\newfontfamily\widefont{Noto Sans CJK SC}}{}}
\fi
\usepackage[a4paper,margin=27mm]{geometry}
\usepackage{amsmath}
\IfFileExists{amssymb.sty}{\usepackage{amssymb}}{\newcommand{\mathbb}[1]{\mathbf{#1}}}
\usepackage{graphicx}
\usepackage[hidelinks]{hyperref}
\setcounter{secnumdepth}{0}
\setlength{\emergencystretch}{3em}
\renewcommand{\labelitemi}{\ensuremath{\bullet}}
\renewcommand{\labelitemii}{--}
\renewcommand{\labelitemiii}{\ensuremath{\ast}}
\renewcommand{\labelitemiv}{\ensuremath{\cdot}}
\newcommand{\dollar}{\ifold\ensuremath{\mathdollar}\else\$\fi}
\newcommand{\latinchar}[2]{\ifold\codechar{#1}\else#2\fi}
\newcommand{\charcode}[1]{[U+#1]}
\newcommand{\charcodeof}[2]{[U+#1]}
\DeclareRobustCommand{\codechar}[1]{[U+#1]\typeout{` + Unset + `#1}}
\DeclareRobustCommand{\otherchar}[2]{\ifPDFTeX\codechar{#1}\else\iffontchar\font"#1 #2\else{\otherfont\iffontchar\font"#1 #2\else{\widefont\iffontchar\font"#1 #2\else\codechar{#1}\fi}\fi}\fi\fi}
\pdfstringdefDisableCommands{\let\codechar\charcode\let\otherchar\charcodeof}
`

// Unset begins the line that TeX prints about a character that no font has.
const Unset = "lyceum: no font has U+"

// Wide reports whether a text in LaTeX has characters that only newer engines set.
func Wide(latex []byte) bool {
	return bytes.Contains(bytes.TrimPrefix(latex, []byte(preamble)), []byte(`\otherchar{`))
}

// tex writes a document in LaTeX. Whatever was written is escaped; commands are ours alone.
type tex struct {
	*document
	form
	shift int
}

// latex is the document in LaTeX.
func (d *document) latex() string {
	t := &tex{document: d, shift: 1 - d.top()}
	t.form = form{
		Builder: &strings.Builder{}, text: escaped, cite: t.cited, math: inTeX,
		link: func(to string) string { return "\\href{" + addressed(to) + "}{" },
		around: map[spanKind][2]string{
			fixed: {"\\texttt{", "}"}, emphasis: {"\\emph{", "}"}, strong: {"\\textbf{", "}"}, struck: {"{", "}"}, lineBreak: {"\\newline{}", ""}, link: {"", "}"},
		},
	}
	fmt.Fprintf(t, "%s\\title{%s}\n\\author{}\n\\date{}\n\\begin{document}\n\\maketitle\n", preamble, escaped(plain.Line(d.Title)))
	for i := range d.blocks {
		t.block(&d.blocks[i])
	}
	t.references()
	t.evidence()
	t.WriteString("\\end{document}\n")
	return t.String()
}

func (t *tex) block(b *block) {
	switch b.kind {
	case heading:
		name := []string{"section", "subsection", "subsubsection", "paragraph"}[min(b.level+t.shift, 4)-1]
		fmt.Fprintf(t, "\n\\%s{%s}\n", name, t.title(b.spans))
	case code:
		t.code(b.lines)
	case quote:
		t.begin(b, "quote")
		t.within(b)
		t.end(b, "quote")
	case list:
		t.list(b)
	case table:
		t.table(b)
	case rule:
		t.WriteString("\n\\begin{center}\\rule{4em}{0.4pt}\\end{center}\n")
	case picture:
		t.picture(b.figure)
	default:
		t.WriteString("\n")
		t.spans(b.spans)
		t.WriteString("\n")
	}
}

// title is a heading: its words and formulas, and what a list of contents has of it.
func (t *tex) title(list []span) string {
	var b strings.Builder
	found := false
	each([]block{{spans: list}}, func(s *span) {
		switch s.kind {
		case words, fixed:
			b.WriteString(escaped(s.text))
		case inMath:
			found = true
			b.WriteString(inTeX(s.formula, false))
		}
	})
	words := escaped(plain.Line(said(list)))
	if !found {
		return words
	}
	return "\\texorpdfstring{" + b.String() + "}{" + words + "}"
}

// inTeX is a formula in a line, or by itself.
func inTeX(f *formula, display bool) string {
	if display {
		return "\\[" + f.latex() + "\\]"
	}
	return "\\(" + f.latex() + "\\)"
}

func (t *tex) within(b *block) {
	for i := range b.blocks {
		t.block(&b.blocks[i])
	}
}

// code sets lines as they are: escaped, for what ends a verbatim could stand in them.
func (t *tex) code(lines []string) {
	t.WriteString("\n\\begin{quote}\\small\\ttfamily\\raggedright\n")
	for _, l := range lines {
		l = strings.ReplaceAll(l, "\t", "    ")
		rest := strings.TrimLeft(l, " ")
		fmt.Fprintf(t, "\\mbox{}%s%s\\\\\n", strings.Repeat("~", len(l)-len(rest)), escaped(rest))
	}
	t.WriteString("\\end{quote}\n")
}

// maxTeXDepth is how deep TeX lets lists stand in each other. What stands further out is set
// without a margin of its own.
const maxTeXDepth = 4

func (t *tex) begin(b *block, name string) {
	if depth(b) <= maxTeXDepth {
		fmt.Fprintf(t, "\n\\begin{%s}\n", name)
	}
}

func (t *tex) end(b *block, name string) {
	if depth(b) <= maxTeXDepth {
		fmt.Fprintf(t, "\\end{%s}\n", name)
	}
}

func (t *tex) list(b *block) {
	name, mark := "itemize", "\\item "
	if b.level > 0 {
		name = "enumerate"
	}
	if depth(b) > maxTeXDepth {
		mark = "\n\\par{}-- "
	}
	t.begin(b, name)
	for i := range b.blocks {
		t.WriteString(mark)
		t.within(&b.blocks[i])
	}
	t.end(b, name)
}

// depth is how many lists stand in each other.
func depth(b *block) int {
	most := 0
	for i := range b.blocks {
		most = max(most, depth(&b.blocks[i]))
	}
	if b.kind == list || b.kind == quote {
		most++
	}
	return most
}

func (t *tex) table(b *block) {
	columns := ""
	for i := range b.align {
		columns += map[string]string{"center": "c", "right": "r"}[b.align[i]]
		if len(columns) == i {
			columns += "l"
		}
	}
	fmt.Fprintf(t, "\n\\begin{center}\\small\n\\begin{tabular}{%s}\n\\hline\n", columns)
	for i, row := range b.rows {
		for j := range b.align {
			if j > 0 {
				t.WriteString(" & ")
			}
			if j < len(row) {
				t.spans(row[j])
			}
		}
		t.WriteString(" \\\\\n")
		if i == 0 {
			t.WriteString("\\hline\n")
		}
	}
	t.WriteString("\\hline\n\\end{tabular}\n\\end{center}\n")
}

// picture includes a figure. A drawing is included as the PDF that was made of it, if one was.
func (t *tex) picture(i int) {
	f := &t.Figures[i]
	name := FolderFigures + "/" + f.ID
	include := fmt.Sprintf("\\includegraphics[width=\\linewidth,height=0.5\\textheight,keepaspectratio]{%s", name)
	kind := ""
	if f.Data != nil {
		kind, _ = Kind(f.Output, f.Data) // it was looked at before
	}
	frame := func(text string) string { return "\\fbox{\\parbox{0.8\\linewidth}{\\centering " + escaped(text) + "}}" }
	t.WriteString("\n\\begin{figure}[htbp]\n\\centering\n")
	switch kind {
	case SVG:
		fmt.Fprintf(t, "\\IfFileExists{%s.pdf}{%s.pdf}}{%s}\n", name, include, frame("The figure is in "+f.File()+"."))
	case media.PNG:
		t.WriteString(include + ".png}\n")
	case media.PDF:
		t.WriteString(include + ".pdf}\n")
	default:
		t.WriteString(frame("This figure could not be made: "+plain.Line(f.Why)) + "\n")
	}
	fmt.Fprintf(t, "\\caption{%s}\n\\label{fig:%s}\n\\end{figure}\n", escaped(plain.Line(f.Caption)+" "+f.made()), f.ID)
}

func (t *tex) cited(list []cite) {
	for i, c := range list {
		if i > 0 {
			t.WriteString(", ")
		}
		id, figure := strings.CutPrefix(c.key, figureKey)
		n := slices.Index(t.document.cited, c.key)
		switch {
		case figure && t.figure(id) >= 0:
			fmt.Fprintf(t, "Figure~\\ref{fig:%s}", t.Figures[t.figure(id)].ID)
		case t.result(c.key) != nil:
			t.WriteString("[\\texttt{" + escaped(c.key) + "}]")
		case n >= 0 && t.reference(c.key) != "":
			t.WriteString(escaped(strings.TrimSpace(c.before + " ")))
			if c.before != "" {
				t.WriteString(" ")
			}
			after := ""
			if c.after != "" {
				after = "[{" + escaped(c.after) + "}]"
			}
			fmt.Fprintf(t, "\\cite%s{r%d}", after, n+1)
		default:
			t.WriteString("[\\textbf{" + escaped(c.key) + "?}]")
		}
	}
}

func (t *tex) references() {
	if len(t.document.cited) == 0 {
		return
	}
	t.WriteString("\n\\begin{thebibliography}{99}\n")
	for i, key := range t.document.cited {
		text := t.reference(key)
		if text == "" {
			text = key + ": nothing is known of it."
		}
		fmt.Fprintf(t, "\\bibitem{r%d} %s", i+1, escaped(text))
		if e := t.bib.entry(key); e != nil && e.address() != "" {
			fmt.Fprintf(t, " \\href{%s}{%s}", addressed(e.address()), escaped(e.address()))
		}
		t.WriteString("\n")
	}
	t.WriteString("\\end{thebibliography}\n")
}

func (t *tex) evidence() {
	if len(t.Claims)+len(t.Outputs) == 0 {
		return
	}
	t.WriteString("\n\\section{Claims and evidence}\n")
	if len(t.Claims) > 0 {
		t.WriteString("\\begin{enumerate}\n")
		for _, c := range t.Claims {
			fmt.Fprintf(t, "\\item %s (%s)\n", escaped(plain.Line(c.Text)), escaped(plain.Line(strings.Join(c.Results, ", "))))
		}
		t.WriteString("\\end{enumerate}\n")
	}
	if len(t.Outputs) > 0 {
		t.WriteString("\\begin{itemize}\n")
		for i := range t.Outputs {
			o := &t.Outputs[i]
			fmt.Fprintf(t, "\\item \\texttt{%s} %s: %s. ", escaped(o.Result), escaped(plain.Line(o.Title)), escaped(o.Verdict))
			for j, m := range o.Metrics {
				if j > 0 {
					t.WriteString("; ")
				}
				t.WriteString(escaped(plain.Line(m.Name + " " + m.Value + " " + m.Unit)))
			}
			t.WriteString("\n")
		}
		t.WriteString("\\end{itemize}\n")
	}
}

// signs are characters that TeX means something by, and others that its oldest engine has under
// another name.
var signs = map[rune]string{
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '$': `\dollar{}`, '&': `\&`, '#': `\#`, '%': `\%`, '_': `\_`,
	'^': `\textasciicircum{}`, '~': `\textasciitilde{}`, '<': `\textless{}`, '>': `\textgreater{}`, '|': `\textbar{}`, '"': `''`,
	'`': "\\`{}", '\'': `{'}`, '-': `{-}`,
	'\u00a0': `~`, '\u2009': `\,`, '\u202f': `\,`, '–': `--`, '—': `---`, '‘': "`", '’': `'`, '“': "``", '”': `''`, '„': `,,`, '…': `\ldots{}`,
	'•': `\ensuremath{\bullet}`, '−': `\ensuremath{-}`, '×': `\ensuremath{\times}`, '·': `\ensuremath{\cdot}`, '±': `\ensuremath{\pm}`, '≤': `\ensuremath{\leq}`, '≥': `\ensuremath{\geq}`,
	'≠': `\ensuremath{\neq}`, '≈': `\ensuremath{\approx}`, '∞': `\ensuremath{\infty}`, '∑': `\ensuremath{\sum}`, '∏': `\ensuremath{\prod}`, '√': `\ensuremath{\surd}`, '∂': `\ensuremath{\partial}`,
	'∈': `\ensuremath{\in}`, '→': `\ensuremath{\rightarrow}`, '←': `\ensuremath{\leftarrow}`, '⇒': `\ensuremath{\Rightarrow}`, '↔': `\ensuremath{\leftrightarrow}`, '°': `\ensuremath{^\circ}`, 'µ': `\ensuremath{\mu}`,
	'☐': `[~]`, '☑': `[x]`, '²': `\ensuremath{^2}`, '³': `\ensuremath{^3}`, '¹': `\ensuremath{^1}`, '§': `\ensuremath{\mathsection}`, '¶': `\ensuremath{\mathparagraph}`, '÷': `\ensuremath{\div}`, '½': `\ensuremath{\frac12}`, '¼': `\ensuremath{\frac14}`, '¾': `\ensuremath{\frac34}`, '¿': "?`", '¡': "!`",
}

// greek are the names of the letters from alpha on.
var greek = strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi o pi rho varsigma sigma tau upsilon phi chi psi omega")

// rare are Latin letters that the oldest fonts of TeX do not have, unset those that its oldest engine
// has in no font.
const (
	rare  = "ÐÞðþĄąĘęĮįŲųĐđŊŋĲĳ"
	unset = "ĦħĸĿŀŉŦŧſ"
)

// escaped is a stranger's text in LaTeX.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range norm.NFC.String(plain.Text(s)) {
		sign, ok := signs[r]
		switch {
		case ok:
			b.WriteString(sign)
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case r < 0x80 || r >= 'À' && r <= 'ž' && !strings.ContainsRune(rare+unset, r):
			b.WriteRune(r)
		case r >= '¡' && r <= 'ž' && !strings.ContainsRune(unset, r):
			fmt.Fprintf(&b, `\latinchar{%04X}{%c}`, r, r)
		case r >= 'α' && r <= 'ω':
			b.WriteString(`\ensuremath{\` + greek[r-'α'] + `}`)
		case r >= 'Α' && r <= 'Ω' && strings.ContainsRune("ΓΔΘΛΞΠΣΥΦΨΩ", r):
			name := greek[r-'Α']
			b.WriteString(`\ensuremath{\` + strings.ToUpper(name[:1]) + name[1:] + `}`)
		case stands(r):
			fmt.Fprintf(&b, `\otherchar{%04X}{%c}`, r, r)
		default:
			fmt.Fprintf(&b, `\codechar{%04X}`, r)
		}
	}
	return b.String()
}

// stands reports whether a character can be set by itself, from left to right. Those of other scripts
// come out wrong one by one: they stand as their numbers.
func stands(r rune) bool {
	return unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Georgian, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) && !unicode.IsMark(r) ||
		(unicode.IsSymbol(r) || unicode.IsPunct(r)) && unicode.In(r, unicode.Common)
}

// addressed is an address in LaTeX: what TeX means something by is escaped, or written as the web
// does.
func addressed(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '%' || c == '#' || c == '&' || c == '_':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-./:?=+,;@!*()", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\%%%02X`, c)
		}
	}
	return b.String()
}

package bundle

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/media"
	"lyceum/internal/plain"

	"golang.org/x/text/unicode/norm"
)

// preamble is how a paper begins in LaTeX. It takes what every TeX has, by any of its engines.
const preamble = `\documentclass[11pt]{article}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \usepackage{textcomp}
  \pdfinfoomitdate=1
  \pdftrailerid{}
\else
  \usepackage{fontspec}
\fi
\usepackage[a4paper,margin=27mm]{geometry}
\usepackage{graphicx}
\usepackage[hidelinks]{hyperref}
\setcounter{secnumdepth}{0}
\setlength{\emergencystretch}{3em}
\newcommand{\otherchar}[2]{\ifPDFTeX[U+#1]\else#2\fi}
`

// tex writes a document in LaTeX. Whatever was written is escaped; commands are ours alone.
type tex struct {
	*document
	strings.Builder
	shift int
}

// latex is the document in LaTeX.
func (d *document) latex() string {
	t := &tex{document: d, shift: 1 - d.top()}
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
		fmt.Fprintf(t, "\n\\%s{%s}\n", name, escaped(plain.Line(said(b.spans))))
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

func (t *tex) spans(list []span) {
	for i := range list {
		s := &list[i]
		switch s.kind {
		case words:
			t.WriteString(escaped(s.text))
		case fixed:
			t.WriteString("\\texttt{" + escaped(s.text) + "}")
		case emphasis:
			t.wrapped("\\emph{", s)
		case strong:
			t.wrapped("\\textbf{", s)
		case struck:
			t.wrapped("{", s)
		case lineBreak:
			t.WriteString("\\newline{}")
		case cited:
			t.cited(s.cites)
		case link:
			if s.to == "" {
				t.spans(s.spans)
				break
			}
			t.wrapped("\\href{"+addressed(s.to)+"}{", s)
		}
	}
}

func (t *tex) wrapped(begin string, s *span) {
	t.WriteString(begin)
	t.spans(s.spans)
	t.WriteString("}")
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
	'\\': `\textbackslash{}`, '{': `\{`, '}': `\}`, '$': `\$`, '&': `\&`, '#': `\#`, '%': `\%`, '_': `\_`,
	'^': `\textasciicircum{}`, '~': `\textasciitilde{}`, '<': `\textless{}`, '>': `\textgreater{}`, '|': `\textbar{}`, '"': `\textquotedbl{}`,
	'`': `\textasciigrave{}`, '\'': `\textquotesingle{}`, '-': `{-}`,
	'\u00a0': `~`, '\u2009': `\,`, '\u202f': `\,`, '–': `--`, '—': `---`, '‘': "`", '’': `'`, '“': "``", '”': `''`, '„': `\quotedblbase{}`, '…': `\ldots{}`,
	'•': `\textbullet{}`, '−': `\ensuremath{-}`, '×': `\ensuremath{\times}`, '·': `\ensuremath{\cdot}`, '±': `\ensuremath{\pm}`, '≤': `\ensuremath{\leq}`, '≥': `\ensuremath{\geq}`,
	'≠': `\ensuremath{\neq}`, '≈': `\ensuremath{\approx}`, '∞': `\ensuremath{\infty}`, '∑': `\ensuremath{\sum}`, '∏': `\ensuremath{\prod}`, '√': `\ensuremath{\surd}`, '∂': `\ensuremath{\partial}`,
	'∈': `\ensuremath{\in}`, '→': `\ensuremath{\rightarrow}`, '←': `\ensuremath{\leftarrow}`, '⇒': `\ensuremath{\Rightarrow}`, '↔': `\ensuremath{\leftrightarrow}`, '°': `\textdegree{}`, 'µ': `\ensuremath{\mu}`,
	'☐': `[~]`, '☑': `[x]`, '²': `\ensuremath{^2}`, '³': `\ensuremath{^3}`, '¹': `\ensuremath{^1}`, '€': `\texteuro{}`,
}

// greek are the names of the letters from alpha on.
var greek = strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi o pi rho varsigma sigma tau upsilon phi chi psi omega")

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
		case r < 0x80 || r >= '¡' && r <= 'ſ':
			b.WriteRune(r)
		case r >= 'α' && r <= 'ω':
			b.WriteString(`\ensuremath{\` + greek[r-'α'] + `}`)
		case r >= 'Α' && r <= 'Ω' && strings.ContainsRune("ΓΔΘΛΞΠΣΥΦΨΩ", r):
			name := greek[r-'Α']
			b.WriteString(`\ensuremath{\` + strings.ToUpper(name[:1]) + name[1:] + `}`)
		default:
			fmt.Fprintf(&b, `\otherchar{%04X}{%c}`, r, r)
		}
	}
	return b.String()
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

package bundle

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"slices"
	"strings"

	"lyceum/internal/media"
	"lyceum/internal/plain"
)

//go:embed paper.css
var sheet string

// page writes a document as one HTML file: no script, no other file, nothing that is asked for
// from anywhere. The policy in its head says so to the browser as well.
type page struct {
	*document
	form
	// shift is added to the levels of headings, so that the title stands above all.
	shift    int
	headings int
}

// html is the document as a page.
func (d *document) html() string {
	p := &page{document: d, shift: 2 - d.top()}
	p.form = form{
		Builder: &strings.Builder{}, text: shown, cite: p.cited, math: (*formula).mathML,
		link: func(to string) string {
			return fmt.Sprintf("<a href=\"%s\" rel=\"noopener noreferrer\">", html.EscapeString(to))
		},
		around: map[spanKind][2]string{
			fixed: {"<code>", "</code>"}, emphasis: {"<em>", "</em>"}, strong: {"<strong>", "</strong>"}, struck: {"<s>", "</s>"}, lineBreak: {"<br>\n", ""}, link: {"", "</a>"},
		},
	}
	p.head()
	p.contents()
	p.WriteString("<article>\n")
	for i := range d.blocks {
		p.block(&d.blocks[i])
	}
	p.WriteString("</article>\n")
	p.references()
	p.evidence()
	p.WriteString("</main>\n</html>\n")
	return p.String()
}

// shown is a stranger's text in a page.
func shown(s string) string { return html.EscapeString(plain.Text(s)) }

func (p *page) head() {
	language := p.Language
	if language == "" || !isLanguage(language) {
		language = "en"
	}
	fmt.Fprintf(p, `<!doctype html>
<html lang="%s">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>%s</title>
<style>
%s</style>
<main>
<header>
<h1>%s</h1>
</header>
`, language, shown(plain.Line(p.Title)), sheet, shown(plain.Line(p.Title)))
}

// isLanguage reports whether a word can name a language: letters, digits and hyphens.
func isLanguage(s string) bool {
	return len(s) <= 35 && !strings.ContainsFunc(s, func(r rune) bool { return !asciiLetter(r) && r != '-' && (r < '0' || r > '9') })
}

// leastContents is how many sections a paper has that is worth a list of them.
const leastContents = 4

// contents lists the highest sections.
func (p *page) contents() {
	top, n := p.top(), 0
	var b strings.Builder
	walk(p.blocks, func(x *block) {
		if x.kind != heading {
			return
		}
		if n++; x.level == top {
			fmt.Fprintf(&b, "<li><a href=\"#s%d\">%s</a></li>\n", n, shown(plain.Line(said(x.spans))))
		}
	})
	if strings.Count(b.String(), "\n") >= leastContents {
		fmt.Fprintf(p, "<nav aria-label=\"Sections\">\n<ol>\n%s</ol>\n</nav>\n", b.String())
	}
}

func (p *page) block(b *block) {
	switch b.kind {
	case heading:
		p.headings++
		level := min(b.level+p.shift, 6)
		fmt.Fprintf(p, "<h%d id=\"s%d\">", level, p.headings)
		p.spans(b.spans)
		fmt.Fprintf(p, "</h%d>\n", level)
	case code:
		fmt.Fprintf(p, "<pre tabindex=\"0\"><code>%s\n</code></pre>\n", shown(strings.Join(b.lines, "\n")))
	case quote:
		p.WriteString("<blockquote>\n")
		p.within(b)
		p.WriteString("</blockquote>\n")
	case list:
		p.list(b)
	case table:
		p.table(b)
	case rule:
		p.WriteString("<hr>\n")
	case picture:
		p.picture(b.figure)
	default:
		p.WriteString("<p>")
		p.spans(b.spans)
		p.WriteString("</p>\n")
	}
}

func (p *page) within(b *block) {
	for i := range b.blocks {
		p.block(&b.blocks[i])
	}
}

func (p *page) list(b *block) {
	name, start := "ul", ""
	if b.level > 0 {
		name = "ol"
	}
	if b.level > 1 {
		start = fmt.Sprintf(" start=\"%d\"", b.level)
	}
	fmt.Fprintf(p, "<%s%s>\n", name, start)
	for i := range b.blocks {
		p.WriteString("<li>")
		for j := range b.blocks[i].blocks {
			if x := &b.blocks[i].blocks[j]; b.tight && x.kind == paragraph {
				p.spans(x.spans)
			} else {
				p.block(x)
			}
		}
		p.WriteString("</li>\n")
	}
	fmt.Fprintf(p, "</%s>\n", name)
}

func (p *page) table(b *block) {
	p.WriteString("<div class=\"wide\" tabindex=\"0\"><table>\n")
	for i, row := range b.rows {
		p.WriteString("<tr>")
		for j, cell := range row {
			name, class := "td", ""
			if i == 0 {
				name = "th"
			}
			if j < len(b.align) && b.align[j] != "" {
				class = " class=\"" + b.align[j] + "\""
			}
			fmt.Fprintf(p, "<%s%s>", name, class)
			p.spans(cell)
			fmt.Fprintf(p, "</%s>", name)
		}
		p.WriteString("</tr>\n")
	}
	p.WriteString("</table></div>\n")
}

// picture shows a figure as an image, in which no script runs.
func (p *page) picture(i int) {
	f := &p.Figures[i]
	fmt.Fprintf(p, "<figure id=\"f-%s\">\n", f.ID)
	kind, err := "", error(nil)
	if f.Data != nil {
		kind, err = Kind(f.Output, f.Data)
	}
	caption := shown(plain.Line(f.Caption))
	switch data := base64.StdEncoding.EncodeToString(f.Data); {
	case f.Data == nil || err != nil:
		fmt.Fprintf(p, "<p class=\"missing\">This figure could not be made: %s</p>\n", shown(plain.Line(f.Why)))
	case kind == media.PDF:
		fmt.Fprintf(p, "<p class=\"missing\"><a download=\"%s.pdf\" href=\"data:%s;base64,%s\">The figure, as a PDF</a></p>\n", f.ID, kind, data)
	default:
		fmt.Fprintf(p, "<img alt=\"%s\" src=\"data:%s;base64,%s\">\n", caption, kind, data)
	}
	fmt.Fprintf(p, "<figcaption><b>Figure %d.</b> %s <span class=\"made\">%s</span></figcaption>\n</figure>\n", p.number(i), caption, shown(f.made()))
}

// made says how a figure came about.
func (f *Figure) made() string {
	s := "Made by " + plain.Line(f.Program)
	if len(f.BundleFigure.Data) > 0 {
		s += " of " + plain.Line(strings.Join(f.BundleFigure.Data, ", "))
	}
	switch f.Verdict {
	case Same:
		return s + ", twice, the same to the byte."
	case Differs:
		return s + ", twice, and not the same."
	}
	return s + "; not checked."
}

// cited shows what is cited: numbers of references in brackets, figures by their numbers, results
// by their ids.
func (p *page) cited(list []cite) {
	var refs []string
	others := false
	for _, c := range list {
		id, figure := strings.CutPrefix(c.key, figureKey)
		i := -1
		if figure {
			i = p.figure(id)
		}
		switch {
		case i >= 0:
			p.between(&others)
			fmt.Fprintf(p, "<a href=\"#f-%s\">Figure %d</a>", p.Figures[i].ID, p.number(i))
		case p.result(c.key) != nil:
			p.between(&others)
			fmt.Fprintf(p, "[<a class=\"result\" href=\"#%s\">%s</a>]", c.key, c.key)
		default:
			refs = append(refs, p.reffed(c))
		}
	}
	if len(refs) > 0 {
		p.between(&others)
		fmt.Fprintf(p, "<span class=\"cite\">[%s]</span>", strings.Join(refs, "; "))
	}
}

func (p *page) between(others *bool) {
	if *others {
		p.WriteString(", ")
	}
	*others = true
}

// reffed is a reference with the words around it.
func (p *page) reffed(c cite) string {
	text := fmt.Sprintf("<b>%s?</b>", shown(c.key))
	if i := slices.Index(p.document.cited, c.key); i >= 0 && p.reference(c.key) != "" {
		text = fmt.Sprintf("<a href=\"#r%d\">%d</a>", i+1, i+1)
	}
	if c.before != "" {
		text = shown(c.before) + " " + text
	}
	if c.after != "" {
		text += ", " + shown(c.after)
	}
	return text
}

func (p *page) references() {
	if len(p.document.cited) == 0 {
		return
	}
	p.WriteString("<section>\n<h2>References</h2>\n<ol class=\"refs\">\n")
	for i, key := range p.document.cited {
		text := shown(p.reference(key))
		if text == "" {
			text = "<b>" + shown(key) + "</b>: nothing is known of it."
		}
		if e := p.bib.entry(key); e != nil && e.address() != "" {
			text += fmt.Sprintf(" <a href=\"%s\" rel=\"noopener noreferrer\">%s</a>", html.EscapeString(e.address()), shown(e.address()))
		}
		fmt.Fprintf(p, "<li id=\"r%d\">%s</li>\n", i+1, text)
	}
	p.WriteString("</ol>\n</section>\n")
}

// evidence lists the claims, and the results with their figures.
func (p *page) evidence() {
	if len(p.Claims)+len(p.Outputs) == 0 {
		return
	}
	p.WriteString("<section class=\"evidence\">\n<h2>Claims and evidence</h2>\n")
	if len(p.Claims) > 0 {
		p.WriteString("<ol class=\"claims\">\n")
	}
	for _, c := range p.Claims {
		fmt.Fprintf(p, "<li>%s", shown(plain.Line(c.Text)))
		for i, id := range c.Results {
			p.WriteString(map[bool]string{true: " <span class=\"rests\">", false: ", "}[i == 0])
			if p.result(id) != nil {
				fmt.Fprintf(p, "<a class=\"result\" href=\"#%s\">%s</a>", html.EscapeString(id), shown(id))
			} else {
				p.WriteString(shown(id))
			}
		}
		if len(c.Results) > 0 {
			p.WriteString("</span>")
		}
		p.WriteString("</li>\n")
	}
	if len(p.Claims) > 0 {
		p.WriteString("</ol>\n")
	}
	if len(p.Outputs) == 0 {
		p.WriteString("</section>\n")
		return
	}
	p.WriteString("<div class=\"wide\" tabindex=\"0\"><table>\n<tr><th>Result</th><th>Measure</th><th class=\"right\">Value</th><th>Run again</th></tr>\n")
	for i := range p.Outputs {
		p.output(&p.Outputs[i])
	}
	p.WriteString("</table></div>\n</section>\n")
}

func (p *page) output(o *Output) {
	id := ""
	if ResultID(o.Result) {
		id = " id=\"" + o.Result + "\""
	}
	rows := max(len(o.Metrics), 1)
	for i := range rows {
		p.WriteString("<tr")
		if i == 0 {
			fmt.Fprintf(p, "%s><td rowspan=\"%d\"><b>%s</b> %s</td>", id, rows, shown(o.Result), shown(plain.Line(o.Title)))
		} else {
			p.WriteString(">")
		}
		name, value := "", ""
		if i < len(o.Metrics) {
			m := &o.Metrics[i]
			name, value = m.Name+" ("+m.Direction+" is better)", strings.TrimSpace(m.Value+" "+m.Unit)
		}
		fmt.Fprintf(p, "<td>%s</td><td class=\"right\">%s</td>", shown(name), shown(value))
		if i == 0 {
			fmt.Fprintf(p, "<td rowspan=\"%d\">%s</td>", rows, shown(o.Verdict))
		}
		p.WriteString("</tr>\n")
	}
}

package bundle

import (
	"errors"
	"slices"
	"sort"
	"strings"

	"lyceum/internal/markdown"
	"lyceum/internal/plain"

	"github.com/yuin/goldmark/ast"
	gfm "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// blockKind says what a block is.
type blockKind int

const (
	paragraph blockKind = iota
	heading
	code
	quote
	list
	item
	table
	rule
	picture
)

// block is a part of a text.
type block struct {
	kind blockKind
	// line is where it stands in the text, from 1.
	line  int
	spans []span
	// blocks are those of a quote, the items of a list, what stands in an item.
	blocks []block
	// level is that of a heading, or the first number of a list in order; 0 is no order.
	level int
	tight bool
	// lines are those of code, language what it is written in.
	lines    []string
	language string
	// rows are those of a table, the head first; align is left, center, right or empty.
	rows  [][][]span
	align []string
	// figure is the place of a picture among the figures.
	figure int
}

// spanKind says what a span is.
type spanKind int

const (
	words spanKind = iota
	fixed
	emphasis
	strong
	struck
	link
	cited
	lineBreak
	inMath
)

// span is a part of a line.
type span struct {
	kind  spanKind
	line  int
	text  string
	spans []span
	// to is where a link leads, empty for nowhere.
	to    string
	cites []cite
	// formula is one that was read; display says that it stands by itself.
	formula *formula
	display bool
}

// document is a text that was read, with what it refers to.
type document struct {
	*Source
	blocks []block
	bib    *bibliography
	// cited are the keys of references in the order in which they are first cited, figures the
	// places of the figures in the order in which they stand.
	cited   []string
	figures []int
}

// reader makes a document of a parsed text.
type reader struct {
	*document
	source []byte
	starts []int // of lines
}

// read reads the text of a source.
func read(s *Source) (*document, error) {
	source := []byte(plain.Text(string(s.Markdown)))
	root, err := markdown.Parse(source, util.Prioritized(citer{}, 150), util.Prioritized(mather{}, 150))
	if errors.Is(err, markdown.ErrTooMuch) {
		return nil, errors.New("the text is nested too deep, or has too many links, cells or marks to be set: write it plainer")
	}
	if err != nil {
		return nil, err
	}
	d := &document{Source: s, bib: readBibliography(s.Bibliography)}
	r := &reader{document: d, source: source, starts: []int{0}}
	for i, c := range source {
		if c == '\n' {
			r.starts = append(r.starts, i+1)
		}
	}
	d.blocks = d.untitled(r.blocksOf(root))
	d.place()
	return d, nil
}

// line is that of a place in the text.
func (r *reader) line(at int) int { return sort.SearchInts(r.starts, at+1) }

// untitled leaves out a heading that only says the title again.
func (d *document) untitled(list []block) []block {
	if len(list) > 0 && list[0].kind == heading && list[0].level == 1 && strings.EqualFold(plain.Line(said(list[0].spans)), plain.Line(d.Title)) {
		return list[1:]
	}
	return list
}

func (r *reader) blocksOf(parent ast.Node) (out []block) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		out = append(out, r.block(n))
	}
	return out
}

func (r *reader) block(n ast.Node) block {
	b := block{line: r.at(n)}
	switch n := n.(type) {
	case *ast.Heading:
		b.kind, b.level, b.spans = heading, n.Level, r.spansOf(n)
	case *ast.ThematicBreak:
		b.kind = rule
	case *ast.FencedCodeBlock:
		b.kind, b.lines, b.language = code, r.linesOf(n), string(n.Language(r.source))
	case *ast.CodeBlock:
		b.kind, b.lines = code, r.linesOf(n)
	case *ast.HTMLBlock:
		b.kind, b.lines = code, r.linesOf(n)
		if n.HasClosure() {
			b.lines = append(b.lines, strings.TrimRight(string(n.ClosureLine.Value(r.source)), "\n"))
		}
	case *ast.Blockquote:
		b.kind, b.blocks = quote, r.blocksOf(n)
	case *ast.List:
		b.kind, b.tight, b.blocks = list, n.IsTight, r.blocksOf(n)
		if n.IsOrdered() {
			b.level = max(n.Start, 1)
		}
	case *ast.ListItem:
		b.kind, b.blocks = item, r.blocksOf(n)
	case *gfm.Table:
		r.table(n, &b)
	default:
		if i := r.alone(n); i >= 0 {
			b.kind, b.figure = picture, i
			break
		}
		b.spans = r.spansOf(n)
	}
	return b
}

// at is the line of a block: that of its first text.
func (r *reader) at(n ast.Node) int {
	for ; n != nil; n = n.FirstChild() {
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			return r.line(n.Lines().At(0).Start)
		}
		if t, ok := n.(*ast.Text); ok {
			return r.line(t.Segment.Start)
		}
	}
	return 0
}

func (r *reader) linesOf(n ast.Node) (out []string) {
	for i := range n.Lines().Len() {
		l := n.Lines().At(i)
		out = append(out, strings.TrimRight(string(l.Value(r.source)), "\n"))
	}
	return out
}

func (r *reader) table(n *gfm.Table, b *block) {
	b.kind = table
	for _, a := range n.Alignments {
		b.align = append(b.align, map[gfm.Alignment]string{gfm.AlignLeft: "left", gfm.AlignCenter: "center", gfm.AlignRight: "right"}[a])
	}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells [][]span
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, r.spansOf(c))
		}
		b.rows = append(b.rows, cells)
	}
}

// alone is the figure whose picture is all that a paragraph has, -1 if that is not so.
func (r *reader) alone(n ast.Node) int {
	first, ok := n.FirstChild().(*ast.Image)
	if !ok || first.NextSibling() != nil {
		return -1
	}
	return r.figure(string(first.Destination))
}

// figure is the place of the figure that a target means: by its id, its output, or its file.
func (d *document) figure(target string) int {
	target = strings.TrimPrefix(target, "./")
	return slices.IndexFunc(d.Figures, func(f Figure) bool {
		return target == f.ID || target == "#"+f.ID || target == figureKey+f.ID || target == f.Output || target == f.File()
	})
}

func (r *reader) spansOf(parent ast.Node) (out []span) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		out = append(out, r.span(n)...)
	}
	return out
}

func (r *reader) span(n ast.Node) []span {
	switch n := n.(type) {
	case *ast.Text:
		at := r.line(n.Segment.Start)
		text := string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(n.Segment.Value(r.source)))))
		out := []span{{kind: words, line: at, text: plain.Text(text)}}
		switch {
		case n.HardLineBreak():
			return append(out, span{kind: lineBreak, line: at})
		case n.SoftLineBreak():
			out[0].text += "\n"
		}
		return out
	case *ast.String:
		return []span{{kind: words, text: plain.Text(string(n.Value))}}
	case *ast.CodeSpan:
		return []span{{kind: fixed, line: r.at(n), text: r.raw(n)}}
	case *ast.Emphasis:
		kind := emphasis
		if n.Level > 1 {
			kind = strong
		}
		return []span{{kind: kind, spans: r.spansOf(n)}}
	case *gfm.Strikethrough:
		return []span{{kind: struck, spans: r.spansOf(n)}}
	case *gfm.TaskCheckBox:
		return []span{{kind: words, text: map[bool]string{false: "☐ ", true: "☑ "}[n.IsChecked]}}
	case *ast.Link:
		return []span{{kind: link, to: webAddress(string(n.Destination)), spans: r.spansOf(n)}}
	case *ast.AutoLink:
		return []span{{kind: link, to: webAddress(string(n.URL(r.source))), spans: []span{{kind: words, line: r.at(n), text: plain.Text(string(n.Label(r.source)))}}}}
	case *ast.Image:
		if i := r.figure(string(n.Destination)); i >= 0 {
			return []span{{kind: cited, cites: []cite{{key: figureKey + r.Figures[i].ID}}}}
		}
		return append([]span{{kind: words, text: "["}}, append(r.spansOf(n), span{kind: words, text: ": a picture that is none of the paper's figures]"})...)
	case *ast.RawHTML:
		var b strings.Builder
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			b.Write(s.Value(r.source))
		}
		return []span{{kind: fixed, text: b.String()}}
	case *citation:
		return []span{{kind: cited, line: r.line(n.at), cites: n.cites}}
	case *dollars:
		return []span{r.formula(n)}
	}
	return r.spansOf(n)
}

// formula is one, or its source where it is none of ours. By itself it stands in a paragraph alone.
func (r *reader) formula(n *dollars) span {
	s := span{kind: inMath, line: r.line(n.at), text: "$" + n.source + "$", formula: readFormula(n.source)}
	if s.formula == nil {
		s.kind, s.text = fixed, strings.ReplaceAll(s.text, "\n", " ")
		return s
	}
	switch n.Parent().(type) {
	case *ast.Paragraph, *ast.TextBlock:
		s.display = n.display
	}
	return s
}

// raw is what stands in a span of code.
func (r *reader) raw(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(r.source))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// webAddress is an address that may stand in a page: of the web or of mail, or of a place in the
// paper; empty for any other.
func webAddress(s string) string {
	if plain.Papers.In(s) || len(s) > 2000 || strings.ContainsAny(s, " \"<>\\`{}|^") {
		return ""
	}
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return s
		}
	}
	return ""
}

// said is the text of spans, without what they cite.
func said(list []span) string {
	var b strings.Builder
	for _, s := range list {
		switch s.kind {
		case words, fixed, inMath:
			b.WriteString(s.text)
		case lineBreak:
			b.WriteByte('\n')
		default:
			b.WriteString(said(s.spans))
		}
	}
	return b.String()
}

// each calls visit for the spans of blocks, also for those within others, in their order.
func each(list []block, visit func(*span)) {
	var within func([]span)
	within = func(list []span) {
		for i := range list {
			visit(&list[i])
			within(list[i].spans)
		}
	}
	walk(list, func(b *block) {
		within(b.spans)
		for _, row := range b.rows {
			for _, cell := range row {
				within(cell)
			}
		}
	})
}

// walk calls visit for blocks, also for those within others, in their order.
func walk(list []block, visit func(*block)) {
	for i := range list {
		visit(&list[i])
		walk(list[i].blocks, visit)
	}
}

// place finds the order of figures and references. A figure that the text does not show stands at
// the end.
func (d *document) place() {
	walk(d.blocks, func(b *block) {
		if b.kind != picture {
			return
		}
		if slices.Contains(d.figures, b.figure) { // it was shown already: say so
			*b = block{line: b.line, spans: []span{{kind: cited, line: b.line, cites: []cite{{key: figureKey + d.Figures[b.figure].ID}}}}}
			return
		}
		d.figures = append(d.figures, b.figure)
	})
	for i := range d.Figures {
		if !slices.Contains(d.figures, i) {
			d.figures = append(d.figures, i)
			d.blocks = append(d.blocks, block{kind: picture, figure: i})
		}
	}
	each(d.blocks, func(s *span) {
		for _, c := range s.cites {
			if ResultID(c.key) || strings.HasPrefix(c.key, figureKey) || slices.Contains(d.cited, c.key) {
				continue
			}
			d.cited = append(d.cited, c.key)
		}
	})
}

// number is that of a figure, from 1.
func (d *document) number(figure int) int { return slices.Index(d.figures, figure) + 1 }

// sections are the headings that have words below them, or below a heading of theirs.
func (d *document) sections() (out []string) {
	var open []int // headings that nothing stands below yet, as levels; names beside
	var names []string
	for i := range d.blocks {
		b := &d.blocks[i]
		if b.kind != heading {
			if b.says() {
				out, open, names = append(out, names...), nil, nil
			}
			continue
		}
		for len(open) > 0 && open[len(open)-1] >= b.level {
			open, names = open[:len(open)-1], names[:len(names)-1]
		}
		if text := plain.Brief(said(b.spans), 100); text != "" {
			open, names = append(open, b.level), append(names, text)
		}
	}
	return out
}

// says reports whether a block has words in it.
func (b *block) says() bool {
	found := false
	walk([]block{*b}, func(b *block) {
		found = found || strings.TrimSpace(said(b.spans)) != "" || len(b.rows) > 1 || strings.TrimSpace(strings.Join(b.lines, "")) != ""
	})
	return found
}

// named are the results of the paper that its text names, as words of their own.
func (d *document) named() (out []string) {
	heard := map[string]bool{}
	hear := func(s string) {
		for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !asciiLetter(r) && r != '-' && (r < '0' || r > '9') }) {
			heard[word] = true
		}
	}
	each(d.blocks, func(s *span) {
		if s.kind != inMath { // where result-1 is a difference
			hear(s.text)
		}
		for _, c := range s.cites {
			heard[c.key] = true
		}
	})
	for i := range d.Outputs {
		if id := d.Outputs[i].Result; heard[id] && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// top is the level of the highest headings.
func (d *document) top() int {
	top := 6
	walk(d.blocks, func(b *block) {
		if b.kind == heading {
			top = min(top, b.level)
		}
	})
	return top
}

// unknown are the keys of which nothing is known: references that neither the bibliography nor
// the cards have, and figures and results that the paper does not have.
func (d *document) unknown() (out []string) {
	add := func(key string) {
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	each(d.blocks, func(s *span) {
		for _, c := range s.cites {
			id, figure := strings.CutPrefix(c.key, figureKey)
			switch {
			case figure:
				if d.figure(id) < 0 {
					add(c.key)
				}
			case ResultID(c.key):
				if d.result(c.key) == nil {
					add(c.key)
				}
			case d.reference(c.key) == "":
				add(c.key)
			}
		}
	})
	return out
}

// reference is a reference in words, empty if nothing is known of it.
func (d *document) reference(key string) string {
	if e := d.bib.entry(key); e != nil {
		return e.words()
	}
	return plain.Brief(d.Cards[key], 300)
}

// Package markdown parses the Markdown of strangers: CommonMark with the tables, tasks and
// strikethrough of GitHub.
//
// What it costs to parse a text may grow with its square. So a text that is longer, nested
// deeper, or has more links, cells of tables or pairs of marks in a paragraph than a paper has
// is refused with ErrTooMuch, before or after it is parsed, and whoever shows it shows it as it
// was written.
package markdown

import (
	"bytes"
	"errors"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// MaxText is how many bytes a text may have.
const MaxText = 256 << 10

const (
	maxNesting = 24
	maxLinks   = 1000
	maxCells   = 10_000
	maxPairs   = 200_000_000
)

// ErrTooMuch says that a text would take long to set.
var ErrTooMuch = errors.New("typeset Markdown: it is too long, too deep, or has too many links or cells")

// Parse reads a text. More are parsers of what stands in a line, besides the usual ones.
func Parse(source []byte, more ...util.PrioritizedValue) (ast.Node, error) {
	if s := string(source); len(s) > MaxText || strings.Count(s, "](") > maxLinks || tooDeep(s) || tooEmphatic(s) {
		return nil, ErrTooMuch
	}
	tables := &tableGuard{left: maxCells}
	p := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
		),
		parser.WithInlineParsers(more...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		parser.WithParagraphTransformers(util.Prioritized(tables, 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
	root := p.Parse(text.NewReader(source))
	if tables.left < 0 {
		return nil, ErrTooMuch
	}
	return root, weigh(root)
}

// tableGuard makes tables of paragraphs as long as there are not too many cells. Every
// row has all the columns, however short it is written, so a text of a few hundred
// kilobytes could have billions of them.
type tableGuard struct{ left int }

func (g *tableGuard) Transform(p *ast.Paragraph, r text.Reader, pc parser.Context) {
	columns := 0
	lines := p.Lines()
	for i := range lines.Len() {
		l := lines.At(i)
		if l := l.Value(r.Source()); len(bytes.Trim(l, " \n-:|")) == 0 {
			columns = max(columns, bytes.Count(l, []byte("|"))+1)
		}
	}
	if g.left -= columns * lines.Len(); g.left >= 0 {
		extension.NewTableParagraphTransformer().Transform(p, r, pc)
	}
}

// tooDeep looks for a line that opens more lists and quotes than there may be. Parse
// would find it, too, but only after the parser has gone through all of them for
// every line that follows.
func tooDeep(s string) bool {
	for l := range strings.SplitSeq(s, "\n") {
		if strings.Trim(l, "- ") == "" || strings.Trim(l, "* ") == "" {
			continue // a break is no list
		}
		for opened := 0; ; opened++ {
			if opened > maxNesting {
				return true
			}
			l = strings.TrimLeft(l, " ")
			after := strings.TrimLeft(l, "0123456789")
			switch {
			case strings.HasPrefix(l, ">"):
				l = l[1:]
				continue
			case len(after) > 1 && strings.IndexByte("-*+.)", after[0]) >= 0 && after[1] == ' ':
				l = after[1:]
				continue
			}
			break
		}
	}
	return false
}

// tooEmphatic counts the marks that emphasis and links may be made of. The parser
// compares each with all before it in the paragraph.
func tooEmphatic(s string) bool {
	pairs := 0
	for paragraph := range strings.SplitSeq(s, "\n\n") {
		marks := 0
		for i := range len(paragraph) {
			if strings.IndexByte("*_~[]", paragraph[i]) >= 0 && (i == 0 || paragraph[i] != paragraph[i-1]) {
				marks++
			}
		}
		pairs += marks * marks
	}
	return pairs > maxPairs
}

// weigh goes through a text and stops where it is too much.
func weigh(root ast.Node) error {
	depth, links, targets := 0, 0, 0
	return ast.Walk(root, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if !in {
			depth--
			return ast.WalkContinue, nil
		}
		depth++
		switch n := n.(type) {
		case *ast.Link:
			links, targets = links+1, targets+len(n.Destination)
		case *ast.Image:
			links, targets = links+1, targets+len(n.Destination)
		}
		// A target is written once and may be referred to by many links, each of which
		// shows it.
		if depth > maxNesting+1 || links > maxLinks || targets > MaxText {
			return ast.WalkStop, ErrTooMuch
		}
		return ast.WalkContinue, nil
	})
}

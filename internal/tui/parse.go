package tui

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// parse reads CommonMark with the tables, tasks and strikethrough of GitHub. It
// refuses what would take long to set.
func parse(source []byte) (ast.Node, error) {
	tables := &tableGuard{left: maxCells}
	p := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		parser.WithParagraphTransformers(util.Prioritized(tables, 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
	root := p.Parse(text.NewReader(source))
	if tables.left < 0 {
		return nil, errMonster
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

package bundle

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Formulas stand between dollars: $x$ in a line, $$x$$ by themselves. A dollar is that of a formula if
// no space follows the first, none is before the second, and no digit behind it: sums of money are
// none. \$ is a dollar.

// kindFormula is the kind of a formula in a parsed text.
var kindFormula = ast.NewNodeKind("Formula")

// dollars are a formula in a parsed text, as it was written.
type dollars struct {
	ast.BaseInline
	source  string
	display bool
	at      int
}

// Kind implements ast.Node.
func (*dollars) Kind() ast.NodeKind { return kindFormula }

// Dump implements ast.Node.
func (n *dollars) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// mather finds formulas before anything else is looked for in them.
type mather struct{}

// Trigger implements parser.InlineParser.
func (mather) Trigger() []byte { return []byte{'$'} }

// Parse implements parser.InlineParser.
func (mather) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, at := block.Position()
	l, _ := block.PeekLine()
	mark := "$"
	if bytes.HasPrefix(l, []byte("$$")) {
		mark = "$$"
	}
	if c := block.PrecendingCharacter(); c == '$' || asciiLetter(c) || c >= '0' && c <= '9' || len(l) <= len(mark) || mark == "$" && blank(l[1]) {
		return nil
	}
	block.Advance(len(mark))
	var b strings.Builder
	for {
		l, _ := block.PeekLine()
		if l == nil || b.Len() > maxFormula {
			break
		}
		end, ok := closes(l, mark)
		if !ok {
			break
		}
		if end >= 0 {
			b.Write(l[:end])
			block.Advance(end + len(mark))
			if b.Len() > maxFormula || strings.TrimSpace(b.String()) == "" {
				break
			}
			return &dollars{source: b.String(), display: mark == "$$", at: at.Start}
		}
		b.Write(l)
		block.AdvanceLine()
	}
	block.SetPosition(line, at)
	return nil
}

// closes is where a line has the mark that ends a formula, -1 if it has none. ok says that the first
// one there does not make the formula one of money.
func closes(l []byte, mark string) (at int, ok bool) {
	for from := 0; ; from = at + 1 {
		i := bytes.Index(l[from:], []byte(mark))
		if i < 0 {
			return -1, true
		}
		if at = from + i; at > 0 && l[at-1] == '\\' {
			continue
		}
		next := byte(' ')
		if at+len(mark) < len(l) {
			next = l[at+len(mark)]
		}
		return at, mark == "$$" || at > 0 && !blank(l[at-1]) && (next < '0' || next > '9') && next != '$'
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

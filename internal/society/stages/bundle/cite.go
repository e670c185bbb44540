package bundle

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Citations stand in brackets: [@key], [see @key, p. 3; @other], [@fig:trend] and [result-3].

// cite is one of them: words before it, what is cited, words behind it.
type cite struct{ before, key, after string }

// figureKey is what the key of a figure begins with.
const figureKey = "fig:"

// Bounds of what is read as a citation.
const (
	maxKey       = 80
	maxCited     = 400
	maxCiteLines = 4
)

// cites reads what stands between two brackets; nil if that is no citation.
func cites(s string) (out []cite) {
	for part := range strings.SplitSeq(s, ";") {
		part = strings.Join(strings.Fields(part), " ")
		if ids := results(part); ids != nil {
			out = append(out, ids...)
			continue
		}
		before, rest, found := strings.Cut(part, "@")
		if !found || before != "" && !strings.HasSuffix(before, " ") {
			return nil
		}
		n := 0
		for n < len(rest) && inKey(rest[n]) {
			n++
		}
		key := strings.TrimRight(rest[:n], ".:-/+")
		if key == "" || len(key) > maxKey {
			return nil
		}
		out = append(out, cite{strings.TrimSpace(before), key, strings.TrimSpace(strings.TrimLeft(rest[len(key):], ", "))})
	}
	return out
}

// results reads ids of results by comma, nil if something else is there.
func results(s string) (out []cite) {
	for id := range strings.SplitSeq(s, ",") {
		if id = strings.TrimSpace(id); !ResultID(id) {
			return nil
		}
		out = append(out, cite{key: id})
	}
	return out
}

func inKey(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-.:/+", c) >= 0
}

// kindCitation is the kind of a citation in a parsed text.
var kindCitation = ast.NewNodeKind("Citation")

// citation is one in a parsed text.
type citation struct {
	ast.BaseInline
	cites []cite
	at    int
}

// Kind implements ast.Node.
func (*citation) Kind() ast.NodeKind { return kindCitation }

// Dump implements ast.Node.
func (n *citation) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// citer finds citations before links are looked for. A bracket with a target behind it is a link.
type citer struct{}

// Trigger implements parser.InlineParser.
func (citer) Trigger() []byte { return []byte{'['} }

// Parse implements parser.InlineParser.
func (citer) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, at := block.Position()
	var b strings.Builder
	for range maxCiteLines {
		l, _ := block.PeekLine()
		if l == nil || b.Len()+len(l) > maxCited {
			l = l[:min(len(l), max(0, maxCited-b.Len()))]
		}
		if end := bytes.IndexByte(l, ']'); end >= 0 {
			b.Write(l[:end])
			found := cites(b.String()[1:])
			if found == nil || end+1 < len(l) && (l[end+1] == '(' || l[end+1] == '[') {
				break
			}
			block.Advance(end + 1)
			return &citation{cites: found, at: at.Start}
		}
		if b.Write(l); !bytes.HasSuffix(l, []byte("\n")) {
			break // it is too long, or the paragraph is over
		}
		block.AdvanceLine()
	}
	block.SetPosition(line, at)
	return nil
}

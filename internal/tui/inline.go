package tui

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	gfm "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inline appends what stands in a paragraph, or in a part of one.
func (t *typesetter) inline(p *prose, parent ast.Node, f face) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			t.text(p, n, f)
		case *ast.CodeSpan:
			p.add("`", f|code)
			t.inline(p, n, f|code)
			p.add("`", f|code)
		case *ast.Emphasis:
			t.marked(p, n, strings.Repeat("*", n.Level), f|map[bool]face{false: emphatic, true: strong}[n.Level > 1])
		case *gfm.Strikethrough:
			t.marked(p, n, "~~", f|struck)
		case *ast.Link:
			t.link(p, n, n.Destination, f)
		case *ast.Image:
			p.add("Image: ", f)
			t.link(p, n, n.Destination, f)
		case *ast.AutoLink:
			p.add(string(n.Label(t.source)), f|target)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				p.add(string(s.Value(t.source)), f)
			}
		case *gfm.TaskCheckBox: // is the marker of its item
		default:
			t.inline(p, n, f)
		}
	}
}

func (t *typesetter) text(p *prose, n *ast.Text, f face) {
	s := string(n.Value(t.source))
	if !n.IsRaw() {
		s = unescape(s)
	}
	p.add(s, f)
	switch {
	case n.HardLineBreak():
		p.end()
	case n.SoftLineBreak():
		p.add(" ", f)
	}
}

// marked is text that shows by its face, or where there are none, by marks around it.
func (t *typesetter) marked(p *prose, n ast.Node, mark string, f face) {
	if t.look == Colour {
		mark = ""
	}
	p.add(mark, f)
	t.inline(p, n, f)
	p.add(mark, f)
}

// link appends a text with what it leads to, once if they are the same.
func (t *typesetter) link(p *prose, n ast.Node, destination []byte, f face) {
	begin := p.text.Len()
	t.inline(p, n, f|linked)
	shown, to := p.text.String()[begin:], unescape(string(destination))
	switch {
	case to == "" || to == shown:
	case shown == "":
		p.add(to, f|target)
	default:
		p.add(" (", f)
		p.add(to, f|target)
		p.add(")", f)
	}
}

// unescape takes the backslashes off and puts characters for the entities. One pass:
// what stands behind a backslash begins no entity.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexAny(s, `\&`)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		switch n := entityLength(s); {
		case n > 0:
			b.Write(util.ResolveEntityNames(util.ResolveNumericReferences([]byte(s[:n]))))
			s = s[n:]
		case s[0] == '\\' && len(s) > 1 && util.IsPunct(s[1]):
			b.WriteByte(s[1])
			s = s[2:]
		default:
			b.WriteByte(s[0])
			s = s[1:]
		}
	}
}

// entityLength is how long the entity is that a text begins with, or 0. The longest
// name has 31 letters.
func entityLength(s string) int {
	for i := 1; s[0] == '&' && i < min(len(s), 40); i++ {
		switch c := s[i]; {
		case c == ';':
			return i + 1
		case !util.IsAlphaNumeric(c) && (c != '#' || i > 1):
			return 0
		}
	}
	return 0
}

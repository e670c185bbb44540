package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	gfm "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// typesetter makes lines of what the parser has found. Mono and Colour have the same
// layout; without colours, emphasis keeps the marks it was written with.
type typesetter struct {
	source []byte
	look   Look
}

// blocks sets what stands in a block, with empty lines between unless it is an item
// of a list that was written without.
func (t *typesetter) blocks(parent ast.Node, width int) (out []string) {
	list, ok := parent.Parent().(*ast.List)
	tight := ok && list.IsTight
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		lines := t.block(n, width)
		if len(lines) > 0 && len(out) > 0 && !tight {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

func (t *typesetter) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		var p prose
		p.add(strings.Repeat("#", n.Level)+" ", heading)
		t.inline(&p, n, heading)
		return setAll(wrap(p.cells(), width), t.look)
	case *ast.ThematicBreak:
		return []string{t.ours(strings.Repeat("─", width))}
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return t.code(n.Lines(), width)
	case *ast.HTMLBlock:
		return t.html(n, width)
	case *ast.Blockquote:
		bar := t.ours("│") + " "
		return t.behind(bar, bar, n, width)
	case *ast.List:
		return t.list(n, width)
	case *gfm.Table:
		return t.table(n, width)
	}
	return setAll(wrap(t.cells(n, 0), width), t.look)
}

// ours is what no agent wrote: a bar, a rule.
func (t *typesetter) ours(s string) string {
	if t.look != Colour {
		return s
	}
	return pale.style().Styled(s)
}

func (t *typesetter) cells(n ast.Node, f face) []cell {
	var p prose
	t.inline(&p, n, f)
	return p.cells()
}

// behind sets what stands in a block behind a marker, and the same room in further
// lines.
func (t *typesetter) behind(marker, room string, n ast.Node, width int) []string {
	in := ansi.StringWidth(marker)
	if width-in < minWidth {
		return append([]string{strings.TrimRight(marker, " ")}, t.blocks(n, width)...)
	}
	lines := t.blocks(n, width-in)
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, l := range lines {
		lines[i] = strings.TrimRight(marker+l, " ")
		marker = room
	}
	return lines
}

func (t *typesetter) list(n *ast.List, width int) (out []string) {
	number, digits := n.Start, len(fmt.Sprint(n.Start+n.ChildCount()-1))
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := ""
		if n.IsOrdered() {
			marker = fmt.Sprintf("%*d%c ", digits, number, n.Marker)
			number++
		}
		if box := checkBox(item); box != nil {
			marker += map[bool]string{false: "[ ] ", true: "[x] "}[box.IsChecked]
		} else if marker == "" {
			marker = "• "
		}
		if len(out) > 0 && !n.IsTight {
			out = append(out, "")
		}
		out = append(out, t.behind(marker, strings.Repeat(" ", ansi.StringWidth(marker)), item, width)...)
	}
	return out
}

// checkBox is what makes an item of a list a task.
func checkBox(item ast.Node) *gfm.TaskCheckBox {
	if text := item.FirstChild(); text != nil {
		if box, ok := text.FirstChild().(*gfm.TaskCheckBox); ok {
			return box
		}
	}
	return nil
}

// code moves code in by two. Lines that are too long go on in the next.
func (t *typesetter) code(lines *text.Segments, width int) (out []string) {
	for i := range lines.Len() {
		l := lines.At(i)
		var p prose
		p.add(strings.TrimRight(string(l.Value(t.source)), "\n"), code)
		for _, l := range chop(p.cells(), width-2) {
			out = append(out, strings.TrimRight("  "+set(l, t.look), " "))
		}
	}
	return out
}

// html shows HTML as it was written.
func (t *typesetter) html(n *ast.HTMLBlock, width int) (out []string) {
	for i := range n.Lines().Len() {
		l := n.Lines().At(i)
		out = append(out, setText(strings.TrimRight(string(l.Value(t.source)), "\n"), width)...)
	}
	if n.HasClosure() {
		out = append(out, setText(strings.TrimRight(string(n.ClosureLine.Value(t.source)), "\n"), width)...)
	}
	return out
}

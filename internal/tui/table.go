package tui

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	gfm "github.com/yuin/goldmark/extension/ast"
)

const (
	// minColumn is how narrow a column may get for a table to fit. Where that is not
	// enough, rows are shown as records.
	minColumn = 8
	// maxName is how much of the head of a column stands before each field of a record.
	maxName = 24
)

// table sets a table with its columns side by side, if there is room for them.
func (t *typesetter) table(n *gfm.Table, width int) []string {
	var rows [][][]cell
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var f face
		if r == n.FirstChild() {
			f = strong
		}
		rows = append(rows, t.row(r, f))
	}
	natural := make([]int, len(n.Alignments))
	for _, row := range rows {
		for i, c := range row[:min(len(row), len(natural))] {
			natural[i] = max(natural[i], cellsWidth(c), 1)
		}
	}
	widths, ok := share(natural, width-3*(len(natural)-1))
	if !ok {
		return t.records(rows, width)
	}
	return t.grid(rows, widths, n.Alignments)
}

func (t *typesetter) row(n ast.Node, f face) (out [][]cell) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, t.cells(c, f))
	}
	return out
}

// share gives every column what it wants, or as much as the others that want too
// much. It reports whether that is enough to read them.
func share(natural []int, room int) (widths []int, ok bool) {
	widths, ok = make([]int, len(natural)), true
	order := make([]int, len(natural))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return natural[a] - natural[b] })
	for k, i := range order {
		widths[i] = min(natural[i], room/(len(order)-k))
		room -= widths[i]
		ok = ok && widths[i] >= min(natural[i], minColumn)
	}
	return widths, ok
}

func (t *typesetter) grid(rows [][][]cell, widths []int, align []gfm.Alignment) (out []string) {
	for i, row := range rows {
		out = append(out, t.gridRow(row, widths, align)...)
		if i == 0 {
			var rules []string
			for _, w := range widths {
				rules = append(rules, strings.Repeat("─", w))
			}
			out = append(out, t.ours(strings.Join(rules, "─┼─")))
		}
	}
	return out
}

func (t *typesetter) gridRow(row [][]cell, widths []int, align []gfm.Alignment) (out []string) {
	columns, height := make([][][]cell, len(widths)), 1
	for i := range min(len(row), len(widths)) {
		columns[i] = wrap(row[i], widths[i])
		height = max(height, len(columns[i]))
	}
	bar := " " + t.ours("│") + " "
	for y := range height {
		var b strings.Builder
		for i, lines := range columns {
			if i > 0 {
				b.WriteString(bar)
			}
			var l []cell
			if y < len(lines) {
				l = lines[y]
			}
			left, right := pad(widths[i]-cellsWidth(l), align[i])
			b.WriteString(strings.Repeat(" ", left) + set(l, t.look) + strings.Repeat(" ", right))
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return out
}

// pad divides the room that a cell leaves. A wide character may need more than there
// is.
func pad(room int, a gfm.Alignment) (left, right int) {
	room = max(room, 0)
	switch a {
	case gfm.AlignRight:
		return room, 0
	case gfm.AlignCenter:
		return room / 2, room - room/2
	}
	return 0, room
}

// records sets the rows of a table one below the other, each field in a line that
// begins with the head of its column. Fields that are empty are left out.
func (t *typesetter) records(rows [][][]cell, width int) (out []string) {
	head := rows[0]
	if len(rows) == 1 {
		rows = [][][]cell{{}, head}
		head = nil
	}
	for _, row := range rows[1:] {
		var lines []string
		for i, field := range row {
			if len(field) == 0 {
				continue
			}
			var l []cell
			if i < len(head) && len(head[i]) > 0 {
				l = append(slices.Clone(name(head[i])), cell{":", 1, strong}, cell{" ", 1, 0})
			}
			lines = append(lines, setAll(wrap(append(l, field...), width), t.look)...)
		}
		if len(lines) > 0 && len(out) > 0 {
			out = append(out, "")
		}
		out = append(out, lines...)
	}
	return out
}

// name is the head of a column, cut where it is long.
func name(head []cell) []cell {
	wide := 0
	for i, c := range head {
		if wide += int(c.width); wide > maxName {
			return append(slices.Clone(head[:i]), cell{"…", 1, strong})
		}
	}
	return head
}

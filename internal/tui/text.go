package tui

import (
	"strings"

	"lyceum/internal/plain"

	"github.com/charmbracelet/x/ansi"
)

// Clean makes a text of agents, or of anybody, safe to show: what a terminal would
// obey becomes U+FFFD. Lines stay lines.
func Clean(s string) string {
	var p plain.Pieces
	return clean(&p, s)
}

// clean makes the next piece of a text as Clean does. How far a tab reaches depends on
// the column, so that it is four spaces here.
func clean(p *plain.Pieces, s string) string {
	return p.Text(strings.ReplaceAll(s, "\t", "    "))
}

// line is a clean text without breaks.
func line(s string) string { return plain.Line(s) }

// fit makes a text exactly as wide as a column, in cells: what does not fit is cut.
func fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	s = ansi.Truncate(s, width, "…")
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

// right is fit for numbers, which stand at the right of their column.
func right(s string, width int) string {
	if width <= 0 {
		return ""
	}
	s = ansi.Truncate(s, width, "…")
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(s))) + s
}

// spread puts one text at the left and one at the right of a line. The left one gives
// way.
func spread(left, end string, width int) string {
	return fit(left, max(0, width-ansi.StringWidth(end))) + ansi.Truncate(end, width, "")
}

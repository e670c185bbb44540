package tui

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// hostile tells what must not reach a terminal: what moves the cursor, sets a title,
// turns a line around, or has no width of its own and so would put every column
// behind it out of place.
func hostile(r rune) bool {
	switch {
	case r == '\n':
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Bidi_Control, r):
		return true
	case r == '\u2028', r == '\u2029', r == unicode.ReplacementChar:
		return true
	}
	return unicode.Is(unicode.Co, r) || unicode.Is(unicode.Variation_Selector, r)
}

// maxMarks is how many marks a letter may carry. Real writing has no more, and a
// tower of them covers the lines above.
const maxMarks = 3

// Clean makes a text of agents, or of anybody, safe to show: what a terminal would
// obey becomes U+FFFD. Lines stay lines.
func Clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	clean(&b, s, 0)
	return b.String()
}

// clean writes a text as Clean makes it, behind a letter with that many marks, and
// returns how many the last one has: a tower can be built of several texts.
func clean(b *strings.Builder, s string, marks int) int {
	for _, r := range s {
		if unicode.Is(unicode.M, r) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r == '\r':
		case hostile(r):
			b.WriteRune(unicode.ReplacementChar)
		default:
			b.WriteRune(r)
		}
	}
	return marks
}

// line is a clean text without breaks.
func line(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

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

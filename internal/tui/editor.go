package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// editor is a text that a person writes, of one line or several.
type editor struct {
	text string
	pos  int // in bytes, between two characters
	// past is what was written before, the oldest first; at is the one that is shown, and
	// draft what stood here before somebody looked back.
	past  []string
	at    int
	draft string
}

// maxWritten is how many bytes a person can write at once.
const maxWritten = 8 << 10

// insert puts text where the cursor is. What a terminal would obey is made visible.
func (e *editor) insert(s string) bool {
	s = Clean(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"))
	if len(e.text)+len(s) > maxWritten {
		return false
	}
	e.text = e.text[:e.pos] + s + e.text[e.pos:]
	e.pos += len(s)
	return true
}

// take returns what was written, and begins anew.
func (e *editor) take() string {
	text := e.text
	e.remember(text)
	e.text, e.pos = "", 0
	return text
}

// remember keeps a text to be called back.
func (e *editor) remember(text string) {
	if n := len(e.past); strings.TrimSpace(text) != "" && (n == 0 || e.past[n-1] != text) {
		e.past = append(e.past, text)
	}
	e.at, e.draft = len(e.past), ""
}

// recall adds what was written elsewhere, or long ago, to what can be called back.
func (e *editor) recall(text string) {
	n := len(e.past)
	if n > 0 && e.past[n-1] == text {
		return
	}
	e.past = append(e.past, text)
	if e.at == n {
		e.at = n + 1
	}
}

// newline breaks the line, and takes away the backslash that asked for it.
func (e *editor) newline() {
	if e.escaped() {
		e.text, e.pos = e.text[:e.pos-1]+e.text[e.pos:], e.pos-1
	}
	e.insert("\n")
}

// escaped reports whether a backslash stands at the end: the next line belongs to this one.
func (e *editor) escaped() bool { return e.pos == len(e.text) && strings.HasSuffix(e.text, `\`) }

// key does what a key is for in a text, and reports whether it is for anything.
func (e *editor) key(k string) bool {
	switch k {
	case "left", "ctrl+b":
		e.pos = e.before()
	case "right", "ctrl+f":
		e.pos = e.after()
	case "alt+left", "ctrl+left", "alt+b":
		e.pos = e.wordBefore()
	case "alt+right", "ctrl+right", "alt+f":
		e.pos = e.wordAfter()
	case "home", "ctrl+a":
		e.pos = e.lineStart()
	case "end", "ctrl+e":
		e.pos = e.lineEnd()
	case "backspace", "ctrl+h":
		e.cut(e.before(), e.pos)
	case "delete":
		e.cut(e.pos, e.after())
	case "ctrl+w", "alt+backspace":
		e.cut(e.wordBefore(), e.pos)
	case "alt+d":
		e.cut(e.pos, e.wordAfter())
	case "ctrl+u":
		e.cut(e.lineStart(), e.pos)
	case "ctrl+k":
		e.cut(e.pos, e.lineEnd())
	case "alt+enter", "shift+enter", "ctrl+j":
		e.newline()
	case "up", "ctrl+p":
		e.up()
	case "down", "ctrl+n":
		e.down()
	case "space":
		e.insert(" ")
	default:
		if utf8.RuneCountInString(k) != 1 {
			return false
		}
		e.insert(k)
	}
	return true
}

func (e *editor) cut(from, to int) { e.text, e.pos = e.text[:from]+e.text[to:], from }

// before and after are the places of the cursor one character away, as people count them.
func (e *editor) before() int {
	last, i := 0, 0
	for i < e.pos {
		last = i
		c, _ := ansi.FirstGraphemeCluster(e.text[i:], ansi.GraphemeWidth)
		i += max(len(c), 1)
	}
	return last
}

func (e *editor) after() int {
	c, _ := ansi.FirstGraphemeCluster(e.text[e.pos:], ansi.GraphemeWidth)
	return e.pos + len(c)
}

func (e *editor) wordBefore() int {
	rest := strings.TrimRightFunc(e.text[:e.pos], unicode.IsSpace)
	return strings.LastIndexFunc(rest, unicode.IsSpace) + 1
}

func (e *editor) wordAfter() int {
	rest := e.text[e.pos:]
	gap := len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
	if i := strings.IndexFunc(rest[gap:], unicode.IsSpace); i >= 0 {
		return e.pos + gap + i
	}
	return len(e.text)
}

func (e *editor) lineStart() int { return strings.LastIndexByte(e.text[:e.pos], '\n') + 1 }

func (e *editor) lineEnd() int {
	if i := strings.IndexByte(e.text[e.pos:], '\n'); i >= 0 {
		return e.pos + i
	}
	return len(e.text)
}

// up goes to the line above, and from the first one back to what was written before.
func (e *editor) up() {
	if start := e.lineStart(); start > 0 {
		above := strings.LastIndexByte(e.text[:start-1], '\n') + 1
		e.pos = e.column(above, start-1, e.pos-start)
		return
	}
	if e.at == 0 {
		return
	}
	if e.at == len(e.past) {
		e.draft = e.text
	}
	e.at--
	e.text = e.past[e.at]
	e.pos = len(e.text)
}

func (e *editor) down() {
	if end := e.lineEnd(); end < len(e.text) {
		column := e.pos - e.lineStart()
		below := end + 1
		until := len(e.text)
		if i := strings.IndexByte(e.text[below:], '\n'); i >= 0 {
			until = below + i
		}
		e.pos = e.column(below, until, column)
		return
	}
	if e.at >= len(e.past) {
		return
	}
	if e.at++; e.at == len(e.past) {
		e.text = e.draft
	} else {
		e.text = e.past[e.at]
	}
	e.pos = len(e.text)
}

// column is a place in a line that far from its start, between two letters.
func (e *editor) column(start, end, column int) int {
	at := min(start+column, end)
	for at > start && at < len(e.text) && !utf8.RuneStart(e.text[at]) {
		at--
	}
	return at
}

// lines are the text set for a width behind a prompt, at most so many around the cursor.
func (e *editor) lines(prompt string, width, most int) []string {
	in := ansi.StringWidth(prompt)
	room := max(width-in, 8)
	var out []string
	at := 0
	begin := 0
	for l := range strings.SplitSeq(e.text, "\n") {
		pieces := chopped(l, room)
		for i, p := range pieces {
			from := begin
			begin += len(p)
			last := i == len(pieces)-1
			if e.pos >= from && (e.pos < begin || last && e.pos == begin) {
				at = len(out)
				p = withCursor(p, e.pos-from)
			}
			out = append(out, p)
		}
		begin++ // the break
	}
	from, to := around(at, len(out), most)
	out = out[from:to]
	for i := range out {
		if i == 0 && from == 0 {
			out[i] = prompt + out[i]
		} else {
			out[i] = strings.Repeat(" ", in) + out[i]
		}
	}
	return out
}

// chopped cuts a line into pieces of at most that width; the bytes stay the same.
func chopped(s string, width int) (out []string) {
	begin, wide, i := 0, 0, 0
	for i < len(s) {
		c, w := ansi.FirstGraphemeCluster(s[i:], ansi.GraphemeWidth)
		if wide+w > width-1 && i > begin { // the cursor needs a column
			out = append(out, s[begin:i])
			begin, wide = i, 0
		}
		wide += w
		i += max(len(c), 1)
	}
	return append(out, s[begin:])
}

// withCursor shows the character under the cursor the other way round.
func withCursor(s string, at int) string {
	c, _ := ansi.FirstGraphemeCluster(s[at:], ansi.GraphemeWidth)
	under := c
	if under == "" {
		under = " "
	}
	return s[:at] + cursor.Render(under) + s[at+len(c):]
}

package tui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lyceum/internal/plain"

	"github.com/charmbracelet/x/ansi"
)

// face is how a piece of text looks: any of these together.
type face uint8

const (
	strong face = 1 << iota
	emphatic
	struck
	code
	linked
	target
	heading
	pale
)

// style is a face on a terminal with colours.
func (f face) style() (s ansi.Style) {
	if f&(strong|heading) != 0 {
		s = s.Bold()
	}
	if f&pale != 0 {
		s = s.Faint()
	}
	if f&emphatic != 0 {
		s = s.Italic(true)
	}
	if f&linked != 0 {
		s = s.Underline(true)
	}
	if f&struck != 0 {
		s = s.Strikethrough(true)
	}
	switch {
	case f&code != 0:
		s = s.ForegroundColor(ansi.Yellow)
	case f&target != 0:
		s = s.ForegroundColor(ansi.Blue)
	case f&heading != 0:
		s = s.ForegroundColor(ansi.Cyan)
	}
	return s
}

// prose is a paragraph that is being put together. All text that gets onto the page
// goes through its add.
type prose struct {
	text strings.Builder
	runs []stretch
	safe plain.Pieces // what the text was made by, up to here
}

// stretch is where a piece of one face ends.
type stretch struct {
	end  int
	face face
}

// add appends text, without anything that a terminal would obey. A break in it is a
// space.
func (p *prose) add(s string, f face) {
	if strings.Contains(s, "\n") {
		s = strings.ReplaceAll(s, "\n", " ")
	}
	p.text.WriteString(clean(&p.safe, s))
	p.ends(f)
}

// end appends the end of a line.
func (p *prose) end() {
	p.text.WriteByte('\n')
	p.safe = plain.Pieces{}
	p.ends(0)
}

func (p *prose) ends(f face) {
	if n := len(p.runs); n > 0 && p.runs[n-1].face == f {
		p.runs[n-1].end = p.text.Len()
	} else {
		p.runs = append(p.runs, stretch{p.text.Len(), f})
	}
}

// cell is what a reader takes for one character.
type cell struct {
	text  string
	width int32
	face  face
}

func (c cell) first() rune {
	r, _ := utf8.DecodeRuneInString(c.text)
	return r
}

// space tells whether a line may be broken here and the cell left out. No-break
// spaces are none.
func (c cell) space() bool {
	r := c.first()
	return unicode.IsSpace(r) && r != '\u00a0' && r != '\u2007' && r != '\u202f'
}

func (p *prose) cells() []cell {
	s, begin := p.text.String(), 0
	out := make([]cell, 0, len(s))
	for _, r := range p.runs {
		for begin < r.end {
			c, width := ansi.FirstGraphemeCluster(s[begin:r.end], ansi.GraphemeWidth)
			begin += len(c)
			if width = clusterWidth(c, width); width <= maxCluster {
				out = append(out, cell{c, int32(width), r.face})
				continue
			}
			for _, letter := range c {
				out = append(out, cell{string(letter), int32(ansi.StringWidthWc(string(letter))), r.face})
			}
		}
	}
	return out
}

// maxCluster is how wide a cluster may be and still be kept together. No writing has
// wider ones.
const maxCluster = 4

// clusterWidth is how wide a cluster of that width may come out. Terminals that know
// nothing of clusters show all the letters of one; a line must not get longer by that
// and go on where only we write. Skin tones they do know, or few would use them.
func clusterWidth(c string, width int) int {
	if len(c) <= utf8.UTFMax || len(c) <= 2*utf8.UTFMax && strings.ContainsFunc(c, skinTone) {
		return width
	}
	return max(width, ansi.StringWidthWc(c))
}

func skinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }

// wrap breaks a text into lines of at most that width: between words, between the
// characters of scripts that have no spaces, and in a word only if it is longer than
// a line.
func wrap(cells []cell, width int) (lines [][]cell) {
	begin, gap, wide := 0, 0, 0
	for i, c := range cells {
		switch {
		case c.text == "\n":
			lines = append(lines, trimmed(cells[begin:i]))
			begin, gap, wide = i+1, i+1, 0
			continue
		case c.space():
			wide, gap = wide+int(c.width), i+1
			continue
		case i > begin && breakable(cells[i-1], c):
			gap = i
		}
		if wide += int(c.width); wide <= width || i == begin {
			continue
		}
		if gap <= begin {
			gap = i
		}
		lines = append(lines, trimmed(cells[begin:gap]))
		begin, wide = gap, cellsWidth(cells[gap:i+1])
	}
	if begin < len(cells) {
		lines = append(lines, trimmed(cells[begin:]))
	}
	return lines
}

// breakable tells whether a line may end between two characters that are no spaces:
// where one of them is wide, but neither after an opening bracket nor before a closing
// one or a full stop.
func breakable(a, b cell) bool {
	return (a.width > 1 || b.width > 1) && b.width > 0 &&
		!unicode.In(a.first(), unicode.Ps, unicode.Pi) && !unicode.In(b.first(), unicode.Pe, unicode.Pf, unicode.Po)
}

// chop breaks a text that is not made of words into lines of at most that width.
func chop(cells []cell, width int) (lines [][]cell) {
	begin, wide := 0, 0
	for i, c := range cells {
		if wide += int(c.width); wide > width && i > begin {
			lines = append(lines, cells[begin:i])
			begin, wide = i, int(c.width)
		}
	}
	return append(lines, cells[begin:])
}

func trimmed(cells []cell) []cell {
	for len(cells) > 0 && cells[len(cells)-1].space() {
		cells = cells[:len(cells)-1]
	}
	return cells
}

func cellsWidth(cells []cell) (n int) {
	for _, c := range cells {
		n += int(c.width)
	}
	return n
}

// set makes a line of cells.
func set(cells []cell, look Look) string {
	var b strings.Builder
	for len(cells) > 0 {
		n := 1
		for n < len(cells) && cells[n].face == cells[0].face {
			n++
		}
		var s ansi.Style
		if look == Colour {
			s = cells[0].face.style()
		}
		if len(s) > 0 {
			b.WriteString(s.String())
		}
		for _, c := range cells[:n] {
			b.WriteString(c.text)
		}
		if len(s) > 0 {
			b.WriteString(ansi.ResetStyle)
		}
		cells = cells[n:]
	}
	return b.String()
}

func setAll(lines [][]cell, look Look) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		out = append(out, set(l, look))
	}
	return out
}

// setText wraps a line that has no faces. An empty one stays.
func setText(s string, width int) []string {
	var p prose
	p.add(s, 0)
	if lines := wrap(p.cells(), width); len(lines) > 0 {
		return setAll(lines, Mono)
	}
	return []string{""}
}

// Package plain makes the text of strangers safe: of models, programs, files, servers
// and whoever else writes what Lyceum passes on. One table says what a character is;
// no other package has a set of its own, and a test of the architecture holds them to
// it.
//
// What is done with a character depends on who reads it:
//
//   - People, at a terminal or in a page (Text, Line, Brief): what a terminal obeys,
//     what turns or breaks a line, and what cannot be seen becomes U+FFFD, so that its
//     place can be seen. Carriage returns are left out, and so are marks beyond the
//     third on a letter, which would cover the lines above. A joiner or a choice of
//     picture is left out where writing has it, or Persian, Hindi and emoji would be
//     full of U+FFFD. Behind ASCII and behind Latin, Greek and Cyrillic letters such a
//     character has no use but to make two names look the same.
//   - Programs that read JSON (JSON): the same characters as escapes, so that the text
//     means what it meant.
//   - A person's own terminal with a stranger's program on it has a filter of its own,
//     in package cli. It asks here only for Controls: whoever may write anywhere on the
//     screen needs no mark of direction to mislead.
//   - Models (Escape): controls and broken bytes as escapes, everything else as it is.
//   - Models, of what another agent wrote for them (Told): what people are not shown, and
//     letters that look like nothing, becomes U+FFFD, for a model reads what a person who
//     watches does not see. Joiners and choices of picture stay where writing has them.
//   - Errors and logs of computers (Quoted, Bare, ASCII), which models and people read.
//   - Rules, which refuse or count (the lists).
//
// What models are told, what computers say and what rules decide is in ledgers. Those
// results are frozen to the byte, each as it was when it had a set of its own, even
// where the difference was an accident; the table shows it. What people are shown is
// in no ledger and was made one: the strictest of what there was.
//
// Nothing here fails. Every text, also one that is no UTF-8, has a result, in time that
// grows with its length.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxMarks is how many marks a letter may carry. Real writing has no more.
const maxMarks = 3

// maxShaping is how many characters in a row may shape the one before: a heart on
// fire is a heart, as a picture, joined, and a fire.
const maxShaping = 2

// Text is a text for people. Breaks and tabs stay.
func Text(s string) string {
	var p Pieces
	return p.Text(s)
}

// Pieces is a text for people that comes in pieces, which are shown one behind the
// other: a tower of marks can be built of several. Its zero value is the beginning.
type Pieces struct {
	marks   int  // of the last letter or sign
	shaping int  // characters that were left out behind it
	last    rune // that letter or sign, 0 for none
}

// Text is the next piece as Text makes it.
func (p *Pieces) Text(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if r, ok := p.next(r); ok {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Told is a text that an agent wrote for others: a title, a review. The characters of but
// stay, for who reads on has a rule for them. A flag of a region, whose letters are tags,
// loses them.
func Told(s string, but List) string {
	hidden := func(r rune) bool { on := listed(r); return on&(People|blank) != 0 && on&but == 0 }
	if s = whole(s); !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	var last rune
	row := 0
	for _, r := range s {
		switch {
		case !hidden(r):
			last, row = r, 0
		case listed(r)&Shaping != 0 && shaped(last) && row < maxShaping:
			row++
		default:
			r, last, row = unicode.ReplacementChar, 0, 0
		}
		b.WriteRune(r)
	}
	return b.String()
}

// next returns what is shown in place of a character, if anything is.
func (p *Pieces) next(r rune) (rune, bool) {
	on := listed(r)
	switch {
	case r == '\r':
		return 0, false
	case on&Shaping != 0 && shaped(p.last) && p.shaping < maxShaping:
		p.shaping++
		return 0, false
	case on&People != 0:
		*p = Pieces{}
		return unicode.ReplacementChar, true
	case unicode.Is(unicode.M, r):
		p.marks++
		p.shaping = 0
		return r, p.marks <= maxMarks
	}
	*p = Pieces{last: r}
	return r, true
}

// shaped tells whether a letter or sign is one that writing joins, or has in two looks.
func shaped(r rune) bool {
	return r >= utf8.RuneSelf && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
}

// Line is a text for people on one line: white space of any kind is one space.
func Line(s string) string {
	if isLine(s) {
		return s
	}
	return strings.Join(strings.Fields(Text(s)), " ")
}

// Simple tells whether a text is printable ASCII and nothing else.
func Simple(s []byte) bool {
	for _, c := range s {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// isLine tells whether a text is a line already, as nearly all are: printable ASCII with single spaces
// between its words.
func isLine(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = s[i]
	}
	return last != ' ' || s == ""
}

// Brief is a line of at most so many characters. A letter keeps its marks or goes with
// them.
func Brief(s string, most int) string {
	if s = Line(s); len(s) <= most {
		return s
	}
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	n := max(most-1, 0)
	for n > 0 && unicode.Is(unicode.M, r[n]) {
		n--
	}
	return string(r[:n]) + "…"
}

// JSON is a JSON text that means the same and can be shown: JSON itself demands escapes
// only for the oldest control characters.
func JSON(s string) string {
	if s = whole(s); !People.In(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch high, low := utf16.EncodeRune(r); {
		case !People.Has(r):
			b.WriteRune(r)
		case high != unicode.ReplacementChar:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Printable tells whether a text is UTF-8 that Go calls printable: letters, marks,
// numbers, signs and the ASCII space. It decides what a quest.yaml may hold, and stays
// as it is.
func Printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

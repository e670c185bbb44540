package plain

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// List is a list of characters; lists are joined by |. Which characters are on which
// list is said in the table below and nowhere else.
type List uint16

const (
	// People are the characters that people are not shown: those that a terminal
	// obeys, that turn or break a line, that cannot be seen or mean nothing. Breaks and
	// tabs are not among them. This list may grow with every release.
	People List = 1 << iota
	// Controls are C0, DEL and C1, breaks and tabs included. They are what Unicode says
	// they are for ever.
	Controls

	// The lists that follow are frozen: a ledger or a crate of an earlier release was
	// made by them, and must come out the same to the byte. What they leave out that
	// People has, they leave out for that reason alone.

	// Papers must not stand in the title of a lab's paper or the name of a file, and
	// are quoted as numbers where a paper's words are told to others.
	Papers
	// Output is shown as a question mark in what a built-in program prints. The prelude
	// of the programs in Python has the same list.
	Output
	// Names must not stand in the name of a file of a corpus.
	Names
	// Words have no meaning inside a word that is searched for.
	Words
	// Preview is replaced in the page of a crate.
	Preview

	// Shaping are those of People that ordinary writing has, and that change how the
	// character before them looks: the joiners of Persian, Hindi and emoji, and the
	// choice between a sign and its picture.
	Shaping

	// blank are letters and signs that look like nothing. Those that are not of People are
	// writing somewhere, and hidden only where agents write for each other.
	blank
)

// What many rows have in common.
const (
	cf  = People | Names | Words // Unicode's format characters
	old = cf | Papers | Output   // those that every list of ours knew
	cc  = Controls | Papers | Output | Names
)

// row is a range of characters that are on the same lists.
type row struct {
	first, last rune
	on          List
}

// table has every character that is on a list, in order, but for the noncharacters at
// the end of each plane. It is written out rather
// than taken from package unicode, whose tables change with the Go release.
var table = []row{
	{0x00, 0x08, cc | People | Preview}, // C0
	{'\t', '\n', cc},
	{0x0B, 0x1F, cc | People | Preview}, // the rest of C0, carriage return and escape too
	{0x7F, 0x9F, cc | People | Preview}, // DEL and C1
	{0xAD, 0xAD, cf | Output},           // soft hyphen
	{0x034F, 0x034F, People},            // combining grapheme joiner
	{0x0600, 0x0605, cf},                // signs of Arabic that stand before numbers
	{0x061C, 0x061C, cf | Papers},       // Arabic letter mark: direction
	{0x06DD, 0x06DD, cf},
	{0x070F, 0x070F, cf},
	{0x0890, 0x0891, cf},
	{0x08E2, 0x08E2, cf},
	{0x115F, 0x1160, People | blank}, // Hangul fillers: blank letters
	{0x17B4, 0x17B5, People | blank}, // Khmer vowels that cannot be seen
	{0x180B, 0x180D, People | Words}, // Mongolian variation selectors
	{0x180E, 0x180E, cf},             // Mongolian vowel separator
	{0x180F, 0x180F, People | Words},
	{0x200B, 0x200B, old},                      // zero-width space
	{0x200C, 0x200D, old | Shaping},            // zero-width joiners
	{0x200E, 0x200F, old},                      // direction marks
	{0x2028, 0x2029, old &^ Words},             // separators of lines and paragraphs
	{0x202A, 0x202E, old | Preview},            // embeddings and overrides of direction
	{0x2060, 0x2064, old},                      // word joiner, operators that cannot be seen
	{0x2065, 0x2065, People | Papers | Output}, // reserved
	{0x2066, 0x2069, old | Preview},            // isolates of direction
	{0x206A, 0x206F, old},                      // deprecated format characters
	{0x2800, 0x2800, blank},                    // the Braille pattern without dots
	{0x3164, 0x3164, People | blank},           // Hangul filler
	{0xD800, 0xDFFF, People},                   // surrogates: no characters
	{0xE000, 0xF8FF, People},                   // private use
	{0xFDD0, 0xFDEF, People},                   // noncharacters
	{0xFE00, 0xFE0D, People | Words},           // variation selectors
	{0xFE0E, 0xFE0F, People | Words | Shaping}, // as text, as a picture
	{0xFEFF, 0xFEFF, old},                      // byte-order mark
	{0xFFA0, 0xFFA0, People | blank},           // half-width Hangul filler
	{0xFFF0, 0xFFF8, People},                   // reserved
	{0xFFF9, 0xFFFB, old},                      // annotations between lines
	{0xFFFE, 0xFFFF, People | Papers},          // noncharacters
	{0x110BD, 0x110BD, cf},                     // signs of Kaithi
	{0x110CD, 0x110CD, cf},
	{0x13430, 0x1343F, cf},              // joiners of hieroglyphs
	{0x16FE4, 0x16FE4, blank},           // filler of the Khitan small script
	{0x1BCA0, 0x1BCA3, cf},              // shorthand
	{0x1D159, 0x1D159, blank},           // a note without a head
	{0x1D173, 0x1D17A, cf},              // beams of music
	{0xE0000, 0xE0000, People | Output}, // tags: ASCII that cannot be seen
	{0xE0001, 0xE0001, cf | Output},
	{0xE0002, 0xE001F, People | Output},
	{0xE0020, 0xE007F, cf | Output},
	{0xE0080, 0xE00FF, People | Output},
	{0xE0100, 0xE01EF, People | Words | Output}, // variation selectors
	{0xE01F0, 0xE0FFF, People | Output},         // reserved
	{0xF0000, 0x10FFFF, People},                 // private use, and noncharacters
}

// listed are the lists a character is on.
func listed(r rune) List {
	switch {
	case r >= ' ' && r < 0x7F:
		return 0
	case r > 0xFFFF && r&0xFFFE == 0xFFFE: // the last two of every plane are noncharacters
		return People
	}
	i, ok := slices.BinarySearchFunc(table, r, func(w row, r rune) int {
		switch {
		case w.last < r:
			return -1
		case w.first > r:
			return 1
		}
		return 0
	})
	if !ok {
		return 0
	}
	return table[i].on
}

// Has tells whether a character is on a list, or on one of several.
func (l List) Has(r rune) bool { return listed(r)&l != 0 }

// In tells whether a text has a character of a list.
func (l List) In(s string) bool { return strings.ContainsFunc(s, l.Has) }

// Replace puts with in place of each character of a list, nothing if with is
// negative. Bytes that are no text become U+FFFD.
func (l List) Replace(s string, with rune) string {
	return strings.Map(func(r rune) rune {
		if l.Has(r) {
			return with
		}
		return r
	}, whole(s))
}

// whole is a text whose bytes that are no text are U+FFFD, one each.
func whole(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lyceum/internal/plain"
	"lyceum/internal/wording"

	"golang.org/x/text/unicode/norm"
)

// maxToken bounds a word in bytes; what is longer is no word, and is cut.
const maxToken = 256

// Tokens returns the words of a text in order, as they are indexed: in lower case and
// compatibility-normalised. A word made of several (camelCase, snake_case, l'eau) stands
// there whole and in its parts; Chinese, Japanese and Korean as single characters and
// pairs of neighbours. Numbers keep their points.
func Tokens(text string) []string {
	var list []string
	var s scanner
	s.scan(text, func(token []byte, _, _ int) { list = append(list, string(token)) })
	return list
}

// scanner finds tokens. It keeps its buffer from word to word.
type scanner struct {
	buf  []byte
	emit func(token []byte, start, end int)
	// start and end are where the word at hand stands in the text.
	start, end int
	exact      bool // it stands there as it is
}

// The classes of ASCII bytes.
const (
	other = iota
	lower
	upper
	digit
	underscore
)

var class = func() (c [utf8.RuneSelf]uint8) {
	for b := range c {
		switch {
		case 'a' <= b && b <= 'z':
			c[b] = lower
		case 'A' <= b && b <= 'Z':
			c[b] = upper
		case '0' <= b && b <= '9':
			c[b] = digit
		case b == '_':
			c[b] = underscore
		}
	}
	return c
}()

// scan hands each token to emit, with the place of its word in the text. The token is
// valid only during the call.
func (s *scanner) scan(text string, emit func(token []byte, start, end int)) {
	s.emit = emit
	for i := 0; i < len(text); {
		end, plain := wordEnd(text, i)
		if end == i { // no word begins here
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		s.start, s.end = i, end
		if plain {
			s.simple(text[i:end])
		} else {
			s.compound(text[i:end])
		}
		i = end
	}
}

// wordEnd returns where the word that begins at i ends, and whether it is plain: ASCII
// letters and digits without a capital after its first letter.
func wordEnd(text string, i int) (end int, plain bool) {
	plain = true
	j := i
	for j < len(text) {
		b := text[j]
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[j:])
			if !continues(text, i, j, r, size) {
				break
			}
			plain = false
			j += size
			continue
		}
		switch class[b] {
		case lower, digit:
		case upper:
			plain = plain && j == i
		case underscore:
			plain = false
		default:
			if !joins(text, i, j) {
				return j, plain
			}
			plain = plain && b != '\''
		}
		j++
	}
	return j, plain
}

// continues says whether a rune outside ASCII is part of the word from i to j.
func continues(text string, i, j int, r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size <= 1:
		return false
	case unicode.IsLetter(r), unicode.IsNumber(r):
		return true
	case r == '’':
		return j > i && letterAfter(text, j+size)
	case unicode.IsMark(r), plain.Words.Has(r):
		return j > i
	}
	return false
}

// joins says whether the ASCII sign at j holds a word together: an apostrophe between
// letters, a point or comma between digits.
func joins(text string, i, j int) bool {
	if j == i {
		return false
	}
	before := text[j-1]
	switch text[j] {
	case '\'':
		return (before >= utf8.RuneSelf || class[before] == lower || class[before] == upper) && letterAfter(text, j+1)
	case '.', ',':
		return before < utf8.RuneSelf && class[before] == digit && j+1 < len(text) && text[j+1] < utf8.RuneSelf && class[text[j+1]] == digit
	}
	return false
}

func letterAfter(text string, j int) bool {
	r, _ := utf8.DecodeRuneInString(text[j:])
	return unicode.IsLetter(r)
}

// simple emits a plain word.
func (s *scanner) simple(word string) {
	if len(word) > maxToken {
		word = word[:maxToken]
	}
	s.buf = append(s.buf[:0], word...)
	if b := s.buf[0]; class[b] == upper {
		s.buf[0] = b + 'a' - 'A'
	}
	s.emit(s.buf, s.start, s.end)
}

// compound emits any other word: normalised, whole and in parts.
func (s *scanner) compound(word string) {
	plain := normalised(word)
	s.exact = plain == word
	word = plain
	// Normalising can bring out what is no part of a word: ½ is 1⁄2.
	for _, piece := range strings.FieldsFunc(word, func(r rune) bool { return !inWord(r) }) {
		for len(piece) > 0 {
			end, cjk := segment(piece)
			if cjk {
				s.ideographs(piece[:end])
			} else {
				s.parts(piece[:end])
			}
			piece = piece[end:]
			if s.exact {
				s.start += end
			}
		}
	}
}

func normalised(word string) string {
	word = strings.Map(func(r rune) rune {
		switch {
		case r == '’':
			return '\''
		case r >= utf8.RuneSelf && plain.Words.Has(r):
			return -1
		}
		return r
	}, word)
	return norm.NFKC.String(word)
}

func inWord(r rune) bool {
	switch r {
	case '_', '\'', '.', ',':
		return true
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// segment returns how much of a word, from its start on, is CJK, or is not.
func segment(word string) (end int, cjk bool) {
	for i, r := range word {
		is := wording.Unspaced(r)
		if i == 0 {
			cjk = is
		} else if is != cjk {
			return i, cjk
		}
	}
	return len(word), cjk
}

// ideographs emits each character, and each with its right neighbour. Where they stand
// is told to the character if that is known, since a run of them can be a chapter.
func (s *scanner) ideographs(run string) {
	whole := [2]int{s.start, s.end}
	defer func() { s.start, s.end = whole[0], whole[1] }()
	for i, r := range run {
		size := utf8.RuneLen(r)
		_, next := utf8.DecodeRuneInString(run[i+size:])
		if s.exact {
			s.start, s.end = whole[0]+i, whole[0]+i+size+next
		}
		s.buf = append(s.buf[:0], run[i:i+size]...)
		s.emit(s.buf, s.start, s.end)
		if next > 0 {
			s.buf = append(s.buf[:0], run[i:i+size+next]...)
			s.emit(s.buf, s.start, s.end)
		}
	}
}

// parts emits a word, and its parts if it has more than one.
func (s *scanner) parts(word string) {
	word = strings.Trim(word, "_'.,")
	if word == "" {
		return
	}
	s.lowered(word)
	from := 0
	for i, r := range word {
		if i > from && (separates(r) || capital(word, from, i, r)) {
			s.lowered(word[from:i])
			from = i
		}
		if separates(r) {
			from = i + 1
		}
	}
	if 0 < from && from < len(word) {
		s.lowered(word[from:])
	}
}

func separates(r rune) bool { return r == '_' || r == '\'' }

// capital says whether the rune at i begins a part: a capital after a small letter, or
// the last of several capitals if a small letter follows (HTTPRequest).
func capital(word string, from, i int, r rune) bool {
	if !unicode.IsUpper(r) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(word[from:i])
	if unicode.IsLower(before) {
		return true
	}
	after, _ := utf8.DecodeRuneInString(word[i+utf8.RuneLen(r):])
	return unicode.IsUpper(before) && unicode.IsLower(after)
}

// lowered emits one token in lower case. Both small sigmas are one letter.
func (s *scanner) lowered(word string) {
	s.buf = s.buf[:0]
	for _, r := range word {
		r = unicode.ToLower(r)
		if r == 'ς' {
			r = 'σ'
		}
		if len(s.buf)+utf8.RuneLen(r) > maxToken {
			break
		}
		s.buf = utf8.AppendRune(s.buf, r)
	}
	s.emit(s.buf, s.start, s.end)
}

package evidence

import (
	"strings"
	"unicode"
)

// measured tells whether a unit of measure follows at i, so surely that what
// stands before it is a quantity and no pointer, name or word. Its text is "" if
// it is a unit in the wrong case, which may be one of several.
func (s *scanner) measured(i int) (text string, ok bool) {
	m := measuring{text: s.plain, at: i, unit: unit{}}
	if m.spaces(); m.peek(0) == '1' {
		return "", false
	}
	start := m.at
	u, end, ok := m.read()
	if ok {
		text = u.String()
	} else {
		m = measuring{text: s.plain, at: start, unit: unit{}, fold: true}
		if _, end, ok = m.read(); !ok {
			return "", false
		}
	}
	next, then := s.peek(end), s.peek(end+1)
	if next == '.' && (word(then) || digit(then)) || next == '-' && word(then) {
		return "", false // 2.min.js, bar-shaped
	}
	name := string(s.plain[start:end])
	if !strings.ContainsFunc(name, func(c rune) bool { return !letter(c) }) && (text == "" || end-start == 1 || strings.ToUpper(name) == name) {
		return text, s.closes(end)
	}
	return text, true
}

// closes tells whether text ends at i, or what is said there. A lone A, K or GC
// that more words follow is rarely a unit: 1. A catalyst.
func (s *scanner) closes(i int) bool {
	c, next := s.peek(i), s.peek(i+1)
	switch {
	case c == 0 || c == '\n' || c == '。' || unicode.IsLetter(c):
		return true
	case strings.ContainsRune(".,;)!?", c):
		return next == 0 || unicode.IsSpace(next) || unicode.IsLetter(next) && !word(next)
	}
	return false
}

// closers passes over what may stand between a list's number and its text.
func (s *scanner) closers(i int) int {
	for range 2 {
		if c := s.peek(i); c == '.' || c == ')' || c == ']' || c == '_' {
			i++
		}
	}
	return i
}

// numerals reads a run of numbers that are no digits: ⁹⁹, ①②, ½. Raised and
// lowered ones are evaluated; where they belong to what stands before them, as
// exponents and marks of footnotes do, they count only if a unit follows.
func (s *scanner) numerals() {
	start := s.at
	if superscript(s.peek(s.at)) >= 10 {
		s.at++
	}
	var digits strings.Builder
	evaluated := true
	for ; numeral(s.peek(s.at)); s.at++ {
		n := small(s.peek(s.at))
		evaluated = evaluated && n >= 0
		digits.WriteRune('0' + rune(max(n, 0)))
	}
	unit, measured := s.measured(s.at)
	if !measured && (evaluated && !s.alone(start) || s.at-start == 1 && circled(s.peek(start)) && s.begins(start)) || s.belongs(start) {
		return
	}
	r := reading{s: s, at: s.at}
	r.percentSign()
	s.at = r.at
	text := string(s.text[start:s.at])
	n := textual(text, strings.TrimSpace(text))
	if evaluated {
		n = made(text, digits.String(), 0, superscript(s.peek(start)) == 10, r.percent)
	}
	s.found = append(s.found, found{number: n, unit: unit})
}

// circled is a mark of a list's item, such as ① and ❶.
func circled(c rune) bool {
	return '①' <= c && c <= '⒛' || '⓪' <= c && c <= '⓿' || '❶' <= c && c <= '➓'
}

// belongs tells whether a raised number is part of a unit before it: 7m², (m s)⁻¹.
func (s *scanner) belongs(start int) bool {
	before := s.peek(start - 1)
	return word(before) || before == ')' && superscript(s.peek(start)) >= 10
}

// alone tells whether a raised number has nothing before it to which it belongs.
func (s *scanner) alone(start int) bool {
	before := s.peek(start - 1)
	return before == 0 || unicode.IsSpace(before) || strings.ContainsRune("([{=<>≈~±+-", before)
}

// begins tells whether a line begins at start, but for marks.
func (s *scanner) begins(start int) bool {
	for i := start - 1; i >= 0 && s.plain[i] != '\n'; i-- {
		if !strings.ContainsRune(" \t>*-", s.plain[i]) || start-i > 20 {
			return false
		}
	}
	return true
}

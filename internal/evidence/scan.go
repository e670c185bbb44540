package evidence

import (
	"slices"
	"strings"
	"unicode"
)

// found is a number and its unit of measure, "" if none is known. What looks like
// thousands, 300,350, may be a list: then parts are its members. The part of a
// name with a unit behind it, E99 kJ, is the number in it.
type found struct {
	number Number
	parts  []Number
	unit   string
}

// scanner goes through a text once. plain is the text with every kind of digit and
// of minus as ASCII, rune for rune.
type scanner struct {
	text, plain []rune
	at          int
	spelt       int // before this no spelled-out number has a unit
	found       []found
	names       []string // that hold digits
}

func scan(text string) *scanner {
	s := &scanner{text: []rune(text)}
	s.plain = make([]rune, len(s.text))
	for i, c := range s.text {
		s.plain[i] = plain(c)
	}
	for s.at < len(s.plain) {
		s.step()
	}
	return s
}

// peek is the rune at i, or 0 outside.
func (s *scanner) peek(i int) rune {
	if i < 0 || i >= len(s.plain) {
		return 0
	}
	return s.plain[i]
}

func (s *scanner) step() {
	c := s.peek(s.at)
	switch {
	case c == '[' && s.citation():
	case s.spelled():
	case word(c):
		s.name(s.at)
	case numeral(c) || superscript(c) >= 10 && numeral(s.peek(s.at+1)):
		s.numerals()
	case digit(c) || c == '.' && digit(s.peek(s.at+1)) && !digit(s.peek(s.at-1)):
		s.number()
	default:
		s.at++
	}
}

// skipUnit passes over the letters that stand directly behind a number, and over
// an exponent such as that of s-1. What follows may be the next number: 300K-400K.
func (s *scanner) skipUnit() {
	if !letter(s.peek(s.at)) {
		return
	}
	for letter(s.peek(s.at)) {
		s.at++
	}
	if c := s.peek(s.at + 2); s.peek(s.at) == '-' && digit(s.peek(s.at+1)) && !digit(c) && !word(c) && c != '.' {
		s.at += 2
	}
}

// citation passes over [1] and [1, 2]. A longer number in brackets is data, and so
// is one with a unit behind it.
func (s *scanner) citation() bool {
	i, members, longest := s.at+1, 0, 0
	for {
		length := 0
		for digit(s.peek(i)) {
			i++
			length++
		}
		if length == 0 {
			return false
		}
		members, longest = members+1, max(longest, length)
		if s.peek(i) == ']' {
			break
		}
		if s.peek(i) != ',' {
			return false
		}
		for i++; s.peek(i) == ' '; i++ {
		}
	}
	if longest > 3 || members > 1 && longest > 2 {
		return false
	}
	if _, ok := s.measured(i + 1); ok {
		return false
	}
	s.at = i + 1
	return true
}

// number reads the number at s.at, or passes over what only looks like one.
func (s *scanner) number() {
	start := s.at
	if s.radix() {
		return
	}
	r := reading{s: s, at: start}
	r.significand()
	unit, named := "", false
	if s.isName(start, r.at) {
		if unit, named = s.measuredName(start, r.at); !named {
			s.name(start)
			return
		}
	}
	r.power()
	s.at = r.at
	if !r.fine && !named && s.isPointer(start, r.end) {
		if unit, named = s.measured(s.closers(r.end)); !named {
			return
		}
	}
	if s.minus(start) {
		start--
		r.negative = true
	}
	r.percentSign()
	s.at = r.at
	s.skipUnit()
	if u, _, ok := unitAt(s.plain, r.at); ok && !named {
		unit = u.String()
	} else if s.peek(r.at) == ']' {
		unit, _ = s.measured(r.at + 1)
	}
	s.add(&r, start, unit)
}

func (s *scanner) add(r *reading, start int, unit string) {
	f := found{unit: unit, number: made(string(s.text[start:r.at]), r.digits.String(), r.exponent, r.negative, r.percent)}
	if len(r.groups) > 1 {
		for _, g := range r.groups {
			f.parts = append(f.parts, made(g, g, 0, false, false))
		}
		// The sign belongs to the first of a list and the percent sign to none that
		// can be told.
		f.parts[0].negative = r.negative
	}
	s.found = append(s.found, f)
}

// exponentAt tells whether e5, E-5 or the like stands at i, and nothing else
// behind it.
func (s *scanner) exponentAt(i int) bool {
	if c := s.peek(i); c != 'e' && c != 'E' {
		return false
	}
	i++
	if c := s.peek(i); c == '+' || c == '-' {
		i++
	}
	if !digit(s.peek(i)) {
		return false
	}
	for digit(s.peek(i)) {
		i++
	}
	return !digit(s.peek(i)) && s.peek(i) != '_'
}

// minus tells whether a minus belongs to the number at start: there is one, and
// it is neither a dash between two things nor a hyphen.
func (s *scanner) minus(start int) bool {
	if s.peek(start-1) != '-' {
		return false
	}
	before := s.peek(start - 2)
	// Scripts without case have no hyphens and often no spaces.
	return before == 0 || unicode.IsSpace(before) || unicode.IsLetter(before) && !word(before) || strings.ContainsRune("([{=,:;<>≈~±+*/|\"'×·。、", before)
}

var pointers = []string{"section", "sec", "figure", "fig", "table", "equation", "eq", "chapter", "step", "appendix", "page", "paragraph", "line", "ref", "no", "item", "§", "#"}

// isPointer tells whether the number from start to end says where something
// stands, not how much it is.
func (s *scanner) isPointer(start, end int) bool {
	if end-start > 6 {
		return false
	}
	if s.listNumber(start, end) {
		return true
	}
	i := start
	for i > 0 && start-i < 3 && strings.ContainsRune(" .(\u00a0", s.plain[i-1]) {
		i--
	}
	end = i
	for i > 0 && end-i < 10 && (letter(s.plain[i-1]) || s.plain[i-1] == '#' || s.plain[i-1] == '§') {
		i--
	}
	return slices.Contains(pointers, strings.ToLower(string(s.plain[i:end])))
}

// listNumber tells whether "1." or "(1)" begins a line.
func (s *scanner) listNumber(start, end int) bool {
	if end-start > 3 {
		return false
	}
	close := s.peek(end)
	if close != '.' && close != ')' || s.peek(end+1) != ' ' {
		return false
	}
	i := start - 1
	if s.peek(i) == '(' {
		i--
	}
	for ; i >= 0 && s.plain[i] != '\n'; i-- {
		if !strings.ContainsRune(" \t>*-", s.plain[i]) || start-i > 20 {
			return false
		}
	}
	return true
}

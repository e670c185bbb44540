package evidence

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// name passes over the name that begins at start: letters, digits, and what
// stands between them. Digits in it with a unit behind them end it and count:
// E99 kJ, ca.99kJ/mol.
func (s *scanner) name(start int) {
	digits := false
	for s.at = start; s.at < len(s.plain); s.at++ {
		c, next := s.peek(s.at), s.peek(s.at+1)
		inner := strings.ContainsRune("-./^", c) && (word(next) || digit(next) || c == '^' && next == '-')
		if !word(c) && !digit(c) && !numeral(c) && superscript(c) < 0 && !inner {
			break
		}
		if !digit(c) && !numeral(c) {
			continue
		}
		digits = true
		if digit(next) || numeral(next) || next == '.' && digit(s.peek(s.at+2)) {
			continue
		}
		if unit, ok := s.measuredInName(start, s.at+1); ok {
			s.at++
			s.addName(start, unit)
			return
		}
	}
	if digits {
		s.names = append(s.names, s.nameKey(start))
	}
}

// addName adds the name from start to s.at, and the number that ends it.
func (s *scanner) addName(start int, unit string) {
	f := found{number: textual(string(s.text[start:s.at]), s.nameKey(start)), unit: unit}
	i := s.at
	for i > start && (digit(s.plain[i-1]) || s.plain[i-1] == '.') {
		i--
	}
	if text := strings.TrimLeft(string(s.plain[i:s.at]), "."); text != "" && strings.Count(text, ".") < 2 {
		whole, decimals, _ := strings.Cut(text, ".")
		f.parts = []Number{made(text, whole+decimals, -len(decimals), false, false)}
	}
	s.found = append(s.found, f)
}

// nameKey is how the name from start to s.at is compared: CO₂ is CO2.
func (s *scanner) nameKey(start int) string {
	key := append([]rune("name "), s.plain[start:s.at]...)
	for i, c := range key {
		if n := small(c); n >= 0 {
			key[i] = '0' + rune(n)
		}
	}
	return string(key)
}

// measuredInName tells whether a unit follows the digits of a name that end at i.
// The name may be a unit itself, as the first of mol-1 K-1 and m3 s-1.
func (s *scanner) measuredInName(start, i int) (unit string, ok bool) {
	at, joined := i, true
	switch c := s.peek(i); {
	case c == '_' || c == '.' || c == '-':
		at++
	case c == ' ' || c == '\u00a0' || c == '\u2009' || c == '\u202f':
		joined = false
	case !letter(c) && c != '°':
		return "", false
	}
	if i-start <= 2*longestSymbol {
		token := s.plain[start:i]
		_, end, isUnit := unitAt(token, 0)
		_, _, isSymbol := symbol(string(token[:len(token)-1]))
		if isUnit && end == len(token) || isSymbol {
			return "", false
		}
	}
	if joined && !letter(s.peek(at+1)) && s.peek(at) != '°' {
		return "", false // one letter: run2.m, 2s2
	}
	return s.measured(at)
}

// isName tells whether the digits from start to end are part of a name, by what
// follows them.
func (s *scanner) isName(start, end int) bool {
	c, next := s.peek(end), s.peek(end+1)
	switch {
	case s.raisedUnit(start):
		return true
	case c == '_':
		return true
	case c == '.':
		return digit(next) || unicode.IsLower(next) // 1.2.3, 2.csv
	case c == '/' && string(s.plain[start:end]) == "1":
		return letter(next) // 1/s
	case !letter(c):
		return false
	}
	// 300K is a number and its unit; 5f3a is neither. 1e5 is for power to read.
	i := s.letters(end)
	if digit(s.peek(i)) && !s.exponentAt(end) {
		return true
	}
	return slices.Contains(ordinals, string(s.plain[end:i]))
}

var ordinals = []string{"st", "nd", "rd", "th"}

// raisedUnit tells whether the number at start is the exponent of a unit.
func (s *scanner) raisedUnit(start int) bool {
	before := s.peek(start - 1)
	return before == '^' || before == '-' && s.peek(start-2) == '^'
}

// letters is where the letters that begin at i end.
func (s *scanner) letters(i int) int {
	for letter(s.peek(i)) {
		i++
	}
	return i
}

// measuredName tells whether what looks like a name from start on is a number up
// to end, with its unit behind: 99_kJ, 99.kj/mol, 99th kJ. The third day is an
// ordinal.
func (s *scanner) measuredName(start, end int) (unit string, ok bool) {
	if s.raisedUnit(start) {
		return "", false
	}
	if c := s.peek(end); c == '_' || c == '.' {
		if !letter(s.peek(end + 2)) {
			return "", false
		}
		return s.measured(end + 1)
	}
	i := s.letters(end)
	if !slices.Contains(ordinals, string(s.plain[end:i])) {
		return "", false
	}
	unit, ok = s.measured(i)
	return unit, ok && !slices.Contains([]string{"s", "min", "h", "d"}, unit)
}

// radix reads 0x63, 0o17 and 0b101.
func (s *scanner) radix() bool {
	start, i := s.at, s.at+2
	if s.peek(start) != '0' || !strings.ContainsRune("xXoObB", s.peek(start+1)) || word(s.peek(start-1)) || digit(s.peek(start-1)) {
		return false
	}
	for i-start < 18 && (digit(s.peek(i)) || strings.ContainsRune("abcdefABCDEF", s.peek(i))) {
		i++
	}
	n, err := strconv.ParseUint(string(s.plain[start:i]), 0, 64)
	if err != nil || word(s.peek(i)) || digit(s.peek(i)) {
		return false
	}
	unit := ""
	if u, _, ok := unitAt(s.plain, i); ok {
		unit = u.String()
	}
	s.at = i
	s.found = append(s.found, found{number: made(string(s.text[start:i]), strconv.FormatUint(n, 10), 0, false, false), unit: unit})
	return true
}

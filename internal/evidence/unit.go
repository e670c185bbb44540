package evidence

import (
	"unicode"
)

// measuring reads a unit: symbols with powers, with ·, * or / between them, or
// a space before one that has a power; after a / one pair of brackets.
type measuring struct {
	text []rune
	at   int
	unit unit
}

// maxFactors is more than any unit has.
const maxFactors = 8

// unitAt reads the unit that begins at a place of a text, perhaps after a space.
func unitAt(text []rune, at int) (unit, bool) {
	m := measuring{text: text, at: at, unit: unit{}}
	if c := m.peek(0); c == ' ' || c == '\u00a0' || c == '\u2009' || c == '\u202f' {
		m.at++
	}
	if m.peek(0) == '1' && m.peek(1) == '/' {
		m.at++
	} else if !m.factor(1, false) {
		return nil, false
	}
	for range maxFactors {
		if !m.more() {
			break
		}
	}
	return m.unit, len(m.unit) > 0
}

func (m *measuring) peek(i int) rune {
	if m.at+i < 0 || m.at+i >= len(m.text) {
		return 0
	}
	return m.text[m.at+i]
}

// more reads one more factor with the sign before it, or nothing.
func (m *measuring) more() bool {
	before := m.at
	ok := false
	switch c := m.peek(0); c {
	case '/':
		m.at++
		if m.peek(0) == '(' {
			ok = m.brackets()
		} else {
			ok = m.factor(-1, false)
		}
	case '·', '⋅', '*':
		m.at++
		ok = m.factor(1, false)
	case ' ', '\u00a0', '\u2009':
		m.at++
		ok = m.factor(1, true)
	}
	if !ok {
		m.at = before
	}
	return ok
}

// brackets reads (mol K), all of it below the line.
func (m *measuring) brackets() bool {
	inner := measuring{text: m.text, at: m.at + 1, unit: unit{}}
	for range maxFactors {
		if !inner.factor(-1, false) {
			return false
		}
		switch inner.peek(0) {
		case ')':
			for name, power := range inner.unit {
				m.unit[name] += power
			}
			m.at = inner.at + 1
			return true
		case ' ', '·', '⋅', '*':
			inner.at++
		default:
			return false
		}
	}
	return false
}

// factor reads a symbol and its power, which must be there if raised says so.
func (m *measuring) factor(sign int, raised bool) bool {
	i := 0
	for i < 10 && (unicode.IsLetter(m.peek(i)) || m.peek(i) == '°' || m.peek(i) == 'µ' || m.peek(i) == '℃' || m.peek(i) == '℉') {
		i++
	}
	if i == 0 {
		return false
	}
	runes := append([]rune(nil), m.text[m.at:m.at+i]...)
	for j, c := range runes {
		if c == 'μ' { // the letter, for the sign
			runes[j] = 'µ'
		}
	}
	name := string(runes)
	if s, ok := synonyms[name]; ok {
		name = s
	}
	if _, _, ok := symbol(name); !ok {
		return false
	}
	power, end := m.power(m.at + i)
	if end == m.at+i && raised || end < len(m.text) && (word(m.text[end]) || digit(m.text[end])) {
		return false
	}
	m.at = end
	m.unit[name] += sign * power
	return true
}

// power reads ^2, ^-1, ⁻¹ or -1 at i; without any it is 1.
func (m *measuring) power(i int) (power, end int) {
	s := scanner{plain: make([]rune, 0, 8)}
	for j := i; j < min(i+8, len(m.text)); j++ {
		s.plain = append(s.plain, plain(m.text[j]))
	}
	if n, end, ok := s.raised(0); ok && n > -10 && n < 10 {
		return n, i + end
	}
	if s.peek(0) == '-' && digit(s.peek(1)) && !digit(s.peek(2)) && !word(s.peek(2)) {
		return -int(s.peek(1) - '0'), i + 2
	}
	return 1, i
}

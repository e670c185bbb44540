package evidence

import "strings"

// measuring reads a unit: symbols with powers, with ·, *, / or per between them,
// or a space before one that has a power; after a / one pair of brackets.
type measuring struct {
	text []rune
	at   int
	unit unit
	fold bool // kj is kJ, too
}

// maxFactors is more than any unit has, longestSymbol more than any symbol.
const (
	maxFactors    = 8
	longestSymbol = 14
)

// unitAt reads the unit that begins at a place of a plain text, perhaps after
// spaces, and tells where it ends.
func unitAt(text []rune, at int) (u unit, end int, ok bool) {
	m := measuring{text: text, at: at, unit: unit{}}
	return m.read()
}

func (m *measuring) read() (u unit, end int, ok bool) {
	m.spaces()
	if m.peek(0) == '1' && m.peek(1) == '/' {
		m.at++
	} else if !m.factor(1, false) {
		return nil, m.at, false
	}
	for range maxFactors {
		if !m.more() {
			break
		}
	}
	return m.unit, m.at, len(m.unit) > 0
}

// spaces passes over a few.
func (m *measuring) spaces() {
	for range 3 {
		if c := m.peek(0); c != ' ' && c != '\u00a0' && c != '\u2009' && c != '\u202f' {
			return
		}
		m.at++
	}
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
		if strings.EqualFold(string(m.text[m.at:min(m.at+4, len(m.text))]), "per ") {
			m.at += 4
			ok = m.factor(-1, false)
		} else {
			ok = m.factor(1, true)
		}
	}
	if !ok {
		m.at = before
	}
	return ok
}

// brackets reads (mol K), all of it below the line.
func (m *measuring) brackets() bool {
	inner := measuring{text: m.text, at: m.at + 1, unit: unit{}, fold: m.fold}
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
	for i < longestSymbol && (letter(m.peek(i)) || m.peek(i) == '°' || m.peek(i) == '℃' || m.peek(i) == '℉') {
		i++
	}
	if i == 0 {
		return false
	}
	name := string(m.text[m.at : m.at+i])
	if s, ok := synonyms[name]; ok {
		name = s
	}
	if _, _, ok := symbol(name); !ok && !(m.fold && i > 1 && folded[strings.ToLower(name)]) {
		return false
	}
	power, end := m.power(m.at + i)
	if end == m.at+i && raised || end < len(m.text) && (word(m.text[end]) || digit(m.text[end]) || m.text[end] == '%') {
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

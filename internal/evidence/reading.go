package evidence

import (
	"slices"
	"strings"
)

// reading is a number while it is read.
type reading struct {
	s        *scanner
	at       int
	end      int // of the digits, before an exponent
	digits   strings.Builder
	groups   []string // of thousands
	exponent int
	fine     bool // it has an exponent: it points to nothing
	negative bool
	percent  bool
}

// separators of thousands. A plain space is none: 5 300 may be two numbers.
const separators = ",'’\u2009\u202f\u00a0"

// significand reads digits, thousands and decimals.
func (r *reading) significand() {
	group := r.run()
	r.groups = append(r.groups, group)
	if 0 < len(group) && len(group) <= 3 && group != "0" {
		r.thousands()
	}
	for _, g := range r.groups {
		r.digits.WriteString(g)
	}
	if r.s.peek(r.at) == '.' && digit(r.s.peek(r.at+1)) {
		r.at++
		decimals := r.run()
		r.digits.WriteString(decimals)
		r.exponent = -len(decimals)
	}
	r.end = r.at
}

func (r *reading) run() string {
	start := r.at
	for digit(r.s.peek(r.at)) {
		r.at++
	}
	return string(r.s.plain[start:r.at])
}

// thousands reads groups of three digits, as long as they are separated in the
// same way.
func (r *reading) thousands() {
	sep := r.s.peek(r.at)
	for sep != 0 && strings.ContainsRune(separators, sep) && r.s.peek(r.at) == sep {
		for i := 1; i <= 3; i++ {
			if !digit(r.s.peek(r.at + i)) {
				return
			}
		}
		if digit(r.s.peek(r.at + 4)) {
			return
		}
		r.at++
		r.groups = append(r.groups, r.run())
	}
}

// power reads what multiplies by a power of ten: e3, ×10^3, ×10³; and 10^3 itself.
func (r *reading) power() {
	if r.s.exponentAt(r.at) {
		r.at++
		r.raise(r.signed())
		return
	}
	if r.digits.String() == "10" && r.exponent == 0 {
		if n, end, ok := r.s.raised(r.at); ok {
			r.digits.Reset()
			r.digits.WriteString("1")
			r.at = end
			r.raise(n)
		}
		return
	}
	i := r.spaces(r.at)
	if !slices.Contains([]rune("×x*·⋅"), r.s.peek(i)) {
		return
	}
	i = r.spaces(i + 1)
	if r.s.peek(i) != '1' || r.s.peek(i+1) != '0' {
		return
	}
	if n, end, ok := r.s.raised(i + 2); ok {
		r.at = end
		r.raise(n)
	}
}

func (r *reading) spaces(i int) int {
	for n := 0; n < 2 && (r.s.peek(i) == ' ' || r.s.peek(i) == '\u00a0' || r.s.peek(i) == '\u2009'); n++ {
		i++
	}
	return i
}

func (r *reading) raise(n int) {
	r.exponent += n
	r.fine = true
	r.groups = nil // a list has no exponent
}

// signed reads an exponent. Whatever is beyond all limits is just that.
func (r *reading) signed() int {
	negative := false
	if c := r.s.peek(r.at); c == '+' || c == '-' {
		negative = c == '-'
		r.at++
	}
	n := 0
	for ; digit(r.s.peek(r.at)); r.at++ {
		n = min(10*n+int(r.s.peek(r.at)-'0'), 1_000_000)
	}
	if negative {
		return -n
	}
	return n
}

// raised reads ^3, ^-3, ^{-3}, **3 or ⁻³ at i.
func (s *scanner) raised(i int) (n, end int, ok bool) {
	if superscript(s.peek(i)) >= 0 {
		return s.superscripts(i)
	}
	switch {
	case s.peek(i) == '^':
		i++
	case s.peek(i) == '*' && s.peek(i+1) == '*':
		i += 2
	default:
		return 0, i, false
	}
	closed := s.peek(i) == '{' || s.peek(i) == '('
	if closed {
		i++
	}
	r := reading{s: s, at: i}
	start := i
	n = r.signed()
	if !digit(s.peek(r.at-1)) || r.at == start {
		return 0, i, false
	}
	if closed && (s.peek(r.at) == '}' || s.peek(r.at) == ')') {
		r.at++
	}
	return n, r.at, true
}

// superscript is the value of a superscript digit, 10 for the minus, 11 for the
// plus, and -1 for anything else.
func superscript(c rune) int {
	switch {
	case c < 0x80:
		return -1
	case '⁴' <= c && c <= '⁹':
		return int(c-'⁴') + 4
	}
	switch c {
	case '⁰':
		return 0
	case '¹':
		return 1
	case '²':
		return 2
	case '³':
		return 3
	case '⁻':
		return 10
	case '⁺':
		return 11
	}
	return -1
}

func (s *scanner) superscripts(i int) (n, end int, ok bool) {
	negative := superscript(s.peek(i)) == 10
	if superscript(s.peek(i)) >= 10 {
		i++
	}
	start := i
	for ; superscript(s.peek(i)) >= 0 && superscript(s.peek(i)) < 10; i++ {
		n = min(10*n+superscript(s.peek(i)), 1_000_000)
	}
	if negative {
		n = -n
	}
	return n, i, i > start
}

// percentSign reads %, percent or per cent.
func (r *reading) percentSign() {
	i := r.spaces(r.at)
	if r.s.peek(i) == '%' {
		r.at, r.percent = i+1, true
		return
	}
	for _, w := range []string{"percent", "per cent"} {
		end := i + len(w)
		if end <= len(r.s.plain) && strings.EqualFold(string(r.s.plain[i:end]), w) && !word(r.s.peek(end)) {
			r.at, r.percent = end, true
			return
		}
	}
}

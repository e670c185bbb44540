package evidence

import "unicode"

// plain is a rune in its plainest form, and reads the digits of all scripts: a
// claim must not get past an audit in other digits.
func plain(c rune) rune {
	switch c {
	case '\u2212', '\ufe63', '\uff0d', '\u2010', '\u2011', '\u2013':
		return '-'
	case '\u066a':
		return '%'
	case '\u066b':
		return '.'
	case '\u066c':
		return ','
	case 'μ': // the letter, for the sign
		return 'µ'
	case '\u212a':
		return 'K'
	case '\u2126':
		return 'Ω'
	case '\u212b':
		return 'Å'
	}
	if c < 0x80 {
		return c
	}
	if '\uff01' <= c && c <= '\uff5e' { // ASCII as wide as Han
		return c - '\uff01' + '!'
	}
	if !unicode.IsDigit(c) {
		return c
	}
	// Unicode lists decimal digits in runs of ten, zero first.
	for _, r := range unicode.Nd.R16 {
		if rune(r.Lo) <= c && c <= rune(r.Hi) {
			return '0' + (c-rune(r.Lo))%10
		}
	}
	for _, r := range unicode.Nd.R32 {
		if rune(r.Lo) <= c && c <= rune(r.Hi) {
			return '0' + (c-rune(r.Lo))%10
		}
	}
	return c
}

func digit(c rune) bool { return '0' <= c && c <= '9' }

// letter is one that makes names together with digits, H2O. Scripts without case
// have no such names, and many of them no spaces: 能为99.
func letter(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80 && (unicode.IsLower(c) || unicode.IsUpper(c) || unicode.IsTitle(c))
}

func word(c rune) bool { return c == '_' || letter(c) }

// numeral is a number in one rune that is no digit: ² ₂ ½ ① Ⅻ. The zero of Han
// numerals is read with them.
func numeral(c rune) bool { return c >= 0x80 && c != '〇' && unicode.In(c, unicode.No, unicode.Nl) }

// small is the digit that a superscript or a subscript shows, or -1.
func small(c rune) int {
	if '₀' <= c && c <= '₉' {
		return int(c - '₀')
	}
	if n := superscript(c); n < 10 {
		return n
	}
	return -1
}

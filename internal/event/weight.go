package event

import "unicode/utf8"

// Weight is how many bytes s takes in the JSON of an event, at most: a control
// character takes six.
func Weight(s string) int {
	n := len(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x20:
			n += 5
		case c == '"', c == '\\':
			n++
		}
	}
	return n
}

// Cut returns a beginning of s that takes at most n bytes in JSON. It ends between
// two characters.
func Cut(s string, n int) string {
	for i := 0; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		if n -= Weight(s[i : i+size]); n < 0 {
			return s[:i]
		}
		i += size
	}
	return s
}

// Shorten cuts s as Cut does, and shows where.
func Shorten(s string, n int) string {
	if cut := Cut(s, n); len(cut) < len(s) {
		return cut + "…"
	}
	return s
}

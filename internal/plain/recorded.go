package plain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What the functions of this file return gets into ledgers: results of tools, errors
// of computers, connections. `verify` makes some of it again and compares. So each
// returns what it always has, to the byte.

// Escape is what a program wrote as a model is shown it: controls and bytes that are
// no text become escapes such as \x1b. Tabs stay.
func Escape(s string) string {
	if utf8.ValidString(s) && !Controls.In(s) {
		return s
	}
	var b strings.Builder
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t' || !Controls.Has(r):
			b.WriteString(s[i : i+n])
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Quoted is the beginning of a text, up to most bytes, with the escapes of Go and
// without quotes around it. A character that is cut through becomes a question mark.
func Quoted(s string, most int) string {
	q := strconv.Quote(strings.ToValidUTF8(s[:min(len(s), most)], "?"))
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// Bare is one line of at most most bytes, and a sign that there was more. What Go does
// not call printable is left out.
func Bare(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.TrimSpace(s)
	if cut := Cut(s, most); len(cut) < len(s) {
		return cut + "…"
	}
	return s
}

// ASCII is the beginning of a text, up to most bytes, with a question mark for each
// byte that is not printable ASCII.
func ASCII(s string, most int) string {
	b := []byte(s[:min(len(s), most)])
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	return string(b)
}

// Cut returns the beginning of a text, up to most bytes. It ends between two
// characters.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for n := most; n > most-utf8.UTFMax && n >= 0; n-- {
		if utf8.RuneStart(s[n]) {
			return s[:n]
		}
	}
	return s[:most] // it is no text
}

// CutFront returns the end of a text, up to most bytes. It begins between two
// characters.
func CutFront(s string, most int) string {
	if len(s) <= most {
		return s
	}
	i := len(s) - most
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

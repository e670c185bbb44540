package cli

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"lyceum/internal/ledger"
)

// bad tells what must not reach a terminal.
func bad(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\uFEFF')
}

// escaped is JSON that means the same and is printable. JSON itself has escapes
// only for the oldest control characters.
func escaped(s string) string {
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if bad(r) { // all of them have four digits
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// printable makes text of agents, files and errors safe for a terminal: control
// characters could move the cursor or set its title, and direction marks could
// make a line read as what it is not. They are shown as what they are.
func printable(s string) string {
	if strings.IndexFunc(s, bad) < 0 {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\r':
		case bad(r):
			b.WriteRune('\uFFFD')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// oneLine is printable text for a list: no breaks, and not too long.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(printable(s)), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func isNoHome(err error) bool { return errors.Is(err, ledger.ErrNoQuest) }

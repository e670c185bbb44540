package tui

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"lyceum/internal/markdown"
	"lyceum/internal/plain"

	"github.com/charmbracelet/x/ansi"
)

// Look is what a terminal can show.
type Look int

// The looks.
const (
	// Plain is for what is no terminal: Markdown stays as it was written.
	Plain Look = iota
	// Mono is a terminal without colours.
	Mono
	// Colour is a terminal.
	Colour
)

// minWidth is the narrowest column that text is set in. What is nested so deep that
// less would be left is not moved in any further.
const minWidth = 10

// Markdown typesets the text of an agent for a terminal. Nothing in it can make the
// terminal do anything: what is not text is taken out before, once more from all that
// is put on the page, and what comes out has no sequences but those for colour, which
// are ours. HTML is shown as text, links are followed by their targets, images are
// their captions.
func Markdown(s string, width int, look Look) string {
	s = disarm(Clean(s))
	if look == Plain {
		return strings.TrimRight(s, "\n")
	}
	width = max(width, minWidth)
	out, err := typeset(s, width, look)
	if err != nil {
		out = asWritten(s, width)
	}
	return strings.Trim(colourOnly(out), "\n")
}

func typeset(s string, width int, look Look) (out string, err error) {
	defer func() {
		// A text that breaks the typesetter is still a text.
		if v := recover(); v != nil {
			err = fmt.Errorf("typeset Markdown: %v", v)
		}
	}()
	source := []byte(s)
	root, err := markdown.Parse(source)
	if err != nil {
		return "", err
	}
	t := &typesetter{source: source, look: look}
	return strings.Join(t.blocks(root, width), "\n"), nil
}

// asWritten only breaks the lines of a text.
func asWritten(s string, width int) string {
	const piece = 64 << 10
	var out []string
	for l := range strings.SplitSeq(s, "\n") {
		for len(l) > piece {
			at := piece
			for !utf8.RuneStart(l[at]) {
				at--
			}
			out = append(out, setText(l[:at], width)...)
			l = l[at:]
		}
		out = append(out, setText(l, width)...)
	}
	return strings.Join(out, "\n")
}

// entity is a character that is written as its number or name, perhaps wrapped: its
// ampersand written as one, too.
var entity = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`&(?:(?:amp|AMP|#0*38|#[xX]0*26);)*(?:#[xX]?[0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);?`)
})

// maxWrapped is how often an entity may be wrapped. Nobody writes that in earnest.
const maxWrapped = 8

// disarm takes out the entities that mean what Clean takes out: typesetting would
// unwrap them, and so might whoever reads a plain text.
func disarm(s string) string {
	return entity().ReplaceAllStringFunc(s, func(m string) string {
		meant := m
		for range maxWrapped {
			if plain.People.In(meant) || strings.ContainsRune(meant, '\t') {
				break
			}
			next := html.UnescapeString(meant)
			if next == meant {
				return m
			}
			meant = next
		}
		return string(unicode.ReplacementChar)
	})
}

// colourOnly takes out every sequence but those that set how text looks. There should
// be no other; this does not depend on that.
func colourOnly(s string) string {
	var b strings.Builder
	var state byte
	p := ansi.NewParser()
	for len(s) > 0 {
		seq, width, n, next := ansi.DecodeSequence(s, state, p)
		switch {
		case width > 0 || seq == "\n":
			b.WriteString(seq)
		case strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m") && p.Command() == 'm':
			b.WriteString(seq)
		case len(seq) > 0 && seq[0] >= 0x80 && !plain.People.In(seq):
			b.WriteString(seq) // a mark that stands alone
		}
		s, state = s[n:], next
	}
	return b.String()
}

package tui

import (
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"lyceum/internal/plain"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
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

// A paper that is longer, nested deeper, or has more links, cells of tables or pairs
// of marks in a paragraph is shown as it was written: what it costs to parse such a
// text grows with its square.
const (
	maxTypeset = 256 << 10
	maxNesting = 24
	maxLinks   = 1000
	maxCells   = 10_000
	maxPairs   = 200_000_000
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

var errMonster = errors.New("typeset Markdown: it is too long, too deep, or has too many links or cells")

func typeset(s string, width int, look Look) (out string, err error) {
	defer func() {
		// A text that breaks the typesetter is still a text.
		if v := recover(); v != nil {
			err = fmt.Errorf("typeset Markdown: %v", v)
		}
	}()
	if len(s) > maxTypeset || strings.Count(s, "](") > maxLinks || tooDeep(s) || tooEmphatic(s) {
		return "", errMonster
	}
	source := []byte(s)
	root, err := parse(source)
	if err != nil {
		return "", err
	}
	t := &typesetter{source: source, look: look}
	return strings.Join(t.blocks(root, width), "\n"), nil
}

// tooDeep looks for a line that opens more lists and quotes than there may be. parse
// would find it, too, but only after the parser has gone through all of them for
// every line that follows.
func tooDeep(s string) bool {
	for l := range strings.SplitSeq(s, "\n") {
		if strings.Trim(l, "- ") == "" || strings.Trim(l, "* ") == "" {
			continue // a break is no list
		}
		for opened := 0; ; opened++ {
			if opened > maxNesting {
				return true
			}
			l = strings.TrimLeft(l, " ")
			after := strings.TrimLeft(l, "0123456789")
			switch {
			case strings.HasPrefix(l, ">"):
				l = l[1:]
				continue
			case len(after) > 1 && strings.IndexByte("-*+.)", after[0]) >= 0 && after[1] == ' ':
				l = after[1:]
				continue
			}
			break
		}
	}
	return false
}

// tooEmphatic counts the marks that emphasis and links may be made of. The parser
// compares each with all before it in the paragraph.
func tooEmphatic(s string) bool {
	pairs := 0
	for paragraph := range strings.SplitSeq(s, "\n\n") {
		marks := 0
		for i := range len(paragraph) {
			if strings.IndexByte("*_~[]", paragraph[i]) >= 0 && (i == 0 || paragraph[i] != paragraph[i-1]) {
				marks++
			}
		}
		pairs += marks * marks
	}
	return pairs > maxPairs
}

// weigh goes through a text and stops where it is too much.
func weigh(root ast.Node) error {
	depth, links, targets := 0, 0, 0
	return ast.Walk(root, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if !in {
			depth--
			return ast.WalkContinue, nil
		}
		depth++
		switch n := n.(type) {
		case *ast.Link:
			links, targets = links+1, targets+len(n.Destination)
		case *ast.Image:
			links, targets = links+1, targets+len(n.Destination)
		}
		// A target is written once and may be referred to by many links, each of which
		// shows it.
		if depth > maxNesting+1 || links > maxLinks || targets > maxTypeset {
			return ast.WalkStop, errMonster
		}
		return ast.WalkContinue, nil
	})
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

package tui

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"

	"charm.land/glamour/v2"
	"charm.land/glamour/v2/styles"
	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
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

// A paper that is longer, nested deeper, or has more links is shown as it was written:
// what it costs to parse such a text grows with its square.
const (
	maxTypeset = 256 << 10
	maxNesting = 24
	maxLinks   = 1000
)

// Markdown typesets the text of an agent for a terminal. Nothing in it can make the
// terminal do anything: what is not text is taken out before, and what comes out has
// no sequences but those for colour, which are ours. HTML is shown as text, links are
// followed by their targets, images are their captions.
func Markdown(s string, width int, look Look) string {
	s = disarm(Clean(s))
	if look == Plain {
		return strings.TrimRight(s, "\n")
	}
	out, err := typeset(s, width, look)
	if err != nil || look == Mono && strings.Contains(colourOnly(out), "\x1b") || look == Colour && forged(s, width) {
		out = ansi.Wrap(s, width, "")
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
	if len(s) > maxTypeset || strings.Count(s, "](") > maxLinks || nesting(s) > maxNesting {
		return "", fmt.Errorf("typeset Markdown: it is too long or too deep")
	}
	style := styles.NoTTYStyleConfig
	if look == Colour {
		style = styles.DarkStyleConfig
	}
	none := uint(0)
	style.Document.Margin, style.Document.BlockPrefix, style.Document.BlockSuffix = &none, "", ""
	style.Document.Color = nil // the terminal's own, whatever its background
	// No colours in code: they are found by expressions that a text can make take for
	// ever.
	style.CodeBlock.Chroma, style.CodeBlock.Theme = nil, ""
	r, err := glamour.NewTermRenderer(glamour.WithStyles(style), glamour.WithWordWrap(max(width, 20)))
	if err != nil {
		return "", err
	}
	return r.Render(showTags(s))
}

// forged reports whether a text brings sequences of its own through typesetting: there
// are none where there is no colour. disarm knows of no way to do it; this does not
// depend on that.
func forged(s string, width int) bool {
	out, err := typeset(s, width, Mono)
	return err != nil || strings.Contains(colourOnly(out), "\x1b")
}

// entity is a character that is written as its number or name, perhaps wrapped: its
// ampersand written as one, too.
var entity = regexp.MustCompile(`&(?:(?:amp|AMP|#0*38|#[xX]0*26);)*(?:#[xX]?[0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]*);?`)

// disarm takes out the entities that mean what Clean takes out: typesetting would
// unwrap them.
func disarm(s string) string {
	return entity.ReplaceAllStringFunc(s, func(m string) string {
		for meant := m; ; {
			if strings.ContainsFunc(meant, hostile) || strings.ContainsRune(meant, '\t') {
				return string(unicode.ReplacementChar)
			}
			next := html.UnescapeString(meant)
			if next == meant {
				return m
			}
			meant = next
		}
	})
}

// showTags makes HTML be text. Code stays as it is, where it is code.
func showTags(s string) string {
	source := []byte(s)
	code := make([]bool, len(source))
	walk(source, func(n ast.Node) {
		switch n.(type) {
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					mark(code, t.Segment)
				}
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				mark(code, n.Lines().At(i))
			}
		}
	})
	out := escapeTags(s, func(i int) bool { return code[i] })
	// What was code may not be any more, now that the lines around it mean something
	// else.
	found := false
	walk([]byte(out), func(n ast.Node) {
		switch n.(type) {
		case *ast.RawHTML, *ast.HTMLBlock:
			found = true
		}
	})
	if found {
		return escapeTags(s, func(int) bool { return false })
	}
	return out
}

func escapeTags(s string, keep func(int) bool) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '<' && !keep(i) {
			b.WriteString("&lt;")
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func mark(at []bool, s text.Segment) {
	for i := s.Start; i < s.Stop; i++ {
		at[i] = true
	}
}

// walk visits every node of a text as glamour will see it.
func walk(source []byte, visit func(ast.Node)) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.DefinitionList))
	_ = ast.Walk(md.Parser().Parse(text.NewReader(source)), func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if in {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

func nesting(s string) (most int) {
	depth := map[ast.Node]int{}
	walk([]byte(s), func(n ast.Node) {
		if p := n.Parent(); p != nil {
			depth[n] = depth[p] + 1
		}
		most = max(most, depth[n])
	})
	return most
}

// colourOnly takes out every sequence but those that set how text looks. The
// typesetter makes links of OSC 8, whose target one does not see.
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
		case len(seq) > 0 && seq[0] >= 0x80 && !strings.ContainsFunc(seq, hostile):
			b.WriteString(seq) // a mark that stands alone
		}
		s, state = s[n:], next
	}
	return b.String()
}

package analysis

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
)

// style looks at a style sheet: its words, its brackets, and what it refers to.
func (l *look) style(path string, line int, data []byte) {
	lex := css.NewLexer(parse.NewInputBytes(bytes.Clone(data)))
	s := &sheet{look: l, path: path, line: line}
	for !s.broken {
		kind, text := lex.Next()
		if kind == css.ErrorToken {
			if err := lex.Err(); err != nil && err != io.EOF {
				l.fail(path, s.line, "css", "a style sheet", err.Error())
			}
			break
		}
		s.token(kind, string(text))
		s.line += bytes.Count(text, []byte("\n"))
	}
	for _, b := range s.open[:min(len(s.open), 3)] {
		l.fail(path, b.line, "css", "its end "+string(b.end), "a bracket that is never closed")
	}
}

// sheet is a style sheet that is read.
type sheet struct {
	look *look
	path string
	line int
	open []bracket
	// importing says that the next text is a file; broken that the rest is not looked at.
	importing, broken bool
}

type bracket struct {
	end  byte
	line int
	// url says that a text in it is a file.
	url bool
}

func (s *sheet) fail(expected, observed string) {
	s.look.fail(s.path, s.line, "css", expected, observed)
	s.broken, s.open = true, nil
}

// token takes the next word. Where brackets do not fit, the rest is not looked at: everything
// after it would be wrong.
func (s *sheet) token(kind css.TokenType, text string) {
	switch kind {
	case css.BadStringToken, css.BadURLToken:
		s.fail("a text that ends on its line", squeeze(text))
	case css.LeftBraceToken:
		s.push('}', false)
	case css.LeftBracketToken:
		s.push(']', false)
	case css.LeftParenthesisToken:
		s.push(')', false)
	case css.FunctionToken:
		name := strings.ToLower(text)
		s.push(')', name == "url(" || name == "image-set(" || name == "-webkit-image-set(" || name == "src(" || name == "image(")
	case css.RightBraceToken, css.RightBracketToken, css.RightParenthesisToken:
		s.pop(text[0])
	case css.AtKeywordToken:
		s.importing = strings.EqualFold(text, "@import")
	case css.SemicolonToken:
		s.importing = false
	case css.URLToken:
		inner := strings.TrimSpace(strings.TrimSuffix(text[strings.IndexByte(text, '(')+1:], ")"))
		s.refer(strings.Trim(inner, `"'`))
	case css.StringToken:
		if s.importing || len(s.open) > 0 && s.open[len(s.open)-1].url {
			s.refer(strings.Trim(text, `"'`))
		}
	}
}

func (s *sheet) refer(address string) {
	s.look.refer(s.path, s.line, unescaped(address), !s.importing, nil)
	s.importing = false
}

// unescaped is a text of a style sheet without its escapes.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		var r rune
		n := 0
		for n < 6 && i+1+n < len(s) && strings.IndexByte("0123456789abcdefABCDEF", s[i+1+n]) >= 0 {
			n++
		}
		if n == 0 {
			continue // the next one as it is
		}
		_, _ = fmt.Sscanf(s[i+1:i+1+n], "%x", &r) // they are digits
		b.WriteRune(r)
		if i += n; i+1 < len(s) && s[i+1] == ' ' {
			i++
		}
	}
	return b.String()
}

func (s *sheet) push(end byte, url bool) {
	if len(s.open) >= maxNesting {
		s.fail(fmt.Sprintf("at most %d brackets in each other", maxNesting), "more")
		return
	}
	s.open = append(s.open, bracket{end, s.line, url})
}

func (s *sheet) pop(end byte) {
	n := len(s.open)
	if n == 0 || s.open[n-1].end != end {
		s.fail("brackets that fit", fmt.Sprintf("%q, which closes nothing", end))
		return
	}
	s.open = s.open[:n-1]
}

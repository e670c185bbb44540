package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lyceum/internal/plain"
)

// maxParagraph bounds a paragraph in bytes. A longer one, such as a file without a
// line break, is several.
const maxParagraph = 8 << 10

// Paragraphs splits a text at its blank lines. In Markdown, a block of code is not
// split at those within it, and a heading belongs to the paragraph after it. Every
// paragraph is a part of the text as it is, but for line ends, which are all \n, and
// the space around it.
func Paragraphs(text string, markdown bool) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	p := splitter{text: text, markdown: markdown}
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		p.line(text[at:end], at)
		at = end
	}
	p.flush(len(text))
	return p.list
}

type splitter struct {
	text     string
	markdown bool
	list     []string
	from     int    // where the paragraph at hand begins
	fence    string // what ends the block of code at hand
	waiting  bool   // only headings so far
}

func (p *splitter) line(line string, at int) {
	trimmed := strings.TrimSpace(line)
	switch {
	case p.fence != "":
		if strings.HasPrefix(trimmed, p.fence) && strings.Trim(trimmed, p.fence[:1]) == "" {
			p.fence = ""
		}
	case trimmed == "":
		if !p.waiting {
			p.flush(at)
		}
	case !p.markdown:
	case heading(line) != "":
		if !p.waiting {
			p.flush(at)
			p.waiting = true
		}
	default:
		p.waiting = false
		p.fence = fence(trimmed)
	}
}

// flush ends the paragraph at hand before at.
func (p *splitter) flush(at int) {
	p.list = appendPieces(p.list, p.text[p.from:at])
	p.from, p.waiting = at, false
}

// appendPieces appends a paragraph, cut at spaces where it is too long.
func appendPieces(list []string, text string) []string {
	for text = strings.TrimSpace(text); text != ""; {
		cut := len(text)
		if cut > maxParagraph {
			cut = boundary(text, maxParagraph)
		}
		list = append(list, strings.TrimSpace(text[:cut]))
		text = strings.TrimSpace(text[cut:])
	}
	return list
}

// boundary returns where to cut a text so that at most limit bytes stand before the
// cut: at the last space, else between two runes.
func boundary(text string, limit int) int {
	if i := strings.LastIndexFunc(text[:limit], unicode.IsSpace); i > 0 {
		return i
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return limit
}

// heading returns the text of a line that is a Markdown heading, or "".
func heading(line string) string {
	line = strings.TrimRight(line, " \t\n")
	hashes := len(line) - len(strings.TrimLeft(line, "#"))
	if hashes == 0 || hashes > 6 || hashes == len(line) || line[hashes] != ' ' && line[hashes] != '\t' {
		return ""
	}
	text := strings.TrimSpace(line[hashes:])
	if shorter := strings.TrimRight(text, "#"); shorter == "" || strings.HasSuffix(shorter, " ") {
		text = strings.TrimSpace(shorter)
	}
	return text
}

// fence returns what must end the block of code that a line begins, or "".
func fence(line string) string {
	for _, sign := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, sign))
		if n >= 3 && (sign == "~" || !strings.Contains(line[n:], sign)) {
			return line[:n]
		}
	}
	return ""
}

// maxTitle bounds a title in bytes.
const maxTitle = 200

// title returns the first heading of a Markdown text outside its blocks of code, or
// the name given.
func title(text, name string, markdown bool) string {
	inside := ""
	for line := range strings.Lines(text) {
		if !markdown {
			break
		}
		trimmed := strings.TrimSpace(line)
		if inside != "" {
			if strings.HasPrefix(trimmed, inside) && strings.Trim(trimmed, inside[:1]) == "" {
				inside = ""
			}
			continue
		}
		inside = fence(trimmed)
		if h := heading(line); h != "" {
			name = strings.Join(strings.FieldsFunc(h, func(r rune) bool { return unicode.IsSpace(r) || plain.Controls.Has(r) }), " ")
			break
		}
	}
	if len(name) > maxTitle {
		name = strings.TrimSpace(name[:boundary(name, maxTitle)])
	}
	return name
}

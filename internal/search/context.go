package search

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxContext bounds what is searched with a paragraph beside its own text, in bytes.
const maxContext = 400

// contexts says of each paragraph what stands over it: the words of the file's path, its
// title, and the headings it is under. In a text that is no Markdown, a short line that
// stands alone is a heading, and what is indented is under the last line that is not.
func contexts(name, text string, paragraphs []string, markdown bool) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	name = strings.TrimSuffix(name, path.Ext(name))
	c := outline{file: strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("/-_. ", r) }), " ")}
	out := make([]string, len(paragraphs))
	at := 0
	for i, p := range paragraphs {
		if found := strings.Index(text[at:], p); found >= 0 {
			at += found
		}
		if markdown {
			out[i] = c.markdown(p)
		} else {
			out[i] = c.plain(p, indented(text, at))
		}
		at = min(at+len(p), len(text))
	}
	return out
}

// indented says whether space stands before a place on its line.
func indented(text string, at int) bool {
	return at > 0 && (text[at-1] == ' ' || text[at-1] == '\t')
}

// outline is where in a document a paragraph stands.
type outline struct {
	file  string
	level [7]string // headings in Markdown, by their level; of other texts, 1 is the title
	head  string    // the last line that is not indented
}

func (c *outline) joined(parts ...string) string {
	all := c.file
	for _, part := range parts {
		if part != "" {
			all += "\n" + part
		}
	}
	if len(all) > maxContext {
		all = all[:boundary(all, maxContext)]
	}
	return all
}

// markdown takes the headings that a paragraph begins with in, and returns what stands
// over it.
func (c *outline) markdown(p string) string {
	for line := range strings.Lines(p) {
		h := heading(line)
		if h == "" {
			if strings.TrimSpace(line) == "" {
				continue
			}
			break
		}
		level := len(line) - len(strings.TrimLeft(line, "#"))
		for i := level; i < len(c.level); i++ {
			c.level[i] = ""
		}
		c.level[level] = h
	}
	return c.joined(c.level[1:]...)
}

// maxHeading is how long a line may be that is taken for a heading.
const maxHeading = 100

func (c *outline) plain(p string, indented bool) string {
	first, rest, _ := strings.Cut(p, "\n")
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(first))
	switch {
	case indented:
		return c.joined(c.level[1], c.level[2], c.head)
	case rest == "" && len(first) <= maxHeading && c.level[1] == "" && c.head == "":
		c.level[1] = first
		return c.joined(first)
	case rest == "" && len(first) <= maxHeading && (unicode.IsLetter(last) || unicode.IsDigit(last) || last == ':'):
		c.level[2], c.head = first, ""
		return c.joined(c.level[1], c.level[2])
	}
	if len(first) <= maxContext/2 {
		c.head = first
	}
	return c.joined(c.level[1], c.level[2])
}

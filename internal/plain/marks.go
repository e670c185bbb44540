package plain

import (
	"regexp"
	"strings"
)

// Quotation is a text of a stranger as a quotation of Markdown: whatever headings, rules or
// fences are in it, they stay within. Characters that some programs break a line at break it
// here, so that there is no line without the mark.
func Quotation(s string) string {
	return "> " + strings.ReplaceAll(breaks.Replace(strings.TrimRight(s, "\n")), "\n", "\n> ")
}

var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// Unmarked is a text of an agent without the marks of Markdown, for a label: headings, lists,
// quotes, emphasis, code, links and pictures are their words. What only looks like a mark
// (2*3*4, snake_case) stays.
func Unmarked(s string) string {
	for _, m := range marks {
		s = m.find.ReplaceAllString(s, m.by)
	}
	return strings.TrimSpace(s)
}

var marks = []struct {
	find *regexp.Regexp
	by   string
}{
	{regexp.MustCompile("(?m)^[ \t]*(```|~~~).*$"), ""},
	{regexp.MustCompile(`(?m)^[ \t]*(#{1,6}|>|[-*+])[ \t]+`), ""},
	{regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*\)`), "$1"},
	{regexp.MustCompile("`+([^`]*)`+"), "$1"},
	{regexp.MustCompile(`(^|[\s(])\*\*([^\s*](?:[^*]*[^\s*])?)\*\*($|[\s).,;:!?])`), "$1$2$3"},
	{regexp.MustCompile(`(^|[\s(])[*_]([^\s*_](?:[^*_]*[^\s*_])?)[*_]($|[\s).,;:!?])`), "$1$2$3"},
	// What is left of a mark that was cut off.
	{regexp.MustCompile("(^|[\\s(])\\*\\*([^\\s*])|`"), "$1$2"},
}

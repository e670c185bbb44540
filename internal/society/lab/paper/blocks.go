package paper

import "strings"

// blocks finds the parts of a Markdown text that are read for citations:
// paragraphs and headings, without the marks of the quotes and lists they are in. Code
// is left out.
type blocks struct {
	leaves []leaf
	// defined are the labels that reference definitions define.
	defined map[string]bool

	// inside are the quotes and list items that are open, para the paragraph.
	inside []container
	para   []string
	// fence is the mark that will close a block of code, fenced how many containers
	// it stands in.
	fence  string
	fenced int
}

// leaf is a paragraph or heading; note says that it is a footnote.
type leaf struct {
	text string
	note bool
}

// container is a quote, if its indent is 0, or a list item.
type container struct{ indent int }

// maxInside is how many containers may be within each other. Without a bound some
// texts take quadratic time.
const maxInside = 64

func (b *blocks) read(text string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	for line := range strings.SplitSeq(text, "\n") {
		b.line(untab(line))
	}
	b.end()
}

// untab writes tabs as the spaces they stand for.
func untab(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var out strings.Builder
	col := 0
	for i := range len(s) {
		if s[i] != '\t' {
			out.WriteByte(s[i])
			col++
			continue
		}
		n := 4 - col%4
		out.WriteString("    "[:n])
		col += n
	}
	return out.String()
}

// spaces is how many spaces s begins with.
func spaces(s string) int { return run(s, ' ') }

func (b *blocks) line(s string) {
	matched, s := b.match(s)
	if b.fence != "" {
		if matched >= b.fenced {
			if n := spaces(s); n < 4 && closes(s[n:], b.fence) {
				b.fence = ""
			}
			return
		}
		b.fence = "" // its container has ended
	}
	if strings.Trim(s, " ") == "" {
		b.end()
		b.inside = b.inside[:matched]
		return
	}
	for {
		n := spaces(s)
		if n >= 4 {
			if len(b.para) == 0 {
				b.inside = b.inside[:min(matched, len(b.inside))]
				return // code
			}
			break
		}
		rest := s[n:]
		next, c, ok := b.begins(rest, n, matched)
		if !ok {
			s = rest
			break
		}
		b.end()
		b.inside = append(b.inside[:matched], c)
		matched, s = matched+1, next
		if strings.Trim(s, " ") == "" {
			return
		}
	}
	b.text(strings.TrimLeft(s, " "), matched, spaces(s) < 4)
}

// match goes through the open containers as far as the line is in them.
func (b *blocks) match(s string) (int, string) {
	for i, c := range b.inside {
		n := spaces(s)
		switch {
		case c.indent == 0 && n < 4 && strings.HasPrefix(s[n:], ">"):
			s = strings.TrimPrefix(s[n+1:], " ")
		case c.indent > 0 && n >= c.indent:
			s = s[c.indent:]
		case c.indent > 0 && n == len(s): // an empty line ends no list
			s = ""
		default:
			return i, s
		}
	}
	return len(b.inside), s
}

// begins reports whether a quote or a list item begins, and what is in it.
func (b *blocks) begins(s string, indent, matched int) (string, container, bool) {
	if matched >= maxInside {
		return "", container{}, false
	}
	if strings.HasPrefix(s, ">") {
		return strings.TrimPrefix(s[1:], " "), container{}, true
	}
	if thematic(s) {
		return "", container{}, false
	}
	mark := marker(s)
	if mark == 0 {
		return "", container{}, false
	}
	rest := s[mark:]
	n := spaces(rest)
	switch {
	case n == len(rest):
		// An empty item does not interrupt a paragraph.
		if len(b.para) > 0 && matched == len(b.inside) {
			return "", container{}, false
		}
		n = 1
		rest = ""
	case n == 0:
		return "", container{}, false
	case len(b.para) > 0 && matched == len(b.inside) && s[0] >= '0' && s[0] <= '9' && s[:mark-1] != "1":
		return "", container{}, false // nor does one that does not begin with 1
	case n > 4:
		n = 1
	}
	if rest != "" {
		rest = rest[n:]
	}
	return rest, container{indent + mark + n}, true
}

// marker is how long the mark of a list item is that s begins with.
func marker(s string) int {
	if s != "" && strings.IndexByte("-+*", s[0]) >= 0 {
		return 1
	}
	n := 0
	for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n > 0 && n < len(s) && (s[n] == '.' || s[n] == ')') {
		return n + 1
	}
	return 0
}

// thematic reports whether a line is a rule, such as ***.
func thematic(s string) bool {
	if s == "" || strings.IndexByte("*-_", s[0]) < 0 {
		return false
	}
	n := 0
	for i := range len(s) {
		switch s[i] {
		case s[0]:
			n++
		case ' ':
		default:
			return false
		}
	}
	return n >= 3
}

// closes reports whether s closes a block of code that began with a fence.
func closes(s, fence string) bool {
	n := run(s, fence[0])
	return n >= len(fence) && strings.Trim(s[n:], " ") == ""
}

// text takes a line of a paragraph or heading, or one that begins a block of code.
// It goes on with the paragraph there is, though it may not be in its containers.
func (b *blocks) text(s string, matched int, block bool) {
	if !block {
		b.para = append(b.para, s)
		return
	}
	if n := max(run(s, '`'), run(s, '~')); n >= 3 && (s[0] == '~' || strings.IndexByte(s[n:], '`') < 0) {
		b.end()
		b.inside = b.inside[:min(matched, len(b.inside))]
		b.fence, b.fenced = s[:n], len(b.inside)
		return
	}
	if n := run(s, '#'); n > 0 && n <= 6 && (n == len(s) || s[n] == ' ') {
		b.end()
		b.inside = b.inside[:min(matched, len(b.inside))]
		b.leaves = append(b.leaves, leaf{text: s[n:]})
		return
	}
	if thematic(s) || len(b.para) > 0 && strings.Trim(s, "= ") == "" {
		b.end()
		b.inside = b.inside[:min(matched, len(b.inside))]
		return
	}
	if len(b.para) == 0 {
		b.inside = b.inside[:min(matched, len(b.inside))]
	}
	b.para = append(b.para, s)
}

// end ends the paragraph. Reference definitions at its beginning are no text; footnotes
// are texts of their own, each up to the next.
func (b *blocks) end() {
	if len(b.para) == 0 {
		return
	}
	s := strings.Join(b.para, "\n")
	b.para = b.para[:0]
	for s != "" {
		if n := footnote(s); n > 0 {
			b.leaves = append(b.leaves, leaf{text: s[:n], note: true})
			s = s[n:]
			continue
		}
		name, n := definition(s)
		if n == 0 {
			break
		}
		b.defined[fold(name)] = true
		s = s[n:]
	}
	if s != "" {
		b.leaves = append(b.leaves, leaf{text: s})
	}
}

// footnote is how long the footnote is that s begins with, [^label]: text; 0 if there is
// none. It ends where the next one begins.
func footnote(s string) int {
	if !noted(s) {
		return 0
	}
	for i := 0; ; {
		next := strings.Index(s[i:], "\n[^")
		if next < 0 {
			return len(s)
		}
		if i += next + 1; noted(s[i:]) {
			return i
		}
	}
}

// noted reports whether a footnote begins with s.
func noted(s string) bool {
	name, n := label(s)
	return n > 0 && strings.HasPrefix(name, "^") && strings.HasPrefix(s[n:], ":")
}

// definition reads [label]: address "title" up to the end of its line.
func definition(s string) (name string, n int) {
	name, n = label(s)
	if n == 0 || strings.TrimSpace(name) == "" || !strings.HasPrefix(s[n:], ":") {
		return "", 0
	}
	i := n + 1 + blank(s[n+1:])
	d := destination(s[i:])
	if d == 0 {
		return "", 0
	}
	i += d
	if gap := blank(s[i:]); gap > 0 {
		if t := title(s[i+gap:]); t > 0 {
			if end, ok := lineEnd(s, i+gap+t); ok {
				return name, end
			}
		}
	}
	if end, ok := lineEnd(s, i); ok {
		return name, end
	}
	return "", 0
}

// lineEnd returns where the next line begins, if nothing stands in this one from i on.
func lineEnd(s string, i int) (int, bool) {
	i += spaces(s[i:])
	switch {
	case i == len(s):
		return i, true
	case s[i] == '\n':
		return i + 1, true
	}
	return 0, false
}

package paper

import (
	"strings"

	"lyceum/internal/event"
)

// Brackets returns the references that a Markdown text cites, in the order of their
// first mention, each once: [ref], [{ref}], lists of either by comma or semicolon, with
// words before as in [see ref]; and what footnotes name. loose are the first of the texts
// in brackets that are neither citations nor links.
//
// What stands in code, in the text of a link or image, or in a reference definition
// cites nothing, and neither do brackets that hold anything else. It takes time
// linear in the text.
func Brackets(markdown string) (cited, loose []string) {
	b := &blocks{defined: map[string]bool{}}
	b.read(markdown)
	seen := map[string]bool{}
	add := func(list *[]string, found []string, most int) {
		for _, s := range found {
			if !seen[s] && len(*list) < most {
				seen[s] = true
				*list = append(*list, s)
			}
		}
	}
	for _, leaf := range b.leaves {
		found, other := inline(leaf.text, b.defined)
		if leaf.note {
			found = append(found, bare(leaf.text)...)
		}
		add(&cited, found, len(markdown))
		add(&loose, other, maxLoose)
	}
	return cited, loose
}

// References returns what a Markdown text cites.
func References(markdown string) []string {
	cited, _ := Brackets(markdown)
	return cited
}

// maxLoose is how many texts in brackets are told of, maxLooseText how much of each.
const (
	maxLoose     = 5
	maxLooseText = 60
)

// bare returns the references that stand by themselves in a footnote, outside of code and
// addresses.
func bare(s string) (out []string) {
	code := false
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \n,;()[]{}", r) }) {
		ticks := strings.Count(word, "`")
		if word = strings.Trim(word, ".:^"); !code && ticks == 0 && IsRef(word) {
			out = append(out, word)
		}
		code = code != (ticks%2 == 1)
	}
	return out
}

// span is the inline part: code spans, tags and links bind tighter than brackets.
type span struct {
	s       string
	defined map[string]bool
	found   []string
	loose   []string
	open    []opener
	// links is how many of the open brackets have a link inside: they cannot be one.
	links int
	// runs are where runs of backticks begin, by their length, those behind the
	// place that is read.
	runs map[int][]int
	// comment is where the last comment ends.
	comment int
}

// opener is an open bracket, and how many references had been found at it.
type opener struct {
	at, found int
	image     bool
	// nested says that there are brackets within: it holds no label.
	nested bool
}

// inline returns what a paragraph or heading cites, and what else it has in brackets.
func inline(s string, defined map[string]bool) (cited, loose []string) {
	if !strings.Contains(s, "]") {
		return nil, nil
	}
	p := &span{s: s, defined: defined, runs: map[int][]int{}, comment: strings.LastIndex(s, "-->")}
	for i := 0; i < len(s); i++ {
		if s[i] == '`' {
			n := run(s[i:], '`')
			p.runs[n] = append(p.runs[n], i)
			i += n - 1
		}
	}
	for i := 0; i < len(s); {
		i = p.step(i)
	}
	return p.found, p.loose
}

// step reads what stands at i and returns what comes after it.
func (p *span) step(i int) int {
	switch p.s[i] {
	case '\\':
		return i + 2 // whatever it is, it is just a character
	case '`':
		return p.code(i)
	case '<':
		return i + max(1, p.tag(i))
	case '!':
		if strings.HasPrefix(p.s[i:], "![") {
			p.push(opener{at: i + 1, found: len(p.found), image: true})
			return i + 2
		}
	case '[':
		p.push(opener{at: i, found: len(p.found)})
	case ']':
		return p.close(i)
	}
	return i + 1
}

func (p *span) push(o opener) {
	if n := len(p.open); n > 0 {
		p.open[n-1].nested = true
	}
	p.open = append(p.open, o)
}

// code skips a code span: up to the next run of as many backticks.
func (p *span) code(i int) int {
	n := run(p.s[i:], '`')
	list := p.runs[n]
	for len(list) > 0 && list[0] < i+n {
		list = list[1:]
	}
	p.runs[n] = list
	if len(list) == 0 {
		return i + n
	}
	return list[0] + n
}

// close takes a closing bracket: the end of a link, of a citation, or of nothing.
func (p *span) close(i int) int {
	if len(p.open) == 0 {
		return i + 1
	}
	o := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	dead := len(p.open) < p.links
	p.links = min(p.links, len(p.open))
	text := p.s[o.at+1 : i]
	if !dead || o.image {
		if end := p.link(text, o.nested, i+1); end > 0 {
			p.found = p.found[:o.found]
			if !o.image {
				p.links = len(p.open)
			}
			return end
		}
	}
	list := refs(text)
	if p.found = append(p.found, list...); list == nil && !o.nested && !o.image && len(p.loose) < maxLoose {
		p.other(text)
	}
	return i + 1
}

// other notes a text in brackets that is no citation. The mark of a footnote and the box
// of a task are none that anybody took for one.
func (p *span) other(text string) {
	text = strings.Join(strings.Fields(text), " ")
	if text != "" && !strings.EqualFold(text, "x") && text[0] != '^' {
		p.loose = append(p.loose, event.Shorten(text, maxLooseText))
	}
}

// link returns the end of a link whose text ends before i, 0 if it is none.
func (p *span) link(text string, nested bool, i int) int {
	rest := p.s[i:]
	if n := target(rest); n > 0 {
		return i + n
	}
	if label, n := label(rest); n > 0 {
		if label == "" && !nested {
			label = text
		}
		// Two citations side by side look like a link to a label.
		if refs(label) == nil || p.defined[fold(label)] {
			return i + n
		}
		return 0
	}
	if !nested && len(text) <= maxLabel && p.defined[fold(text)] {
		return i
	}
	return 0
}

// refs reads the references between two brackets; nil if something else is there. Each
// may have words before it, and the mark of a footnote stands before the first.
func refs(s string) (out []string) {
	s = strings.TrimPrefix(s, "^")
	for {
		s = strings.TrimLeft(s, " \n")
		s = s[preface(s):]
		open := strings.HasPrefix(s, "{")
		if open {
			s = s[1:]
		}
		if len(s) < refLen || hexRun(s[:refLen]) < refLen {
			return nil
		}
		out, s = append(out, s[:refLen]), s[refLen:]
		if open {
			if !strings.HasPrefix(s, "}") {
				return nil
			}
			s = s[1:]
		}
		if s = strings.TrimLeft(s, " \n"); s == "" {
			return out
		}
		if s[0] != ',' && s[0] != ';' {
			return nil
		}
		s = s[1:]
	}
}

// maxPreface is how long the words before a reference may be.
const maxPreface = 40

// preface is how long the words are that stand before a reference, as in see also, with
// the space behind them; 0 if something else is there.
func preface(s string) int {
	end := 0
	for i := 0; i < len(s) && i <= maxPreface; i++ {
		switch c := s[i]; {
		case c == ' ' || c == '\n':
			end = i + 1
		case !letter(c) && c < 0x80 && strings.IndexByte(".:&'-", c) < 0:
			return end // a reference begins here, if one does
		}
	}
	return end
}

// maxLabel is how long the label of a link may be, maxParens how deep parentheses in
// its target may go. Without such bounds some texts take quadratic time.
const (
	maxLabel  = 999
	maxParens = 32
)

// label reads the label of a link, [like this], and how long it is with its brackets.
func label(s string) (text string, n int) {
	if !strings.HasPrefix(s, "[") {
		return "", 0
	}
	for i := 1; i < len(s) && i <= maxLabel; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			return "", 0
		case ']':
			return s[1:i], i + 1
		}
	}
	return "", 0
}

// fold brings labels that mean the same to one form.
func fold(label string) string { return strings.ToLower(strings.Join(strings.Fields(label), " ")) }

// target is how long a link's target is, (url "title") with its parentheses; 0 if
// there is none.
func target(s string) int {
	if !strings.HasPrefix(s, "(") {
		return 0
	}
	i := 1 + blank(s[1:])
	i += destination(s[i:])
	gap := blank(s[i:])
	if n := title(s[i+gap:]); n > 0 && gap > 0 {
		i += gap + n
	}
	i += blank(s[i:])
	if i < len(s) && s[i] == ')' {
		return i + 1
	}
	return 0
}

// blank is how much white space s begins with.
func blank(s string) int { return len(s) - len(strings.TrimLeft(s, " \n")) }

// destination is how long the address is that s begins with.
func destination(s string) int {
	if strings.HasPrefix(s, "<") {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '<', '\n':
				return 0
			case '>':
				return i + 1
			}
		}
		return 0
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] > ' ':
			i++
		case c <= ' ' || c == 0x7f:
			return i
		case c == '(':
			if depth++; depth > maxParens {
				return i
			}
		case c == ')':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return len(s)
}

// title is how long the title is that s begins with.
func title(s string) int {
	if s == "" || !strings.ContainsRune(`"'(`, rune(s[0])) {
		return 0
	}
	end := s[0]
	if end == '(' {
		end = ')'
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == end:
			return i + 1
		case s[i] == '(' && end == ')':
			return 0
		}
	}
	return 0
}

// tag is how long the comment, tag or address in angle brackets is that begins at from.
func (p *span) tag(from int) int {
	s := p.s[from:]
	if strings.HasPrefix(s, "<!--") {
		if p.comment < from+4 {
			return 0
		}
		return 4 + strings.Index(s[4:], "-->") + 3
	}
	i := 1
	if i < len(s) && s[i] == '/' {
		i++
	}
	name := i
	for i < len(s) && (letter(s[i]) || i > name && (s[i] >= '0' && s[i] <= '9' || strings.IndexByte("+.-", s[i]) >= 0)) {
		i++
	}
	switch {
	case i == name || i == len(s):
		return 0
	case s[i] == ':' || s[i] == '@':
		for ; i < len(s) && s[i] > ' ' && s[i] != '<'; i++ {
			if s[i] == '>' {
				return i + 1
			}
		}
		return 0
	}
	return attributes(s, i)
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// attributes goes on from a tag's name to its end.
func attributes(s string, i int) int {
	value := false
	for i < len(s) {
		switch c := s[i]; {
		case c == '>':
			return i + 1
		case c == ' ' || c == '\n' || c == '/':
			i++
		case c == '=':
			value = true
			i++
			continue
		case value && (c == '"' || c == '\''):
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return 0
			}
			i += end + 2
			value = false
		case letter(c) || c == '_' || c == ':' || value && strings.IndexByte("\"'=<>`", c) < 0:
			for i < len(s) && strings.IndexByte(" \n\"'=<>`/", s[i]) < 0 && (value || s[i] != '[' && s[i] != ']') {
				i++
			}
			if !value && i < len(s) && (s[i] == '[' || s[i] == ']') {
				return 0
			}
			value = false
		default:
			return 0
		}
	}
	return 0
}

// run is how many of c s begins with.
func run(s string, c byte) int { return len(s) - len(strings.TrimLeft(s, string(c))) }

package bundle

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"lyceum/internal/plain"

	"golang.org/x/text/unicode/norm"
)

// Bounds of a bibliography.
const (
	maxEntries  = 2000
	maxField    = 4 << 10
	maxBraces   = 32
	maxProblems = 20
)

// entry is a reference of a bibliography.
type entry struct {
	kind, key string
	fields    map[string]string
}

// bibliography is a file of BibTeX as far as it can be read. Nothing in it is a command: values
// are words, whatever they are meant to do.
type bibliography struct {
	entries []*entry
	byKey   map[string]*entry
	// problems are what cannot be read, in words.
	problems []string
}

func (b *bibliography) entry(key string) *entry { return b.byKey[key] }

func (b *bibliography) problem(format string, args ...any) {
	if len(b.problems) < maxProblems {
		b.problems = append(b.problems, fmt.Sprintf(format, args...))
	}
}

// readBibliography reads what it can. An entry that cannot be read is told of, and the next one
// begins at the next @.
func readBibliography(data []byte) *bibliography {
	b := &bibliography{byKey: map[string]*entry{}}
	s := &bibScanner{text: plain.Text(string(data))}
	for s.next() {
		line := 1 + strings.Count(s.text[:s.at], "\n")
		kind := strings.ToLower(s.name())
		if kind == "comment" || kind == "preamble" || kind == "string" || kind == "" {
			continue
		}
		e, why := s.entry(kind)
		switch {
		case why != "":
			b.problem("line %d: %s", line, why)
		case b.byKey[e.key] != nil:
			b.problem("line %d: there is another entry %s before", line, plain.Brief(e.key, maxKey))
		case len(b.entries) == maxEntries:
			b.problem("line %d: only the first %d entries are read", line, maxEntries)
			return b
		default:
			b.entries, b.byKey[e.key] = append(b.entries, e), e
		}
	}
	return b
}

// bibScanner goes through a text once.
type bibScanner struct {
	text string
	at   int
}

// next goes behind the next @.
func (s *bibScanner) next() bool {
	i := strings.IndexByte(s.text[s.at:], '@')
	if i < 0 {
		return false
	}
	s.at += i + 1
	return true
}

func (s *bibScanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *bibScanner) space() {
	for s.at < len(s.text) && strings.IndexByte(" \t\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// take passes over a character, if it is the next one but for space.
func (s *bibScanner) take(c byte) bool {
	if s.space(); s.peek() != c {
		return false
	}
	s.at++
	return true
}

// name is a word: of a kind, a key or a field.
func (s *bibScanner) name() string {
	s.space()
	start := s.at
	for s.at < len(s.text) && s.at-start <= maxKey && inKey(s.text[s.at]) {
		s.at++
	}
	return s.text[start:s.at]
}

// entry reads what stands behind the kind of one. why says what is wrong.
func (s *bibScanner) entry(kind string) (e *entry, why string) {
	end := byte('}')
	if !s.take('{') {
		if end = ')'; !s.take('(') {
			return nil, "behind @" + plain.Brief(kind, maxKey) + " there is no {"
		}
	}
	e = &entry{kind: kind, key: s.name(), fields: map[string]string{}}
	if e.key == "" || len(e.key) > maxKey {
		return nil, "an entry has no key of letters, digits and _ - . : / +"
	}
	for s.take(',') {
		name := strings.ToLower(s.name())
		if name == "" { // a comma at the end
			break
		}
		if !s.take('=') {
			return nil, "the field " + plain.Brief(name, maxKey) + " of " + e.key + " has no ="
		}
		value, why := s.value()
		if why != "" {
			return nil, "the field " + plain.Brief(name, maxKey) + " of " + e.key + " " + why
		}
		if _, twice := e.fields[name]; !twice && len(e.fields) < 64 {
			e.fields[name] = value
		}
	}
	if !s.take(end) {
		return nil, "the entry " + e.key + " does not end"
	}
	return e, ""
}

// value reads one, or several that are joined by #.
func (s *bibScanner) value() (string, string) {
	var b strings.Builder
	for {
		s.space()
		part, why := "", ""
		switch s.peek() {
		case '{':
			s.at++
			part, why = s.until('}')
		case '"':
			s.at++
			part, why = s.until('"')
		default:
			if part = s.name(); part == "" {
				why = "has no value"
			}
		}
		b.WriteString(part)
		switch {
		case why != "":
			return "", why
		case b.Len() > maxField:
			return "", fmt.Sprintf("has more than %d bytes", maxField)
		case !s.take('#'):
			return unTeX(b.String()), ""
		}
	}
}

// until reads to a character outside of braces.
func (s *bibScanner) until(end byte) (string, string) {
	start, depth := s.at, 0
	for ; s.at < len(s.text) && s.at-start <= maxField; s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\' && s.at+1 < len(s.text):
			s.at++
		case depth == 0 && c == end:
			s.at++
			return s.text[start : s.at-1], ""
		case c == '{':
			if depth++; depth > maxBraces {
				return "", "has too many braces in each other"
			}
		case c == '}':
			depth--
		}
	}
	return "", "does not end"
}

// accents are what a letter carries, by the command of TeX: combining marks behind it.
var accents = map[rune]rune{'"': '\u0308', '\'': '\u0301', '`': '\u0300', '^': '\u0302', '~': '\u0303', '=': '\u0304', '.': '\u0307', 'c': '\u0327', 'v': '\u030c', 'u': '\u0306', 'H': '\u030b', 'r': '\u030a', 'k': '\u0328'}

// letters are those that have a command of their own.
var letters = map[string]string{"ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "i": "ı", "j": "ȷ", "textendash": "–", "textemdash": "—"}

// unTeX is a value in words: braces go, accents become letters, other commands go but for what
// they are told.
func unTeX(s string) string {
	var out []rune
	var mark rune
	add := func(r rune) {
		if out = append(out, r); mark != 0 && unicode.IsLetter(r) {
			out, mark = append(out, mark), 0
		}
	}
	text := []rune(s)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '{' || c == '}':
		case c == '~':
			out = append(out, ' ')
		case c == '-' && i+1 < len(text) && text[i+1] == '-':
			out = append(out, '–')
			for i+1 < len(text) && text[i+1] == '-' {
				i++
			}
		case c == '$':
		case c != '\\' || i+1 == len(text):
			add(c)
		default:
			n := 1
			for i+1+n < len(text) && asciiLetter(text[i+1]) && asciiLetter(text[i+1+n]) {
				n++
			}
			name := string(text[i+1 : i+1+n])
			i += n
			accent, isAccent := accents[text[i]]
			switch {
			case letters[name] != "":
				for _, r := range letters[name] {
					add(r)
				}
				if asciiLetter(rune(name[0])) && i+1 < len(text) && text[i+1] == ' ' {
					i++
				}
			case n == 1 && isAccent:
				mark = accent
			case n == 1 && !asciiLetter(text[i]):
				add(text[i])
			}
		}
	}
	return norm.NFC.String(strings.Join(strings.Fields(string(out)), " "))
}

func asciiLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// words is a reference in a line: who, what, where, when.
func (e *entry) words() string {
	var parts []string
	add := func(s string) {
		if s = strings.TrimRight(plain.Brief(s, 600), ". "); s != "" {
			parts = append(parts, s)
		}
	}
	who := authors(e.fields["author"])
	if who == "" {
		who = authors(e.fields["editor"])
	}
	add(who)
	add(e.fields["title"])
	where := ""
	for _, name := range []string{"journal", "booktitle", "school", "institution", "publisher", "howpublished"} {
		if where == "" {
			where = e.fields[name]
		}
	}
	if eprint := e.fields["eprint"]; where == "" && eprint != "" {
		where = "arXiv:" + strings.TrimPrefix(eprint, "arXiv:")
	}
	for _, x := range []struct{ name, before string }{{"volume", " "}, {"number", ", no. "}, {"pages", ", pp. "}} {
		if v := e.fields[x.name]; v != "" && where != "" {
			where += x.before + v
		}
	}
	add(where)
	year := e.fields["year"]
	if year == "" {
		year, _, _ = strings.Cut(e.fields["date"], "-")
	}
	add(year)
	if len(parts) == 0 {
		return e.key
	}
	return strings.Join(parts, ". ") + "."
}

// address is where a reference can be found, empty if it does not say.
func (e *entry) address() string {
	if doi := e.fields["doi"]; doi != "" {
		doi = strings.TrimPrefix(strings.TrimPrefix(doi, "https://doi.org/"), "doi:")
		return webAddress("https://doi.org/" + doi)
	}
	if to := webAddress(e.fields["url"]); strings.HasPrefix(strings.ToLower(to), "http") {
		return to
	}
	if id := strings.TrimPrefix(e.fields["eprint"], "arXiv:"); id != "" && strings.EqualFold(e.fields["archiveprefix"], "arxiv") {
		return webAddress("https://arxiv.org/abs/" + id)
	}
	return ""
}

// maxAuthors is how many are named.
const maxAuthors = 8

// authors are names as a list: A. Lovelace, B. Pascal and C. Huygens.
func authors(field string) string {
	if field == "" {
		return ""
	}
	names := strings.Split(strings.Join(strings.Fields(field), " "), " and ")
	more := len(names) > maxAuthors
	names = names[:min(len(names), maxAuthors)]
	for i, n := range names {
		if last, first, ok := strings.Cut(n, ","); ok {
			names[i] = strings.TrimSpace(first) + " " + strings.TrimSpace(last)
		}
	}
	more = more || slices.Contains(names, "others")
	names = slices.DeleteFunc(names, func(n string) bool { return n == "others" })
	switch {
	case more:
		return strings.Join(names, ", ") + " et al."
	case len(names) > 1:
		return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	return strings.Join(names, "")
}

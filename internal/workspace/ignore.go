package workspace

import (
	"path"
	"strings"
)

// Ignores knows what the .gitignore files of a folder name, as git does, without any git. Whoever
// goes through the folder asks about each path once its parents were asked about: what is in a
// folder that is named is not looked at. The files are anybody's; what they cost is bounded. A slash within a set in brackets is the one thing that
// is taken otherwise: the set then names nothing.
type Ignores struct {
	read  func(name string) ([]byte, error)
	rules map[string][]rule
	// work is how many steps were made so far.
	work int
}

// MaxIgnoreFile is how long a .gitignore may be, in bytes.
const MaxIgnoreFile = 64 << 10

// maxIgnoreLines is how many lines of one count, maxIgnoreWork how many steps are made for all
// of them together: some seconds' work.
const (
	maxIgnoreLines = 1000
	maxIgnoreWork  = 1_000_000_000
)

// rule is one line.
type rule struct {
	// parts are the pattern between its slashes. One that has no slash is compared with the
	// last name of a path, wherever that is.
	parts             []string
	anywhere          bool
	negates, onlyDirs bool
}

// NewIgnores is for the files of a folder. read returns what is in a .gitignore, given its path
// there; nothing, if there is none that counts.
func NewIgnores(read func(name string) ([]byte, error)) *Ignores {
	return &Ignores{read: read, rules: map[string][]rule{}}
}

// Tired says that the files wanted too much work: from then on nothing is named.
func (g *Ignores) Tired() bool { return g.work > maxIgnoreWork }

// Names reports whether a path is named. dir says that it is a folder.
func (g *Ignores) Names(at string, dir bool) (bool, error) {
	for in := path.Dir(at); ; in = path.Dir(in) {
		if g.Tired() {
			return false, nil
		}
		rules, err := g.of(in)
		if err != nil {
			return false, err
		}
		below := at
		if in != "." {
			below = at[len(in)+1:]
		}
		for i := len(rules) - 1; i >= 0; i-- {
			if r := &rules[i]; (dir || !r.onlyDirs) && r.fits(below, &g.work) {
				return !r.negates, nil
			}
		}
		if in == "." {
			return false, nil
		}
	}
}

// of reads the .gitignore of a folder, once.
func (g *Ignores) of(dir string) ([]rule, error) {
	if rules, ok := g.rules[dir]; ok {
		return rules, nil
	}
	data, err := g.read(path.Join(dir, ".gitignore"))
	if err != nil {
		return nil, err
	}
	rules := parseRules(string(data))
	g.rules[dir] = rules
	return rules, nil
}

func parseRules(text string) (out []rule) {
	text = strings.TrimPrefix(text, "\uFEFF")
	for line := range strings.SplitSeq(text, "\n") {
		if len(out) >= maxIgnoreLines {
			break
		}
		line = unspaced(strings.TrimSuffix(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		var r rule
		line, r.negates = strings.CutPrefix(line, "!")
		line, r.onlyDirs = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		r.anywhere = !strings.Contains(line, "/")
		r.parts = strings.Split(strings.TrimPrefix(line, "/"), "/")
		out = append(out, r)
	}
	return out
}

// unspaced takes spaces from the end that no backslash keeps there.
func unspaced(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

func (r *rule) fits(at string, work *int) bool {
	if r.anywhere {
		return matches(r.parts[0], path.Base(at), work)
	}
	return matchParts(r.parts, strings.Split(at, "/"), work)
}

// matchParts compares the names of a path with those of a pattern, in which ** stands for any
// number of names, and at its end for at least one. Of several only the last is tried again.
func matchParts(pattern, names []string, work *int) bool {
	p, n, star, from := 0, 0, -1, 0
	for n < len(names) {
		*work++
		switch {
		case p < len(pattern) && pattern[p] == "**":
			if p == len(pattern)-1 {
				return true
			}
			star, from = p, n
			p++
		case p < len(pattern) && matches(pattern[p], names[n], work):
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return p == len(pattern)
}

// matches compares a name with a pattern of one name, byte by byte as git does. It counts its
// steps.
func matches(pattern, name string, work *int) bool {
	p, n, star, from := 0, 0, -1, 0
	*work += 4
	for n < len(name) {
		*work++
		if p < len(pattern) && pattern[p] == '*' {
			star, from = p, n
			p++
			continue
		}
		if size, ok := one(pattern[p:], name[n]); ok {
			p += size
			n++
			continue
		}
		if star < 0 {
			return false
		}
		from++
		p, n = star+1, from
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// one compares one byte with the beginning of a pattern, and says how long that is.
func one(pattern string, c byte) (size int, ok bool) {
	if pattern == "" {
		return 0, false
	}
	switch pattern[0] {
	case '?':
		return 1, true
	case '\\':
		return 2, len(pattern) > 1 && pattern[1] == c
	case '[':
		return class(pattern, c)
	}
	return 1, pattern[0] == c
}

// class compares a byte with a set in brackets. One that is not closed fits nothing.
func class(pattern string, c byte) (size int, ok bool) {
	i := 1
	negates := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negates {
		i++
	}
	found := false
	for first := true; ; first = false {
		if i >= len(pattern) {
			return 0, false
		}
		if pattern[i] == ']' && !first {
			return i + 1, found != negates
		}
		if rest, is := strings.CutPrefix(pattern[i:], "[:"); is {
			name, _, closed := strings.Cut(rest, ":]")
			has := named[name]
			if !closed || has == nil {
				return 0, false
			}
			found = found || has(c)
			i += len("[:") + len(name) + len(":]")
			continue
		}
		low, next, fine := letter(pattern, i)
		high := low
		if fine && next+1 < len(pattern) && pattern[next] == '-' && pattern[next+1] != ']' {
			high, next, fine = letter(pattern, next+1)
		}
		if !fine {
			return 0, false
		}
		found = found || low <= c && c <= high
		i = next
	}
}

// letter is the one that stands at a place of a set, perhaps behind a backslash.
func letter(pattern string, i int) (c byte, next int, ok bool) {
	if pattern[i] == '\\' {
		i++
	}
	if i >= len(pattern) {
		return 0, i, false
	}
	return pattern[i], i + 1, true
}

// named are the sets that have names, but that of controls, which no name has.
var named = map[string]func(byte) bool{
	"alpha":  letterly,
	"digit":  digit,
	"alnum":  func(c byte) bool { return letterly(c) || digit(c) },
	"lower":  lower,
	"upper":  upper,
	"space":  func(c byte) bool { return strings.IndexByte(" \t\n\v\f\r", c) >= 0 },
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"punct":  punct,
	"print":  func(c byte) bool { return c == ' ' || letterly(c) || digit(c) || punct(c) },
	"graph":  func(c byte) bool { return letterly(c) || digit(c) || punct(c) },
	"xdigit": func(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func letterly(c byte) bool { return lower(c) || upper(c) }
func punct(c byte) bool    { return strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c) >= 0 }
func lower(c byte) bool    { return 'a' <= c && c <= 'z' }
func upper(c byte) bool    { return 'A' <= c && c <= 'Z' }
func digit(c byte) bool    { return '0' <= c && c <= '9' }

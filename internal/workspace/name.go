package workspace

import (
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"

	"golang.org/x/text/unicode/norm"
)

// Bounds of a path, as on every Unix.
const (
	maxPath = 4095
	maxPart = 255
)

// Odd says what is wrong with a path that somebody wrote, and nothing if it can stand in a
// repository on any system.
func Odd(p string) string {
	if plain.People.In(p) {
		return "its path has characters that cannot be seen"
	}
	return Strange(p)
}

// Strange is Odd for a path that a person has committed: it may have what writing has.
func Strange(p string) string {
	switch {
	case p == "" || len(p) > maxPath:
		return "its path is empty or too long"
	case !utf8.ValidString(p):
		return "its path is not UTF-8"
	case strings.HasPrefix(p, "/"):
		return "its path is absolute"
	case strings.Contains(p, `\`):
		return "its path has a backslash"
	case plain.Controls.In(p):
		return "its path has characters that cannot be seen"
	}
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case part == "" || part == "." || part == "..":
			return "its path leads elsewhere"
		case len(part) > maxPart:
			return "a name in its path is too long"
		case DotGit(part):
			return "it is git's own"
		case len(part) > 1 && part[1] == ':' && isLetter(part[0]):
			return "its path is absolute"
		}
	}
	return ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// DotGit reports whether some system takes a name for .git: in any case, with characters
// that Apple's file systems do not see, with what Windows cuts off, by its short name.
func DotGit(name string) bool {
	name = strings.Map(func(r rune) rune {
		if plain.People.Has(r) {
			return -1
		}
		return r
	}, name)
	name = strings.ToLower(norm.NFKC.String(name))
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, " .")
	if short, ok := strings.CutPrefix(name, "git~"); ok && strings.Trim(short, "0123456789") == "" {
		return true
	}
	return name == ".git"
}

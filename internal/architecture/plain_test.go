package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lyceum/internal/plain"
)

// tables are what package unicode and strconv have to tell characters that hide.
// Letters, digits, marks, punctuation and white space are no such.
var tables = []string{
	"unicode.IsControl", "unicode.IsPrint", "unicode.IsGraphic", "unicode.C", "unicode.Cc", "unicode.Cf", "unicode.Co", "unicode.Cs", "unicode.Other",
	"unicode.Zl", "unicode.Zp", "unicode.PrintRanges", "unicode.GraphicRanges", "unicode.Categories", "unicode.Properties",
	"unicode.Bidi_Control", "unicode.Join_Control", "unicode.Variation_Selector", "unicode.Noncharacter_Code_Point",
	"unicode.Other_Default_Ignorable_Code_Point", "unicode.Prepended_Concatenation_Mark", "unicode.Deprecated",
	"strconv.IsPrint", "strconv.IsGraphic",
}

// parsers compare bytes with the ends of ASCII for another reason than to tell what a
// person may see. Each must still do so.
var parsers = map[string]string{
	"event/weight.go":     "counts the escapes of JSON",
	"blob/tree.go":        "writes JSON",
	"proof/note.go":       "reads signed notes",
	"paper/citations.go":  "reads Markdown",
	"cli/shell_filter.go": "reads the sequences that a terminal obeys",
}

// TestOnlyPlainHasASetOfCharacters: what of a stranger's text is safe is said in one
// table.
func TestOnlyPlainHasASetOfCharacters(t *testing.T) {
	t.Parallel()
	parsing := map[string]bool{}
	each(t, func(path string, f *ast.File) {
		dir, _, _ := strings.Cut(path, "/")
		if dir == "plain" || strings.Contains(path, "test/") { // suites hold samples of such texts
			return
		}
		for _, found := range ownSets(f) {
			if i := slices.IndexFunc(keys(parsers), func(p string) bool { return strings.HasSuffix(path, p) }); i >= 0 && found.ascii {
				parsing[keys(parsers)[i]] = true
				continue
			}
			t.Errorf("%s has a set of characters of its own, %s: use a list or a function of package plain", path, found.what)
		}
	})
	for path, why := range parsers {
		if !parsing[path] {
			t.Errorf("%s is listed since it %s, and it compares with no end of ASCII: take it off the list", path, why)
		}
	}
}

// TestOwnSetsAreFound: the rule above finds what it is there for.
func TestOwnSetsAreFound(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		`unicode.IsControl(r)`:                            true,
		`unicode.Is(unicode.Cf, r)`:                       true,
		`unicode.In(r, unicode.Bidi_Control)`:             true,
		`strings.IndexFunc(s, unicode.IsPrint) < 0`:       true,
		`strconv.IsPrint(r)`:                              true,
		`r >= '\u202a'`:                                   true,
		`r == '\u2028' || r == '\u2029'`:                  true,
		`r >= 0x202A && r <= 0x202E`:                      true,
		`in(0x2066, 0x2069)`:                              true,
		`r == 8206`:                                       true,
		`strings.ContainsAny(s, "\u200b\u200c")`:          true,
		`strings.NewReplacer("\x1b", "")`:                 true,
		`strings.ContainsAny(s, "\x00\x1b\x7f")`:          true,
		"regexp.MustCompile(`[\\x{202a}-\\x{202e}]`)":     true,
		"regexp.MustCompile(`[\\p{Cf}]`)":                 true,
		"regexp.MustCompile(`[[:cntrl:]]`)":               true,
		`r < 0x20`:                                        true,
		`' ' > r`:                                         true,
		`r < 32 || r == 127`:                              true,
		`r == 0x7f`:                                       true,
		`r <= '\x1f'`:                                     true,
		`c > '~'`:                                         true,
		`unicode.IsLetter(r) || unicode.IsSpace(r)`:       false,
		`r >= 'a' && r <= 'z' || r == '_'`:                false,
		`r == ' ' || r == '\n' || r == '\t'`:              false,
		`strings.TrimPrefix(s, "\uFEFF")`:                 false,
		`strings.ContainsAny(s, "/\x00")`:                 false,
		`n < 32<<10`:                                      false,
		`len(s) > 0x20`:                                   false,
		`r >= utf8.RuneSelf`:                              false,
		`r == '\u00a0' || r == '\u2009' || r == '\ufffd'`: false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar _ = "+code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := ownSets(f); len(got) > 0 != want {
			t.Errorf("%s: got %v, want it found: %v", code, got, want)
		}
	}
}

// ownSet is what tells a character that hides from one that does not.
type ownSet struct {
	what  string
	ascii bool // it is a comparison with an end of printable ASCII
}

func ownSets(f *ast.File) (out []ownSet) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(tables, x.Name+"."+n.Sel.Name) {
				out = append(out, ownSet{what: x.Name + "." + n.Sel.Name})
			}
		case *ast.BinaryExpr:
			if endOfASCII(n) {
				out = append(out, ownSet{what: fmt.Sprintf("a comparison %s with an end of ASCII", n.Op), ascii: true})
			}
		case *ast.BasicLit:
			if hides(n) {
				out = append(out, ownSet{what: n.Value})
			}
		}
		return true
	})
	return out
}

// endOfASCII tells whether something is compared with the first or last printable
// character of ASCII, or with what is next to them.
func endOfASCII(n *ast.BinaryExpr) bool {
	order := slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ}, n.Op)
	if !order && n.Op != token.EQL && n.Op != token.NEQ {
		return false
	}
	for _, side := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
		if _, call := side[1].(*ast.CallExpr); call { // a length
			continue
		}
		switch v, _ := value(side[0]); {
		case v == 0x7f:
			return true
		case order && (v == 0x1f || v == 0x20) || order && v == '~':
			return true
		}
	}
	return false
}

// value is the number of a literal, -1 if an expression is none, and how it is written.
func value(x ast.Expr) (int64, string) {
	lit, ok := x.(*ast.BasicLit)
	if !ok {
		return -1, ""
	}
	switch lit.Kind {
	case token.INT:
		if v, err := strconv.ParseInt(lit.Value, 0, 64); err == nil {
			return v, lit.Value
		}
	case token.CHAR:
		if r, _, _, err := strconv.UnquoteChar(lit.Value[1:len(lit.Value)-1], '\''); err == nil {
			return int64(r), lit.Value
		}
	}
	return -1, ""
}

// inPatterns is how a regular expression names characters that hide.
var inPatterns = []string{`\x{200`, `\x{202`, `\x{206`, `\pC`, `\p{C`, `\p{Z`, `[:cntrl:]`, `[:print:]`, `[:graph:]`, `\x1b`, `\x00-\x`}

// hides tells whether a literal names a character that people are not shown. A text may
// hold zero bytes, which names of files must not, escapes for a terminal, and the
// byte-order mark.
func hides(lit *ast.BasicLit) bool {
	if lit.Kind == token.STRING {
		s, err := strconv.Unquote(lit.Value)
		if err != nil || s == "\uFEFF" {
			return false
		}
		named := func(p string) bool { return strings.Contains(s, p) }
		return strings.ContainsFunc(s, func(r rune) bool { return r >= 0x7f && plain.People.Has(r) }) ||
			s == "\x1b" || named("\x1b") && named("\x00") || slices.ContainsFunc(inPatterns, named)
	}
	v, written := value(lit)
	// Between them are bytes of UTF-8 and numbers that are no characters.
	return v > 0x9f && v <= 0x10ffff && plain.People.Has(rune(v)) && (lit.Kind == token.CHAR || !round(written, v))
}

// round tells whether a number is one that a size or a mask has: a bound of a power of
// two, or a decimal one of many noughts.
func round(written string, v int64) bool {
	return v&(v+1) == 0 || v&(v-1) == 0 || strings.HasSuffix(written, "00") || strings.Contains(written, "_")
}

func keys(m map[string]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

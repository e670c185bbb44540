package architecture

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// nameless are the packages that know societies by interfaces only: none of their files may
// import a society, or have the name of one in a string or an identifier.
var nameless = []string{"agent", "policy", "quest", "runtime", "runtime/audit", "view", "api", "api/client", "tui", "crate"}

// importless are those that may not import a society either, but speak of societies to
// people: in flags and their help.
var importless = []string{"cli"}

// registers are the files of such packages that may: the table in which a package finds the
// part of each society. The parts themselves stand in files that end in the society's name.
var registers = []string{"view/societies.go", "tui/societies.go", "cli/societies.go"}

func TestTheCoreNamesNoSociety(t *testing.T) {
	t.Parallel()
	names := societyNames(t)
	files := 0
	each(t, func(path string, f *ast.File) {
		dir := filepath.Dir(path)
		mayName := slices.Contains(importless, dir)
		if !mayName && !slices.Contains(nameless, dir) || slices.Contains(registers, path) || ofSociety(path, names) {
			return
		}
		files++
		for _, what := range named(f, names) {
			if mayName && !strings.HasPrefix(what, societyPath) {
				continue
			}
			t.Errorf("%s names %s: want what is particular to a society in a file of its own, found by a table", path, what)
		}
	})
	if files < 30 {
		t.Fatalf("only %d files looked at", files)
	}
}

func TestANameOfASocietyIsSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`import "lyceum/internal/society/lab"`:             "lyceum/internal/society/lab",
		`import "lyceum/internal/society/lab/paper"`:       "lyceum/internal/society/lab/paper",
		`var x = "a lab's papers"`:                         `"a lab's papers"`,
		"type x struct { L int `json:\"lab,omitempty\"` }": "`json:\"lab,omitempty\"`",
		`func f(s spec) bool { return s.IsLab() }`:         "IsLab",
		`var labWords = 1`:                                 "labWords",
		`type LabInfo struct{}`:                            "LabInfo",
		`var x = "label a collaboration"`:                  "",
		`var label, Collaborator = 1, 2`:                   "",
		`var x = "world"`:                                  `"world"`,
		`var x = "world/1"`:                                `"world/1"`,
		`var worldly, x = 1, "a tool of the world"`:        "",
		`var x *event.LabSpec`:                             "", // the catalogue of events is closed, and knows all of them
	} {
		if got := named(parse(t, "x.go", "package x\n"+text), []string{"lab", "world"}); strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// societyNames are the folders of societies.
func societyNames(t *testing.T) (names []string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(root, "internal", "society"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if d.IsDir() {
			names = append(names, d.Name())
		}
	}
	if len(names) < 3 {
		t.Fatalf("only the societies %q are seen, want solo, lab and contract at least", names)
	}
	return names
}

// ofSociety reports whether a file is one society's part of a package.
func ofSociety(path string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(path, "_"+name+".go") })
}

// common are names of societies that are words of the core besides: what is not deterministic is
// the world. Such a name counts as one where it is all of a string, or an import.
var common = []string{"world"}

// societyPath is what the import of a society begins with.
const societyPath = "lyceum/internal/society/"

// camel are the words that an identifier is made of.
var camel = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// named are the imports, strings and identifiers of a file that name a society.
func named(f *ast.File, names []string) (out []string) {
	own := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(common, name) })
	is := func(word string) bool { return slices.Contains(own, strings.ToLower(word)) }
	word := regexp.MustCompile(`(?i)\b(` + strings.Join(own, "|") + `)\b|^"(` + strings.Join(common, "|") + `)(/[0-9]+)?"$`)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			if path := strings.Trim(n.Path.Value, `"`); strings.HasPrefix(path, societyPath) {
				out = append(out, path)
			}
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "event" {
				return false
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && word.MatchString(n.Value) {
				out = append(out, n.Value)
			}
		case *ast.Ident:
			if slices.ContainsFunc(camel.FindAllString(n.Name, -1), is) {
				out = append(out, n.Name)
			}
		}
		return true
	})
	return out
}

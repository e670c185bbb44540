package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	verb = regexp.MustCompile(`%[-+# 0]*(\[\d+\])?[\d*]*(\.[\d*]+)?(\[\d+\])?[a-zA-Z%]`)
	word = regexp.MustCompile(`\pL{2,}`)
)

// TestFailuresAreToldInWords: whoever reads the output of a failed test has not written it.
// Figures and values alone do not say what was expected. An error by itself does.
func TestFailuresAreToldInWords(t *testing.T) {
	t.Parallel()
	everywhere(t, func(path string, files *token.FileSet, f *ast.File) {
		if !imports(f, "testing") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && wordless(call) {
				t.Errorf("%s:%d fails without a word: say what was expected", path, files.Position(call.Pos()).Line)
			}
			return true
		})
	})
}

// wordless reports whether a call fails a test and says nothing in words.
func wordless(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	if x, ok := sel.X.(*ast.Ident); ok && slices.Contains([]string{"fmt", "http", "net", "model", "acp", "wire"}, x.Name) {
		return false // of the same name, and no test's
	}
	said := ""
	switch sel.Sel.Name {
	case "Error", "Fatal":
		if len(call.Args) == 1 && speaks(call.Args[0]) {
			return false
		}
		for _, arg := range call.Args {
			said += literals(arg) + " "
		}
	case "Errorf", "Fatalf":
		said = verb.ReplaceAllString(literals(call.Args[0]), "")
	default:
		return false
	}
	return !word.MatchString(said)
}

// literals are the texts that an expression is made of.
func literals(e ast.Expr) string {
	var b strings.Builder
	ast.Inspect(e, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				b.WriteString(s)
			}
		}
		return true
	})
	return b.String()
}

// speaks reports whether a value is an error, or a sentence, by its name.
func speaks(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return slices.Contains([]string{"err", "wrong", "why"}, e.Name)
	case *ast.SelectorExpr:
		return e.Sel.Name == "err"
	case *ast.CallExpr:
		sel, ok := e.Fun.(*ast.SelectorExpr)
		return ok && (sel.Sel.Name == "Join" || sel.Sel.Name == "Err")
	}
	return false
}

func TestWordless(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		`t.Fatal(err)`: false, `t.Fatal(got, want)`: true, `t.Error(diff)`: true, `t.Errorf("%s: %v", a, b)`: true,
		`t.Errorf("%[1]q, %-5.3f", a, b)`: true, `t.Errorf("got %q, want %q", a, b)`: false, `t.Error("the quest is not there")`: false,
		`t.Fatal("after the crash: ", err)`: false, `fmt.Errorf("%w: %w", a, b)`: false, `t.Fatalf("%v\n%s", err, out)`: true,
		`t.Log(got)`: false, `t.Error()`: false,
	} {
		if got := wordless(parsed(t, source)); got != want {
			t.Errorf("%s: wordless is %t, want %t", source, got, want)
		}
	}
}

func parsed(t *testing.T, source string) *ast.CallExpr {
	t.Helper()
	e, err := parser.ParseExpr(source)
	if err != nil {
		t.Fatal(err)
	}
	return e.(*ast.CallExpr)
}

package architecture

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// pure packages decide; they may not look at the world. event only writes down.
var pure = []string{"analysis", "event", "behavior", "policy", "agent", "quest", "society", "strictyaml", "evidence", "markdown", "media", "plain", "proof", "relation", "survey", "workspace"}

// impure is what none of them may import. fmt and encoding reach os underneath;
// that is the library's business. What counts is what our code can ask for.
var impure = []string{"os", "os/exec", "os/signal", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "io/fs", "io/ioutil", "syscall", "sync", "sync/atomic", "runtime", "unsafe", "log", "log/slog", "path/filepath", "plugin", "testing", "golang.org/x/sys/unix"}

// clockwork is what a pure package may not take from package time. The types and
// the parsing of a duration are no clock.
var clockwork = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation"}

func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./internal/...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for dec.More() {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, "lyceum/internal/")
		at := slices.IndexFunc(layers, func(l layer) bool { return l.name == name })
		if at < 0 {
			t.Errorf("package %s has no place in the layers: give it one in layers_test.go", name)
			continue
		}
		below := slices.Clone(layers[at].below)
		for _, i := range p.Imports {
			imported, ours := strings.CutPrefix(i, "lyceum/internal/")
			if !ours || imported == "plain" {
				continue
			}
			if !slices.Contains(below, imported) {
				t.Errorf("%s imports %s, which is not below it", name, imported)
			}
			below = slices.DeleteFunc(below, func(b string) bool { return b == imported })
		}
		if len(below) > 0 {
			t.Errorf("%s may import %s and does not: take that out of the layers", name, strings.Join(below, ", "))
		}
		seen++
	}
	if seen != len(layers) {
		t.Errorf("there are %d packages, and %d in the layers", seen, len(layers))
	}
}

func TestPurePackagesDoNotLookAtTheWorld(t *testing.T) {
	t.Parallel()
	files := 0
	each(t, func(path string, f *ast.File) {
		if !isPure(path) {
			return
		}
		files++
		for _, i := range f.Imports {
			if name := strings.Trim(i.Path.Value, `"`); slices.Contains(impure, name) {
				t.Errorf("%s imports %s", path, name)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine", path)
			case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				t.Errorf("%s uses channels", path)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clockwork, n.Sel.Name) {
					t.Errorf("%s uses time.%s", path, n.Sel.Name)
				}
			}
			return true
		})
	})
	if files < 10 {
		t.Fatalf("only %d files looked at", files)
	}
}

// TestRulesUseNoFloats: other processors fuse multiply and add.
func TestRulesUseNoFloats(t *testing.T) {
	t.Parallel()
	each(t, func(path string, f *ast.File) {
		if !isPure(path) || strings.HasPrefix(path, "event/canonical") || path == "quest/schema.go" {
			return // canonical JSON is about doubles, and a JSON Schema has them for bounds
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && (id.Name == "float64" || id.Name == "float32") {
				t.Errorf("%s uses %s", path, id.Name)
			}
			return true
		})
	})
}

func TestOnlyOnePlaceLooksAtTheClock(t *testing.T) {
	t.Parallel()
	found := 0
	each(t, func(path string, f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until"}, sel.Sel.Name) {
				// What waits for a provider, a program or a connection has its own clock: of
				// what it says, only how long something took gets into a ledger.
				switch path {
				case "runtime/clock.go", "model/provider/clock.go", "computer/clock.go", "computer/helper/clock.go", "computer/proxy/clock.go", "executor/clock.go", "executor/builtin/clock.go", "mcp/clock.go", "mcp/login/clock.go", "memory/clock.go", "connector/webhook/clock.go", "blob/s3/clock.go", "ledger/postgres/clock.go", "browser/clock.go":
					found++
				default:
					if !strings.HasPrefix(path, "computer/computertest/") && !strings.HasPrefix(path, "executor/executortest/") {
						t.Errorf("%s uses time.%s", path, sel.Sel.Name)
					}
				}
			}
			return true
		})
	})
	if found != 13 {
		t.Errorf("%d looks at the clock, want 13", found)
	}
}

// TestNothingHappensBeforeMain: no init functions.
func TestNothingHappensBeforeMain(t *testing.T) {
	t.Parallel()
	each(t, func(path string, f *ast.File) {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "init" && fn.Recv == nil {
				t.Errorf("%s has an init function", path)
			}
		}
	})
}

func isPure(path string) bool {
	if strings.HasPrefix(path, "event/eventdoc") || strings.HasPrefix(path, "quest/questschema") || strings.HasPrefix(path, "quest/promptdoc") || strings.HasPrefix(path, "plain/pagetable") {
		return false // programs that write the docs, and a table for the page
	}
	top, rest, _ := strings.Cut(path, "/")
	if top == "model" && !strings.Contains(rest, "/") {
		return true // the words agents and models share; drivers are below it
	}
	return slices.Contains(pure, top)
}

func parse(t *testing.T, name, source string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// each parses every source file below internal, tests left out.
func each(t *testing.T, look func(path string, f *ast.File)) {
	t.Helper()
	dir := filepath.Join(root, "internal")
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f := parse(t, path, string(data))
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		look(filepath.ToSlash(rel), f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

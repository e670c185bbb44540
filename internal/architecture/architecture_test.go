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
var pure = []string{"event", "behavior", "policy", "agent", "quest", "society", "strictyaml", "evidence", "plain"}

// impure is what none of them may import. fmt and encoding reach os underneath;
// that is the library's business. What counts is what our code can ask for.
var impure = []string{"os", "os/exec", "os/signal", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "io/fs", "io/ioutil", "syscall", "sync", "sync/atomic", "runtime", "unsafe", "log", "log/slog", "path/filepath", "plugin", "testing", "golang.org/x/sys/unix"}

// clockwork is what a pure package may not take from package time. The types and
// the parsing of a duration are no clock.
var clockwork = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation"}

// layers says who may import whom: a package may import those listed, and what
// is below them. Front ends and drivers stand above the rest. plain is below all.
var layers = map[string][]string{
	"plain":                   {},
	"event":                   {},
	"strictyaml":              {},
	"compute":                 {},
	"evidence":                {},
	"model":                   {"event"},
	"ledger":                  {"event"},
	"blob":                    {"event"},
	"agent":                   {"event", "model"},
	"behavior":                {"strictyaml"},
	"policy":                  {"event", "behavior", "strictyaml"},
	"quest":                   {"event", "agent", "behavior", "model", "policy", "strictyaml"},
	"society/lab/paper":       {"event", "agent"},
	"society/contract/tender": {"event", "agent", "behavior", "policy"},
	"quest/questtest":         {"event", "model", "policy", "quest"},
	"society/lab":             {"event", "agent", "behavior", "model", "society/lab/paper", "policy", "quest"},
	"society/contract":        {"event", "agent", "behavior", "evidence", "model", "policy", "quest", "society/contract/tender"},
	"profile":                 {"event", "quest", "strictyaml"},
	"society/solo":            {"event", "agent", "behavior", "model", "quest"},
	"search":                  {},
	"search/glove":            {"search"},
	"search/remote":           {"search"},
	"search/trial":            {"search"},
	"tool":                    {"model", "computer"},
	"computer":                {"computer/link"},
	"computer/link":           {},
	"computer/confine":        {},
	"computer/cgroup":         {},
	"computer/proxy":          {"computer"},
	"computer/helper":         {"computer/confine", "computer/link"},
	// A driver starts the helper inside; what it shares with it is its name.
	"computer/bubblewrap":   {"computer", "computer/cgroup", "computer/helper", "computer/link"},
	"computer/docker":       {"computer", "computer/cgroup", "computer/helper", "computer/link"},
	"computer/computertest": {"blob", "blob/fs", "computer", "computer/helper", "computer/link", "event"},
	"model/script":          {"event", "model", "strictyaml"},
	"ledger/sqlite":         {"event", "ledger"},
	"blob/fs":               {"event", "blob"},
	"ledger/ledgertest":     {"event", "ledger"},
	"blob/blobtest":         {"event", "blob"},
	"runtime":               {"event", "ledger", "blob", "agent", "compute", "computer", "computer/proxy", "model", "society/lab/paper", "profile", "policy", "quest", "search", "tool", "society/lab", "society/contract", "society/contract/tender"},
	"runtime/audit":         {"event", "ledger", "blob", "agent", "computer", "quest", "runtime"},
	"runtime/service":       {"event", "ledger", "blob", "compute", "computer", "quest", "runtime", "runtime/audit", "search", "society/lab", "society/lab/paper", "society/contract", "society/contract/tender"},
	"crate":                 {"event", "ledger", "blob", "agent", "quest", "runtime", "runtime/audit"},
	"backup":                {"event", "ledger", "ledger/sqlite", "blob", "blob/fs", "runtime"},
	"config":                {"strictyaml"},
	"model/wire":            {"event", "model"},
	"model/anthropic":       {"event", "model", "model/wire"},
	"model/openai":          {"event", "model", "model/wire"},
	"model/gemini":          {"event", "model", "model/wire"},
	"model/demo":            {"event", "model"},
	"model/provider":        {"event", "model", "model/wire", "model/anthropic", "model/openai", "model/gemini", "config", "strictyaml"},
	"model/modeltest":       {"event", "model", "model/wire"},
	"cli":                   {"profile", "society/lab", "event", "computer", "computer/bubblewrap", "computer/docker", "computer/cgroup", "computer/helper", "behavior", "policy", "model/provider", "model/demo", "ledger", "ledger/sqlite", "blob", "blob/fs", "agent", "model", "model/script", "quest", "society/solo", "runtime", "runtime/audit", "runtime/service", "crate", "tool", "config", "strictyaml", "society/lab/paper", "search", "search/glove", "search/remote", "society/contract", "tui", "view", "api", "api/client", "backup"},
	"tui":                   {"event", "agent", "society/lab", "society/lab/paper", "quest"},
	"view":                  {"event", "policy", "quest", "society/lab", "society/lab/paper", "society/contract"},
	"api":                   {"agent", "blob", "event", "ledger", "model", "policy", "profile", "quest", "runtime", "runtime/service", "strictyaml", "view"},
	"api/client":            {"api", "event"},
	"event/eventdoc":        {"event"},
	"quest/questschema":     {"quest"},
	"architecture":          {},
}

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
		allowed, ok := layers[name]
		if !ok {
			t.Errorf("package %s has no place in the layers: give it one, and in docs/ARCHITECTURE.md", name)
		}
		for _, i := range p.Imports {
			if below, ours := strings.CutPrefix(i, "lyceum/internal/"); ours && below != "plain" && !slices.Contains(allowed, below) {
				t.Errorf("%s imports %s, which is not below it", name, below)
			}
		}
		seen++
	}
	if seen != len(layers) {
		t.Errorf("%d packages, %d in the layers", seen, len(layers))
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
		if !isPure(path) || strings.HasPrefix(path, "event/canonical") {
			return // canonical JSON is about doubles
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
				case "runtime/clock.go", "model/provider/clock.go", "computer/clock.go", "computer/helper/clock.go", "computer/proxy/clock.go":
					found++
				default:
					if !strings.HasPrefix(path, "computer/computertest/") {
						t.Errorf("%s uses time.%s", path, sel.Sel.Name)
					}
				}
			}
			return true
		})
	})
	if found != 5 {
		t.Errorf("%d looks at the clock, want 5", found)
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
	if strings.HasPrefix(path, "event/eventdoc") || strings.HasPrefix(path, "quest/questschema") {
		return false // programs that write the docs
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

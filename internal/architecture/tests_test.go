package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// skips are the places outside of internal/need that may leave a test out, and why. An input
// that the fuzzer made up and that is none is no case; that is all.
var skips = map[string]string{
	"internal/api/fuzz_test.go": "an input that is no URL",
}

// TestOnlyNeedLeavesTestsOut: what skips by itself would skip in silence where everything
// is said to be there.
func TestOnlyNeedLeavesTestsOut(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	everywhere(t, func(path string, _ *token.FileSet, f *ast.File) {
		if strings.HasPrefix(path, "internal/need/") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) || !imports(f, "testing") {
				return true
			}
			seen[path] = true
			if skips[path] == "" {
				t.Errorf("%s calls %s: ask internal/need for what the test needs", path, sel.Sel.Name)
			}
			return true
		})
	})
	for path := range skips {
		if !seen[path] {
			t.Errorf("%s may leave tests out, but does not: take it off the list", path)
		}
	}
}

// TestTheModuleIsLean: what only measures or drives a browser is in a module of its own.
// A requirement that comes back here comes back to everybody who builds Lyceum.
func TestTheModuleIsLean(t *testing.T) {
	t.Parallel()
	heavy := regexp.MustCompile(`chromedp|blevesearch|honnef\.co`)
	for dir, own := range map[string]string{".": "", "bench": "blevesearch", "web/tests": "chromedp", "scripts/tools": "honnef.co"} {
		data, err := os.ReadFile(filepath.Join(root, dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(data), "\n") {
			if found := heavy.FindString(line); found != "" && found != own {
				t.Errorf("the module in %s requires what another is for: %s", dir, strings.TrimSpace(line))
			}
		}
		if !strings.Contains(string(data), own) {
			t.Errorf("the module in %s does not require %s, which it is for", dir, own)
		}
	}
}

func imports(f *ast.File, path string) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"`+path+`"` })
}

// everywhere parses every source file of every module, tests included.
func everywhere(t *testing.T, look func(path string, files *token.FileSet, f *ast.File)) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"node_modules", ".git", "testdata", "dist"}, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		seen++
		look(filepath.ToSlash(rel), files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 500 {
		t.Fatalf("only %d source files were looked at", seen)
	}
}

// TestEveryPackageIsTestedInOneWay holds scripts/packages, by which make test, make race and make check choose.
func TestEveryPackageIsTestedInOneWay(t *testing.T) {
	t.Parallel()
	list := func(name string, args ...string) []string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("run %s %s: %v", name, strings.Join(args, " "), err)
		}
		return strings.Fields(string(out))
	}
	how := map[string]string{}
	for _, kind := range []string{"race", "outside", "plain"} {
		for _, p := range list("scripts/packages", kind) {
			if how[p] != "" {
				t.Errorf("%s is tested as %s and as %s, want one of them", p, how[p], kind)
			}
			how[p] = kind
		}
	}
	all := list("scripts/packages", "all")
	for _, p := range list("go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}", "./...") {
		if how[p] == "" || !slices.Contains(all, p) {
			t.Errorf("make test leaves %s out", p)
		}
	}
	for p, want := range map[string]string{"lyceum/internal/runtime": "race", "lyceum/internal/event": "plain", "lyceum/internal/cli": "outside"} {
		if how[p] != want {
			t.Errorf("%s is tested as %q, want %q", p, how[p], want)
		}
	}
}

// TestScriptsHaveNoFixedNames: a file of a fixed name in /tmp shuts the second user out.
func TestScriptsHaveNoFixedNames(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, "scripts", "*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("the scripts: got %d, %v", len(files), err)
	}
	for _, path := range append(files, filepath.Join(root, "Makefile"), filepath.Join(root, ".ci", "run")) {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if strings.Contains(line, "/tmp/") && !strings.HasPrefix(strings.TrimSpace(line), "#") {
				t.Errorf("%s:%d names a file in /tmp: use mktemp", filepath.Base(path), i+1)
			}
		}
	}
}

package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// begins are the functions in which a context begins that main has not made, and how
// often: what they start outlives whoever asked for it. Each says why in a comment.
var begins = map[string]int{
	"cmd/lyceum/main.go main":                             1,
	"internal/api/api.go New":                             1,
	"internal/api/keeper.go newKeeper":                    1,
	"internal/api/shelf_save.go pack":                     1,
	"internal/blob/fs/fs.go Open":                         1,
	"internal/blob/fs/pack.go farewell":                   1,
	"internal/blob/s3/s3test/servers/strict/main.go main": 1,
	"internal/computer/cgroup/cgroup.go Make":             1,
	"internal/computer/open.go Open":                      1,
	"internal/computer/terminal.go Join":                  1,
	"internal/ledger/postgres/store.go open":              1,
	"internal/ledger/sqlite/migrate.go copyBefore":        1,
	"internal/ledger/sqlite/store.go open":                1,
	"internal/mcp/conform/main.go main":                   1,
	"internal/model/provider/provider.go ready":           1,
	"internal/notify/notify.go run":                       1,
	"internal/runtime/live.go settleDown":                 1,
	"internal/runtime/machine.go leave":                   1,
	"internal/runtime/station.go end":                     1,
	"internal/vouch/office.go Open":                       1,
}

// hearers are the functions that turn signals into the end of a context.
var hearers = map[string]int{
	"internal/cli/cli.go Main":    1,
	"internal/cli/shell.go shell": 1,
}

func TestContextsComeFromMain(t *testing.T) {
	t.Parallel()
	fresh, heard := map[string]int{}, map[string]int{}
	eachFunction(t, func(place string, f *ast.File, fn *ast.FuncDecl) {
		ast.Inspect(fn, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			switch name := sel.Sel.Name; {
			case !ok:
			case x.Name == "context" && (name == "Background" || name == "TODO"):
				if fresh[place]++; !explained(f, fn, sel.Pos()) {
					t.Errorf("%s begins a context, and no comment says why", place)
				}
			case x.Name == "signal" && name == "NotifyContext":
				heard[place]++
			}
			return true
		})
	})
	compare(t, "begins a context of its own: pass on the one that main made", fresh, begins)
	compare(t, "listens for signals itself: the context that main made ends with them", heard, hearers)
}

func compare(t *testing.T, what string, got, want map[string]int) {
	t.Helper()
	for _, place := range slices.Sorted(maps.Keys(got)) {
		if got[place] > want[place] {
			t.Errorf("the function %s %s", place, what)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(want)) {
		if got[place] < want[place] {
			t.Errorf("%s is on the list of what %s, and does not: take it off", place, what)
		}
	}
}

// explained reports whether a comment of a function stands before a place in it.
func explained(f *ast.File, fn *ast.FuncDecl, at token.Pos) bool {
	begin := fn.Pos()
	if fn.Doc != nil {
		begin = fn.Doc.Pos()
	}
	return slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool { return c.Pos() >= begin && c.Pos() < at })
}

// eachFunction parses the functions of the product. The suites of drivers and the
// simulator are tests, wherever they stand.
func eachFunction(t *testing.T, look func(place string, f *ast.File, fn *ast.FuncDecl)) {
	t.Helper()
	fset := token.NewFileSet()
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d os.DirEntry, err error) error {
			rel, _ := filepath.Rel(root, file)
			rel = filepath.ToSlash(rel)
			if err != nil || d.IsDir() || !strings.HasSuffix(rel, ".go") || isTest(rel) {
				return err
			}
			f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					look(rel+" "+fn.Name.Name, f, fn)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func isTest(file string) bool {
	dir, base := path.Split(file)
	simulator := strings.HasPrefix(base, "simulate") || strings.HasPrefix(base, "invariants")
	return strings.HasSuffix(base, "_test.go") || strings.HasSuffix(dir, "test/") || simulator && dir == "internal/runtime/"
}

package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostLines is how long a function may be without a word about it.
const mostLines = 80

// TestALongFunctionSaysWhy: its comment has the word long.
func TestALongFunctionSaysWhy(t *testing.T) {
	t.Parallel()
	fset, functions := token.NewFileSet(), 0
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			for _, decl := range f.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				functions++
				lines := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
				if lines > mostLines && !strings.Contains(fn.Doc.Text(), "long") {
					t.Errorf("%s: %s has %d lines: take it apart, or say in its comment why it is long", file, fn.Name.Name, lines)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if functions < 3000 {
		t.Fatalf("only %d functions looked at", functions)
	}
}

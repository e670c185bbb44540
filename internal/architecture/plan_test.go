package architecture

import (
	"go/ast"
	"testing"
)

// TestPlansAreMadeOfDrafts: what may be asked for is decided in one place.
func TestPlansAreMadeOfDrafts(t *testing.T) {
	t.Parallel()
	drafts := 0
	eachFunction(t, func(place string, _ *ast.File, fn *ast.FuncDecl) {
		ast.Inspect(fn, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			sel, ok := lit.Type.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch x, _ := sel.X.(*ast.Ident); {
			case x == nil || x.Name != "runtime":
			case sel.Sel.Name == "Plan":
				t.Errorf("%s puts a runtime.Plan together itself: let a runtime.Draft make it", place)
			case sel.Sel.Name == "Draft":
				drafts++
			}
			return true
		})
	})
	if drafts < 2 {
		t.Errorf("%d drafts are made, want those of the command line and the API", drafts)
	}
}

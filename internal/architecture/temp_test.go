package architecture

import (
	"go/ast"
	"strings"
	"testing"
)

// TestTemporaryFoldersAreSwept: whoever needs a folder for temporary files has it of package
// scratch, so that what a killed process left does not stay for ever.
func TestTemporaryFoldersAreSwept(t *testing.T) {
	t.Parallel()
	made := 0
	each(t, func(file string, f *ast.File) {
		if strings.Contains(file, "test/") { // what tests are made of
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || s.Sel.Name != "MkdirTemp" {
				return true
			}
			if made++; !strings.HasPrefix(file, "scratch/") {
				t.Errorf("%s calls MkdirTemp: use scratch.New", file)
			}
			return true
		})
	})
	if made == 0 {
		t.Error("nobody makes folders for temporary files: what was looked at?")
	}
}

package architecture

import (
	"go/ast"
	"path"
	"strings"
	"testing"
)

// shown are the packages, and those below them, whose JSON is for other ends that expect
// Go's habits: clients of the API, of the Agent Client Protocol and of MCP, readers of --json, the
// helper inside a computer, a Docker engine. All others record JSON, hash it, or read what
// strangers wrote.
var shown = []string{"acp", "api", "cli", "computer", "executor", "mcp/server", "view"}

// TestOneJSONLibraryInAPackage: CONTRIBUTING.md says when which.
func TestOneJSONLibraryInAPackage(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	each(t, func(file string, f *ast.File) {
		goes := false
		for _, dir := range shown {
			goes = goes || strings.HasPrefix(file, dir+"/")
		}
		for _, i := range f.Imports {
			name := strings.Trim(i.Path.Value, `"`)
			switch {
			case name == "encoding/json":
				count[name]++
				if !goes {
					t.Errorf("%s imports %s: package %s uses go-json-experiment", file, name, path.Dir(file))
				}
			case strings.HasPrefix(name, "encoding/json/"), strings.HasPrefix(name, "github.com/go-json-experiment/json"):
				count["strict"]++
				if goes {
					t.Errorf("%s imports %s: package %s uses encoding/json", file, name, path.Dir(file))
				}
			}
		}
	})
	if count["encoding/json"] < 10 || count["strict"] < 30 {
		t.Errorf("%d files import encoding/json and %d the other library, want at least 10 and 30: what was looked at?", count["encoding/json"], count["strict"])
	}
}

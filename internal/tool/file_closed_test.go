package tool

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/computer"
)

// TestEveryToolDeclaresItsPaths: what a schema describes as a path of the workspace is
// declared, and what is declared is there.
func TestEveryToolDeclaresItsPaths(t *testing.T) {
	t.Parallel()
	for name, e := range Builtin().entries {
		for arg, s := range e.form().schema.Schema().Properties {
			if about := strings.Contains(s.Description, "relative to the workspace"); about != slices.Contains(e.tool.Paths, arg) {
				t.Errorf("%s: the argument %s is described as %q, and declared as a path: %v", name, arg, s.Description, !about)
			}
		}
		for _, arg := range e.tool.Paths {
			if e.form().schema.Schema().Properties[arg] == nil {
				t.Errorf("%s declares the path %s, which is no argument of it", name, arg)
			}
		}
		if e.tool.Reads && e.tool.Writes {
			t.Errorf("%s says that it only reads, and that it writes", name)
		}
	}
}

// TestACommandDoesNotBeginInAClosedFolder: neither by its name nor through a link.
func TestACommandDoesNotBeginInAClosedFolder(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.must(os.Symlink("sub", filepath.Join(w.dir, "linked")))
	for _, tool := range []string{"exec", "start"} {
		for dir, taken := range map[string]bool{"sub": false, "linked": false, "linked/more": false, "./sub//": false, ".": true} {
			on := &fake{begin: func(c *fakeCommand) { c.ends(computer.Result{}) }}
			got := Builtin().Run(t.Context(), tool, Call{ID: "c1", Args: []byte(`{"command":"true","dir":"` + dir + `"}`), Home: w.root, Computer: on, Closed: []string{"sub"}})
			if ran := len(on.known) > 0; ran != taken || got.Error == taken {
				t.Errorf("%s in %s: got %q, and it ran: %v; want %v", tool, dir, got.Text, ran, taken)
			}
		}
	}
}

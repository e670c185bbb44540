package computer

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"lyceum/internal/workspace"
)

// TestAGuardKeepsWritersWhereTheyMay: by where a path leads, not by what it says.
func TestAGuardKeepsWritersWhereTheyMay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "out", "deep"), 0o755), os.Mkdir(filepath.Join(dir, "src"), 0o755), os.Symlink("../src", filepath.Join(dir, "out", "back")), os.Symlink("out", filepath.Join(dir, "in"))); err != nil {
		t.Fatal(err)
	}
	home, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	g := &Guard{Bounds: workspace.Bounds{Write: []string{"out"}, Hide: []string{".env"}}}
	for name, may := range map[string]bool{
		"out/new": true, "out/deep/er/new": true, "src/new": false, "out/back/new": false, "in/new": false, "new": false, ".": false, "out/.env": false, "out/.ENV/x": false, "outer/new": false,
	} {
		if err := g.MayWrite(home, name); (err == nil) != may {
			t.Errorf("write to %s: got %v, want it to be allowed: %v", name, err, may)
		}
	}
	if err := (&Guard{}).MayWrite(home, "src/new"); err != nil {
		t.Errorf("without bounds: got %v", err)
	}
}

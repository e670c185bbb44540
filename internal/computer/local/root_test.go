package local

import (
	"path/filepath"
	"slices"
	"testing"

	"lyceum/internal/computer"
	"lyceum/internal/computer/cell"
)

// What TeX was installed with is shown where it is, and nothing is made up where it is not.
func TestWhatProgramsHaveMadeIsShown(t *testing.T) {
	there := t.TempDir()
	was := made
	t.Cleanup(func() { made = was })
	made = []string{there, filepath.Join(there, "missing")}
	parts := (&Launch{Boot: &computer.Boot{Home: t.TempDir()}}).Root()
	if want := (cell.Part{Kind: cell.Show, Path: there, From: there}); !slices.Contains(parts, want) {
		t.Errorf("the computer does not show %s", there)
	}
	if slices.ContainsFunc(parts, func(p cell.Part) bool { return p.Path == made[1] }) {
		t.Error("the computer shows a folder that is not there")
	}
	if !slices.Contains(was, "/var/lib/texmf") || !slices.Contains(settings, "texmf") {
		t.Error("the formats or the settings of TeX are not among what is shown")
	}
}

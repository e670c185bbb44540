package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThePageHasTheTable(t *testing.T) {
	t.Parallel()
	if err := run("../../..", true); err != nil {
		t.Error(err)
	}
}

func TestAStaleTableIsTold(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := run(root, false); err != nil {
		t.Fatalf("write the table: %v", err)
	}
	if err := run(root, true); err != nil {
		t.Errorf("of what was just written: got %v, want that it is fresh", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), `\u{feff}`, "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err == nil || !strings.Contains(err.Error(), "make generate") {
		t.Errorf("of a table without the byte-order mark: got %v, want that it is stale and what to run", err)
	}
}

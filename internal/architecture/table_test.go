package architecture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table of packages in docs/ARCHITECTURE.md stands between these lines.
const (
	tableBegins = "<!-- packages: made of internal/architecture/layers_test.go -->\n"
	tableEnds   = "<!-- end of packages -->\n"
)

// table is the layers as a page shows them.
func table() string {
	var b strings.Builder
	b.WriteString("| package | what it owns | may import |\n|---|---|---|\n")
	for _, l := range layers {
		owns := l.owns
		if isPure(l.name + "/x.go") {
			owns += " *(pure)*"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", l.name, owns, strings.Join(l.below, ", "))
	}
	return b.String()
}

// TestTheTableOfPackages holds the document to the rule that the tests enforce.
//
//	go test ./internal/architecture -run TheTableOfPackages -update
func TestTheTableOfPackages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(root, "docs", "ARCHITECTURE.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), tableBegins)
	old, after, ended := strings.Cut(rest, tableEnds)
	if !found || !ended {
		t.Fatalf("docs/ARCHITECTURE.md has no table between %q and %q", tableBegins, tableEnds)
	}
	switch {
	case old == table():
	case *update:
		if err := os.WriteFile(path, []byte(before+tableBegins+table()+tableEnds+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("the table in docs/ARCHITECTURE.md is not that of layers_test.go. Run: go test ./internal/architecture -run TheTableOfPackages -update")
	}
}

package architecture

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "put imports in order, and the table of packages into its page, instead of complaining")

// TestImportsAreInOrder: the standard library, a blank line, our own packages, a blank
// line, those of others; each group sorted. To have it done:
//
//	go test ./internal/architecture -run ImportsAreInOrder -update
func TestImportsAreInOrder(t *testing.T) {
	t.Parallel()
	files := 0
	for _, dir := range []string{"bench", "cmd", "examples", "internal", "scripts", "web"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "node_modules" {
				return fs.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(path, ".go") {
				return nil
			}
			files++
			return inOrder(t, path)
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if files < 300 {
		t.Errorf("only %d files looked at, want at least 300", files)
	}
}

func inOrder(t *testing.T, path string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	want, err := ordered(source)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	switch {
	case bytes.Equal(source, want):
	case *update:
		return os.WriteFile(path, want, 0o644)
	default:
		t.Errorf("%s: its imports are not in order: standard library, our own, others. Run: go test ./internal/architecture -run ImportsAreInOrder -update", path)
	}
	return nil
}

// line is one import, with its comments.
type line struct{ path, text string }

// ordered is the source with its first block of imports in order.
func ordered(source []byte) ([]byte, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", source, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		block, ok := d.(*ast.GenDecl)
		if !ok || !block.Lparen.IsValid() {
			continue
		}
		at := func(p token.Pos) int { return set.Position(p).Offset }
		groups, err := grouped(source, f, block, at)
		if err != nil {
			return nil, err
		}
		var parts []string
		for _, g := range groups {
			slices.SortFunc(g, func(a, b line) int { return strings.Compare(a.path, b.path) })
			part := ""
			for _, l := range g {
				part += "\t" + l.text + "\n"
			}
			if part != "" {
				parts = append(parts, part)
			}
		}
		return format.Source(slices.Concat(source[:at(block.Lparen)+1], []byte("\n"+strings.Join(parts, "\n")), source[at(block.Rparen):]))
	}
	return source, nil
}

// grouped are the imports of a block by their places. A comment that belongs to none of
// them would be lost, so it is an error.
func grouped(source []byte, f *ast.File, block *ast.GenDecl, at func(token.Pos) int) (groups [3][]line, err error) {
	held := map[*ast.CommentGroup]bool{}
	for _, s := range block.Specs {
		spec := s.(*ast.ImportSpec)
		start, end := spec.Pos(), spec.End()
		if spec.Doc != nil {
			start = spec.Doc.Pos()
		}
		if spec.Comment != nil {
			end = spec.Comment.End()
		}
		held[spec.Doc], held[spec.Comment] = true, true
		name := strings.Trim(spec.Path.Value, `"`)
		groups[group(name)] = append(groups[group(name)], line{name, string(source[at(start):at(end)])})
	}
	for _, c := range f.Comments {
		if c.Pos() > block.Lparen && c.End() < block.Rparen && !held[c] {
			return groups, fmt.Errorf("a comment between imports belongs to none of them: %q", c.Text())
		}
	}
	return groups, nil
}

// group is the place of an import: 0 the standard library, 1 our own, 2 others.
func group(name string) int {
	first, _, _ := strings.Cut(name, "/")
	switch {
	case first == "lyceum":
		return 1
	case strings.Contains(first, "."):
		return 2
	}
	return 0
}

func TestOrdered(t *testing.T) {
	t.Parallel()
	const want = "package a\n\nimport (\n\t_ \"embed\" // texts\n\t\"os\"\n\n\tblobfs \"lyceum/internal/blob/fs\"\n\t\"lyceum/internal/event\"\n\n\t\"example.org/b\"\n)\n\nvar x = 1\n"
	for name, source := range map[string]string{
		"AsItShouldBe":   want,
		"OthersFirst":    "package a\n\nimport (\n\t_ \"embed\" // texts\n\t\"os\"\n\n\t\"example.org/b\"\n\n\tblobfs \"lyceum/internal/blob/fs\"\n\t\"lyceum/internal/event\"\n)\n\nvar x = 1\n",
		"InOneGroup":     "package a\n\nimport (\n\t\"lyceum/internal/event\"\n\t\"os\"\n\t\"example.org/b\"\n\tblobfs \"lyceum/internal/blob/fs\"\n\t_ \"embed\" // texts\n)\n\nvar x = 1\n",
		"InMoreThanFour": "package a\n\nimport (\n\t\"os\"\n\n\t_ \"embed\" // texts\n\n\t\"lyceum/internal/event\"\n\n\tblobfs \"lyceum/internal/blob/fs\"\n\n\t\"example.org/b\"\n)\n\nvar x = 1\n",
	} {
		got, err := ordered([]byte(source))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	if got, err := ordered([]byte("package a\n\nimport (\n\t\"os\"\n\n\t// Lost.\n\n\t\"io\"\n)\n")); err == nil {
		t.Errorf("a comment that belongs to no import: got %q, want an error", got)
	}
	const alone = "package a\n\nimport \"os\"\n"
	if got, err := ordered([]byte(alone)); err != nil || string(got) != alone {
		t.Errorf("one import without a block: got %q and %v, want it as it was", got, err)
	}
}

// Pagetable writes web/src/text/hidden.ts, by which the page knows the characters that people are not shown: those of
// the one table of package plain.
//
// With -check it writes nothing, and fails when the file is not what the table says. It runs in the root of the module.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"lyceum/internal/plain"
)

// file is where the page has it.
const file = "web/src/text/hidden.ts"

func main() {
	check := flag.Bool("check", false, "write nothing; fail if "+file+" is stale")
	flag.Parse()
	if err := run(".", *check); err != nil {
		fmt.Fprintln(os.Stderr, "pagetable:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	path := filepath.Join(root, filepath.FromSlash(file))
	if !check {
		return os.WriteFile(path, written(), 0o644)
	}
	got, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(got, written()) {
		err = errors.New(file + " is not what internal/plain/table.go says: run make generate, then make web")
	}
	return err
}

func written() []byte {
	var b bytes.Buffer
	b.WriteString("// Made by make generate from internal/plain/table.go. Do not edit.\n")
	declare(&b, "hidden", "are the characters that people are not shown, as the inside of a class with the flag u.", func(r rune) bool {
		return plain.People.Has(r) && !plain.Shaping.Has(r)
	})
	declare(&b, "shaping", "are those that stay behind writing which they shape.", plain.Shaping.Has)
	return b.Bytes()
}

// declare writes a set of characters under a name, six ranges in a line.
func declare(b *bytes.Buffer, name, says string, in func(rune) bool) {
	fmt.Fprintf(b, "\n/** %s %s */\nexport const %s = [\n", name, says, name)
	for ranges := range slices.Chunk(class(in), 6) {
		fmt.Fprintf(b, "  String.raw`%s`,\n", strings.Join(ranges, ""))
	}
	b.WriteString("].join('')\n")
}

// class are the ranges of a set of characters as JavaScript writes them.
func class(in func(rune) bool) (out []string) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !in(r) {
			continue
		}
		first := r
		for r < unicode.MaxRune && in(r+1) {
			r++
		}
		part := fmt.Sprintf(`\u{%x}`, first)
		if r > first {
			part += fmt.Sprintf(`-\u{%x}`, r)
		}
		out = append(out, part)
	}
	return out
}

// Eventdoc writes docs/events.md, the page on what can stand in a ledger, from
// the source of package event: the catalogue, the structs and their comments.
//
// With -check it writes nothing, and fails when the page is not what the source
// says. It runs from any folder of the module.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

const usage = `usage: eventdoc [-check]

Writes docs/events.md from the source of internal/event.

`

func main() {
	check := flag.Bool("check", false, "write nothing; fail if docs/events.md is stale")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(".", *check); err != nil {
		fmt.Fprintln(os.Stderr, "eventdoc:", err)
		os.Exit(1)
	}
}

var errStale = errors.New("docs/events.md is stale: run go generate ./internal/event")

// run writes or checks the page of the module that holds folder.
func run(folder string, check bool) error {
	root, err := moduleRoot(folder)
	if err != nil {
		return err
	}
	c, err := readCatalogue(filepath.Join(root, "internal", "event"))
	if err != nil {
		return err
	}
	page := filepath.Join(root, "docs", "events.md")
	want := c.markdown()
	if !check {
		return os.WriteFile(page, want, 0o644)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errStale
	}
	return nil
}

func moduleRoot(folder string) (string, error) {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod in %s or above it: run this inside the module", folder)
		}
		dir = parent
	}
}

package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// maxGlobbed bounds the bytes of a list of paths, each of which may be long.
const maxGlobbed = 128 << 10

// Glob returns the tool glob.
func Glob() Tool {
	return Tool{
		Tool: model.Tool{
			Name: "glob",
			Description: "Finds files and folders of your workspace by name, hidden ones too. In the pattern * is any text within a name, ? any character, [a-z] one of some, {a,b} either, " +
				"and ** any number of folders: **/*.csv finds all CSV files. At most 1000 are listed. Links are not followed, and .git and what .gitignore files name are left out.",
			Schema: `{"type":"object","properties":{` +
				`"pattern":{"type":"string","minLength":1,"maxLength":1000,"description":"The pattern, relative to the path."},` +
				`"path":{"type":"string","description":"Folder to look in, relative to the workspace; the workspace itself if left out."},` + ignoredSchema +
				`},"required":["pattern"],"additionalProperties":false}`,
		},
		Repeatable: true,
		Reads:      true,
		Paths:      []string{"path"},
		Run: func(ctx context.Context, c Call) (string, error) {
			args := struct {
				Pattern string `json:"pattern"`
				Path    string `json:"path"`
				Ignored bool   `json:"ignored"`
			}{Path: "."}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			return glob(ctx, c.room(), args.Path, args.Pattern, args.Ignored)
		},
	}
}

func glob(ctx context.Context, home room, path, text string, ignored bool) (string, error) {
	patterns, err := parsePattern(text)
	if err != nil {
		return "", err
	}
	base, err := folder(home, path)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	count, full := 0, false
	w := &walk{home: home, rules: home.ignoring(ignored)}
	w.enter = func(path string) bool {
		_, below := matchAny(patterns, base, path)
		return below
	}
	w.visit = func(path string, entry fs.DirEntry) error {
		if whole, _ := matchAny(patterns, base, path); !whole {
			return nil
		}
		line := label(path)
		switch {
		case entry.IsDir():
			line += "/"
		case !entry.Type().IsRegular():
			line += "  (" + nature(entry.Type()) + ")"
		}
		if count == maxListed || b.Len()+len(line) > maxGlobbed {
			full = true
			return errEnough
		}
		count++
		b.WriteString(line + "\n")
		return nil
	}
	if err := w.folder(ctx, base, 0); err != nil && !errors.Is(err, errEnough) {
		return "", err
	}
	if full {
		fmt.Fprintf(&b, "(there are more than these %d; give a narrower pattern or a path)\n", count)
	}
	if count == 0 {
		fmt.Fprintf(&b, "(nothing matches; %d files and folders were looked at)\n", w.seen)
	}
	return b.String() + w.notes(), nil
}

// folder returns the plain path of a folder.
func folder(home room, path string) (string, error) {
	f, info, err := open(home, path)
	if err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", inWords(path, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is a file; give the path of a folder", short(path))
	}
	return local(home, path)
}

// matchAny matches a path, seen from base, with several patterns.
func matchAny(patterns []pattern, base, path string) (whole, below bool) {
	rel, err := filepath.Rel(base, path)
	if err != nil {
		return false, false
	}
	for _, p := range patterns {
		w, b := p.match(rel)
		whole, below = whole || w, below || b
	}
	return whole, below
}

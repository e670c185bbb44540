package tool

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// ListFiles returns the tool list_files.
func ListFiles() Tool {
	return Tool{
		Tool: model.Tool{
			Name:        "list_files",
			Description: "Lists the files in a folder of your workspace, with their sizes in bytes; folders end in /. What .gitignore files name is left out, and said; .git is not shown.",
			Schema:      `{"type":"object","properties":{"path":{"type":"string","description":"Path of the folder, relative to the workspace; the workspace itself if left out."},` + ignoredSchema + `},"additionalProperties":false}`,
		},
		Repeatable: true,
		Reads:      true,
		Paths:      []string{"path"},
		Run: func(ctx context.Context, c Call) (string, error) {
			args := struct {
				Path    string `json:"path"`
				Ignored bool   `json:"ignored"`
			}{Path: "."}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			return list(ctx, c.room(), args.Path, args.Ignored)
		},
	}
}

func list(ctx context.Context, home room, path string, ignored bool) (string, error) {
	f, info, err := open(home, path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if !info.IsDir() {
		return "", fmt.Errorf("%s is a file of %d bytes; read_file shows it", path, info.Size())
	}
	var names []string
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		some, err := f.Readdirnames(1000)
		names = append(names, some...)
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", inWords(path, err)
		}
		if len(names) > maxEntries {
			return "", fmt.Errorf("%s has more than %d entries", path, maxEntries)
		}
	}
	if len(names) == 0 {
		return "(empty folder)", nil
	}
	folder, err := local(home, path)
	if err != nil {
		return "", err
	}
	slices.Sort(names)
	var shut []string
	rules := home.ignoring(ignored)
	names = slices.DeleteFunc(names, func(name string) bool {
		at := filepath.Join(folder, name)
		if dir := home.closes(at); dir != "" {
			shut = append(shut, dir)
			return true
		}
		info, err := home.Lstat(at)
		return err == nil && rules.leaves(at, info.IsDir())
	})
	if len(names) == 0 {
		return rules.notes() + leftOut(shut), ctx.Err()
	}
	var b strings.Builder
	for _, name := range names[:min(len(names), maxListed)] {
		b.WriteString(line(home, folder, name))
	}
	if more := len(names) - maxListed; more > 0 {
		fmt.Fprintf(&b, "(and %d more)\n", more)
	}
	return b.String() + rules.notes() + leftOut(shut), ctx.Err()
}

func line(home room, folder, name string) string {
	shown := label(name)
	info, err := home.Lstat(filepath.Join(folder, name))
	switch {
	case err != nil: // gone since
		return shown + "\n"
	case info.IsDir():
		return shown + "/\n"
	case info.Mode().IsRegular():
		return fmt.Sprintf("%s  %d\n", shown, info.Size())
	}
	return fmt.Sprintf("%s  (%s)\n", shown, nature(info.Mode()))
}

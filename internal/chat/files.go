package chat

import (
	"slices"
	"strings"
)

// Files are the paths that a text names with @path, or @"a path" if there are spaces in it. A
// word such as @alice, which has neither a dot nor a slash in it, names somebody and no file.
func Files(text string) (paths []string) {
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || i > 0 && !strings.ContainsRune(" \t\n(", rune(text[i-1])) {
			continue
		}
		rest := text[i+1:]
		path := ""
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			end := strings.IndexByte(quoted, '"')
			if end < 0 {
				continue
			}
			path = quoted[:end]
		} else {
			path = rest
			if end := strings.IndexAny(rest, " \t\n"); end >= 0 {
				path = rest[:end]
			}
			if path = strings.TrimRight(path, ".,;:!?)"); !strings.ContainsAny(path, "./") {
				continue
			}
		}
		if path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

package repo

import (
	"path"
	"strings"

	"lyceum/internal/workspace"
)

// leadsOut reports whether a link at a path leads out of the tree that it is in, into .git, or
// through another link. isLink knows those of the tree.
func leadsOut(at, target string, isLink func(path string) bool) bool {
	if target == "" || path.IsAbs(target) {
		return true
	}
	var stack []string
	if dir := path.Dir(at); dir != "." {
		stack = strings.Split(dir, "/")
	}
	parts := strings.Split(target, "/")
	for i, part := range parts {
		switch part {
		case "", ".":
			continue
		case "..":
			if len(stack) == 0 {
				return true
			}
			stack = stack[:len(stack)-1]
			continue
		}
		if workspace.Odd(part) != "" {
			return true
		}
		if stack = append(stack, part); i < len(parts)-1 && isLink(strings.Join(stack, "/")) {
			return true
		}
	}
	return false
}

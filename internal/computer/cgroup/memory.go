package cgroup

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MemoryOf is how many bytes of memory the control groups of a process leave it, 0 if they leave
// it all there is: the least of its own group's limit and of those above. root is where the groups
// are mounted, self the list of those the process is in.
func MemoryOf(root, self string) int64 {
	lines, err := os.ReadFile(self)
	if err != nil {
		return 0
	}
	least := int64(math.MaxInt64)
	for l := range strings.Lines(string(lines)) {
		f := strings.SplitN(strings.TrimSpace(l), ":", 3)
		if len(f) != 3 {
			continue
		}
		top, file := root, "memory.max"
		switch {
		case f[1] == "" && f[0] == "0":
		case f[1] == Memory:
			top, file = filepath.Join(root, Memory), "memory.limit_in_bytes"
		default:
			continue
		}
		// In a container the path may be that outside, of which nothing is here but the top.
		for dir := filepath.Join(top, filepath.Join("/", f[2])); strings.HasPrefix(dir, top); dir = filepath.Dir(dir) {
			text, err := os.ReadFile(filepath.Join(dir, file))
			if n, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil && n > 0 {
				least = min(least, n)
			}
		}
	}
	if least >= 1<<60 { // version 1 says so of no limit
		return 0
	}
	return least
}

package relation

import (
	"slices"
	"strings"
)

// Lines are nodes as agents read them: type, description, status, id and parents, each below what it is part
// of and indented by that. A node with several parents stands below the first of them that is shown.
// What has no room in so many bytes is left out whole, with all that stands below it, and named.
func (g *Graph) Lines(show []string, room int) (lines, left []string) {
	in := map[string]bool{}
	for _, id := range show {
		in[id] = true
	}
	below := map[string][]*Node{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if !in[n.ID] {
			continue
		}
		under := "" // no id is empty
		if j := slices.IndexFunc(n.Parents, func(p string) bool { return in[p] }); j >= 0 {
			under = n.Parents[j]
		}
		below[under] = append(below[under], n)
	}
	var tell func(under string, depth int, shown bool)
	tell = func(under string, depth int, shown bool) {
		for _, n := range below[under] {
			line := strings.Repeat("  ", min(depth, maxDepth)) + n.Line()
			fits := shown && len(line)+1 <= room
			if fits {
				room -= len(line) + 1
				lines = append(lines, line)
			} else {
				left = append(left, n.ID)
			}
			tell(n.ID, depth+1, fits)
		}
	}
	tell("", 0, true)
	return lines, left
}

// maxDepth is how far a line is indented at most.
const maxDepth = 20

// Line is a node in a line: type, description, [status], (parents).
func (n *Node) Line() string {
	line := n.Type + " " + n.ID
	if n.Description != "" {
		line += ": " + n.Description
	}
	line += " [" + n.Status + "]"
	if len(n.Parents) > 0 {
		line += " (" + strings.Join(n.Parents, ", ") + ")"
	}
	return line
}

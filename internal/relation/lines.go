package relation

import (
	"iter"
	"slices"
	"strings"
)

// Lines are nodes as agents read them: type, description, status, id and parents, each below what it is part
// of and indented by that. A node with several parents stands below the first of them that is shown.
// What has no room in so many bytes is left out whole, with all that stands below it, and named.
func (g *Graph) Lines(show []string, room int) (lines, left []string) {
	out := -1 // how deep the node stands that was left out, as long as what follows is below it
	for n, depth := range g.Outline(show) {
		line := strings.Repeat("  ", min(depth, maxDepth)) + n.Line()
		switch {
		case out >= 0 && depth > out:
			left = append(left, n.ID)
		case len(line)+1 <= room:
			out = -1
			room -= len(line) + 1
			lines = append(lines, line)
		default:
			out = depth
			left = append(left, n.ID)
		}
	}
	return lines, left
}

// Outline are nodes, each once and below what it is part of, with how deep it stands. A node with several
// parents stands below the first of them that is shown.
func (g *Graph) Outline(show []string) iter.Seq2[*Node, int] {
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
	return func(yield func(*Node, int) bool) {
		var tell func(under string, depth int) bool
		tell = func(under string, depth int) bool {
			for _, n := range below[under] {
				if !yield(n, depth) || !tell(n.ID, depth+1) {
					return false
				}
			}
			return true
		}
		tell("", 0)
	}
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

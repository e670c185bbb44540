package trial

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// Surprise is how far each expectation was from what was seen: the square of the difference, in
// millionths; and their mean, rounded down. Of nothing that was seen there is none.
func Surprise(expect []event.WorldExpectation, held []bool) (each []int64, mean int64) {
	if len(held) != len(expect) || len(held) == 0 {
		return nil, 0
	}
	sum := int64(0)
	for i, x := range expect {
		d := x.Probability
		if held[i] {
			d -= 1000
		}
		each = append(each, d*d)
		sum += d * d
	}
	return each, sum / int64(len(each))
}

// maxChanges is how many changes are told.
const maxChanges = 10

// change is something that is otherwise than before: what is gone, what is new.
type change struct {
	text     string
	foreseen bool
}

// Unforeseen counts the changes that no condition speaks of, and tells the first. A node that is
// otherwise is one change; where the focus is counts as none, as every step moves it.
func Unforeseen(before, after Sight, conditions []event.WorldCondition) (int64, []string) {
	all := nodeChanges(before, after, conditions)
	if before.Title != after.Title {
		all = append(all, change{fmt.Sprintf("title %s", quoted(after.Title)), speaks(conditions, "title", "", nil)})
	}
	for _, l := range []struct {
		kind          string
		before, after []string
	}{{"console", before.Console, after.Console}, {"dialog", before.Dialogs, after.Dialogs}, {"request", urls(before), urls(after)}} {
		for _, line := range surplus(l.before, l.after) {
			all = append(all, change{l.kind + " " + quoted(line), speaks(conditions, l.kind, "", &line)})
		}
	}
	all = append(all, programChanges(before, after, conditions)...)
	var n int64
	var told []string
	for _, c := range all {
		if c.foreseen {
			continue
		}
		if n++; n <= maxChanges {
			told = append(told, plain.Brief(c.text, 200))
		}
	}
	return n, told
}

// speaks reports whether a condition is about this: of its kind, its path, and, where it is about
// a line, with a text that the line fits.
func speaks(conditions []event.WorldCondition, kind, path string, line *string) bool {
	return slices.ContainsFunc(conditions, func(c event.WorldCondition) bool {
		return c.Kind == kind && c.Path == path && (line == nil || alike(c, *line))
	})
}

func programChanges(before, after Sight, conditions []event.WorldCondition) (all []change) {
	for _, x := range []struct {
		kind, text string
		is         bool
	}{
		{"exit", fmt.Sprintf("exit %d", after.Exit), before.Exit != after.Exit},
		{"output", "output " + quoted(after.Output), before.Output != after.Output},
		{"error", "error " + quoted(after.Errors), before.Errors != after.Errors},
	} {
		if x.is {
			all = append(all, change{x.text, speaks(conditions, x.kind, "", nil)})
		}
	}
	was := map[string]string{}
	for _, f := range before.Files {
		was[f.Path] = f.Content
	}
	for _, f := range after.Files {
		if old, ok := was[f.Path]; !ok || old != f.Content {
			all = append(all, change{"file " + quoted(f.Path), speaks(conditions, "file", f.Path, nil)})
		}
		delete(was, f.Path)
	}
	for _, f := range before.Files {
		if _, gone := was[f.Path]; gone {
			all = append(all, change{"file gone " + quoted(f.Path), speaks(conditions, "file", f.Path, nil)})
		}
	}
	return all
}

// surplus are the lines of after that before does not have as often.
func surplus(before, after []string) (list []string) {
	left := map[string]int{}
	for _, l := range before {
		left[l]++
	}
	for _, l := range after {
		if left[l]--; left[l] < 0 {
			list = append(list, l)
		}
	}
	return list
}

// nodeChanges pairs, by role, what is gone with what is new: each pair is one change.
func nodeChanges(before, after Sight, conditions []event.WorldCondition) (all []change) {
	gone, fresh := differing(before.Nodes, after.Nodes), differing(after.Nodes, before.Nodes)
	was, is := spoken(before.Nodes, conditions), spoken(after.Nodes, conditions)
	for _, i := range fresh {
		n := after.Nodes[i]
		c := change{"new " + told(n), is[i]}
		if at := slices.IndexFunc(gone, func(g int) bool { return before.Nodes[g].Role == n.Role }); at >= 0 {
			old := gone[at]
			gone = slices.Delete(gone, at, at+1)
			c = change{told(before.Nodes[old]) + " became " + told(n), is[i] || was[old]}
		}
		all = append(all, c)
	}
	for _, i := range gone {
		all = append(all, change{"gone " + told(before.Nodes[i]), was[i]})
	}
	return all
}

func told(n Node) string {
	n.Depth, n.Focused = 0, false
	return strings.TrimSuffix(Lines([]Node{n}), "\n")
}

// differing are the nodes that the other tree does not have as often.
func differing(nodes, other []Node) (list []int) {
	left := map[string]int{}
	for _, n := range other {
		left[told(n)]++
	}
	for i, n := range nodes {
		if n.Name == "" && n.Value == "" && !n.Checked && !n.Disabled {
			continue // what has no name is only where others are
		}
		if left[told(n)]--; left[told(n)] < 0 {
			list = append(list, i)
		}
	}
	return list
}

// spoken says of each node whether a condition is about it, or about one that it is inside.
func spoken(nodes []Node, conditions []event.WorldCondition) []bool {
	list := make([]bool, len(nodes))
	depth := -1 // of the outermost node that is spoken of and not left yet
	for i, n := range nodes {
		if depth >= 0 && n.Depth <= depth {
			depth = -1
		}
		list[i] = depth >= 0 || slices.ContainsFunc(conditions, func(c event.WorldCondition) bool {
			return isAt(c.At, n) || c.Kind == "text" && c.At == event.WorldPlace{} && c.Text != "" && strings.Contains(fold(n.Name), fold(c.Text))
		})
		if list[i] && depth < 0 {
			depth = n.Depth
		}
	}
	return list
}

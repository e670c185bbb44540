package trial

import (
	"strings"

	"lyceum/internal/event"
)

// Holds reports whether a condition is seen. Where several nodes are at a place, one that fits is
// enough; with `not` it must not be seen, which also holds where nothing is.
func Holds(c event.WorldCondition, s Sight) bool { return seen(c, s) != c.Not }

// Held is Holds of each.
func Held(list []event.WorldCondition, s Sight) []bool {
	held := make([]bool, len(list))
	for i, c := range list {
		held[i] = Holds(c, s)
	}
	return held
}

func seen(c event.WorldCondition, s Sight) bool {
	switch c.Kind {
	case "present":
		return count(c.At, s) > 0
	case "absent":
		return count(c.At, s) == 0
	case "count":
		return count(c.At, s) == c.Number
	case "text":
		if c.At == (event.WorldPlace{}) {
			return alike(c, s.Text)
		}
		return anyNode(c.At, s, func(i int) bool { return alike(c, textOf(s.Nodes, i)) })
	case "value":
		return anyNode(c.At, s, func(i int) bool { return alike(c, s.Nodes[i].Value) })
	case "checked":
		return anyNode(c.At, s, func(i int) bool { return s.Nodes[i].Checked })
	case "disabled":
		return anyNode(c.At, s, func(i int) bool { return s.Nodes[i].Disabled })
	case "focused":
		return anyNode(c.At, s, func(i int) bool { return s.Nodes[i].Focused })
	case "console":
		return anyLine(c, s.Console)
	case "dialog":
		return anyLine(c, s.Dialogs)
	case "request":
		return anyLine(c, urls(s))
	case "title":
		return alike(c, s.Title)
	case "exit":
		return s.Exit == c.Number
	case "output":
		return alike(c, s.Output)
	case "error":
		return alike(c, s.Errors)
	case "file":
		return anyFile(c, s)
	}
	return false
}

func urls(s Sight) []string {
	list := make([]string, len(s.Requests))
	for i, r := range s.Requests {
		list[i] = r.URL
	}
	return list
}

func count(at event.WorldPlace, s Sight) (n int64) {
	for _, x := range s.Nodes {
		if isAt(at, x) {
			n++
		}
	}
	return n
}

// isAt reports whether a node is at a place. A place of nothing is nowhere.
func isAt(at event.WorldPlace, n Node) bool {
	return at != event.WorldPlace{} && (at.Role == "" || at.Role == n.Role) && (at.Name == "" || fold(at.Name) == fold(n.Name))
}

func anyNode(at event.WorldPlace, s Sight, ok func(int) bool) bool {
	for i, n := range s.Nodes {
		if isAt(at, n) && ok(i) {
			return true
		}
	}
	return false
}

func anyLine(c event.WorldCondition, lines []string) bool {
	for _, l := range lines {
		if alike(c, l) {
			return true
		}
	}
	return false
}

func anyFile(c event.WorldCondition, s Sight) bool {
	for _, f := range s.Files {
		if f.Path == c.Path {
			return c.How == "" && c.Text == "" || alike(c, f.Content)
		}
	}
	return false
}

// textOf is what stands inside a node: the texts below it, or its name where there are none.
func textOf(nodes []Node, at int) string {
	var texts []string
	for _, n := range nodes[at+1:] {
		if n.Depth <= nodes[at].Depth {
			break
		}
		if n.Role == leaf {
			texts = append(texts, n.Name)
		}
	}
	if len(texts) == 0 {
		return nodes[at].Name
	}
	return strings.Join(texts, " ")
}

// alike compares texts as people read them: white space is one space.
func alike(c event.WorldCondition, text string) bool {
	if c.How == "contains" {
		return strings.Contains(fold(text), fold(c.Text))
	}
	return fold(text) == fold(c.Text)
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

package trial

import (
	"fmt"
	"strconv"
	"strings"

	"lyceum/internal/event"
)

// Sight is what is seen of a thing at one time, from outside it. Of a page: what stands in its
// accessibility tree, and what it did; of a program: how it ended, and what it left.
type Sight struct {
	Nodes    []Node // depth first
	Text     string
	Title    string
	Console  []string
	Dialogs  []string
	Requests []event.WorldRequest
	// Left counts lines of these three that were too many to be kept.
	Left int64

	Exit           int64
	Output, Errors string
	Files          []File
}

// Node is one of an accessibility tree. Depth counts from 0; what is deeper than the one before
// is inside it.
type Node struct {
	Depth                      int
	Role, Name, Value          string
	Checked, Disabled, Focused bool
}

// File is one that a program left.
type File struct{ Path, Content string }

// leaf is the role of text that is nothing else.
const leaf = "StaticText"

// Lines writes an accessibility tree as models and ledgers have it: a line for each node, two
// spaces for each depth, role, name, value and states. ReadLines reads it again.
func Lines(nodes []Node) string {
	var b strings.Builder
	for _, n := range nodes {
		b.WriteString(strings.Repeat("  ", min(max(n.Depth, 0), maxDepth)))
		b.WriteString(n.Role)
		if n.Name != "" {
			b.WriteString(" " + strconv.Quote(n.Name))
		}
		if n.Value != "" {
			b.WriteString(" value=" + strconv.Quote(n.Value))
		}
		for _, s := range []struct {
			is   bool
			word string
		}{{n.Checked, "checked"}, {n.Disabled, "disabled"}, {n.Focused, "focused"}} {
			if s.is {
				b.WriteString(" " + s.word)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const (
	maxDepth = 100
	maxNodes = 20_000
)

// ReadLines reads what Lines wrote.
func ReadLines(text string) ([]Node, error) {
	var nodes []Node
	for line := range strings.Lines(text) {
		n, err := readLine(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("line %d of an accessibility tree: %w", len(nodes)+1, err)
		}
		if nodes = append(nodes, n); len(nodes) > maxNodes {
			return nil, fmt.Errorf("an accessibility tree has more than %d lines", maxNodes)
		}
	}
	return nodes, nil
}

func readLine(line string) (n Node, err error) {
	rest := strings.TrimLeft(line, " ")
	n.Depth = (len(line) - len(rest)) / 2
	if n.Depth > maxDepth || (len(line)-len(rest))%2 != 0 {
		return n, fmt.Errorf("its depth is odd")
	}
	n.Role, rest, _ = strings.Cut(rest, " ")
	if n.Role == "" || strings.ContainsAny(n.Role, "\"=") {
		return n, fmt.Errorf("it has no role")
	}
	if strings.HasPrefix(rest, `"`) {
		if n.Name, rest, err = unquote(rest); err != nil {
			return n, err
		}
	}
	if after, ok := strings.CutPrefix(rest, "value="); ok {
		if n.Value, rest, err = unquote(after); err != nil {
			return n, err
		}
	}
	for s := range strings.FieldsSeq(rest) {
		switch s {
		case "checked":
			n.Checked = true
		case "disabled":
			n.Disabled = true
		case "focused":
			n.Focused = true
		default:
			return n, fmt.Errorf("%s is no state", quoted(s))
		}
	}
	return n, nil
}

func unquote(s string) (text, rest string, err error) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", fmt.Errorf("a text has no end")
	}
	if text, err = strconv.Unquote(q); err != nil {
		return "", "", fmt.Errorf("a text has no end")
	}
	return text, strings.TrimPrefix(s[len(q):], " "), nil
}

// Package relation is what agents note about how things belong together: plans, steps, files,
// agents, and which of them are part of which.
//
// A Graph is a fold of changes. Each change is whole or nothing: one that does not fit says why,
// and leaves the graph as it was. There is no cycle, and no parent that is not there, at any
// moment; so every walk ends, and gives each node once, in an order that depends on the
// graph alone.
package relation

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/plain"
)

// The bounds of a graph, so that a fold stays small whatever agents do.
const (
	MaxNodes       = 1000
	MaxParents     = 16
	MaxID          = 64
	MaxType        = 32
	MaxDescription = 300
)

// The states of what a node stands for.
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Done       = "done"
	Failed     = "failed"
)

// Statuses are all of them.
var Statuses = []string{Pending, InProgress, Done, Failed}

// Node is a thing and what it is part of. Its parents are sorted.
type Node struct {
	ID          string   `json:"id"`
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Status      string   `json:"status"`
	Parents     []string `json:"parents,omitempty"`
}

// Graph are the nodes in the order in which they were made. Its zero value is empty.
type Graph struct {
	Nodes []Node `json:",omitempty"`
}

// Node is the one of that id, nil if there is none.
func (g *Graph) Node(id string) *Node {
	i := slices.IndexFunc(g.Nodes, func(n Node) bool { return n.ID == id })
	if i < 0 {
		return nil
	}
	return &g.Nodes[i]
}

// Put is a change of one node: a new one, or, with Update, what is to be otherwise about one that
// is there. Members that are nil stay as they are.
type Put struct {
	ID          string
	Update      bool
	Type        *string
	Description *string
	Status      *string
	// Parents are all of them, where they are given.
	Parents *[]string
}

// Changed is the node as a change leaves it, or why it cannot be. The graph stays as it is.
func (g *Graph) Changed(p Put) (Node, error) {
	n := Node{ID: p.ID, Status: Pending}
	old := g.Node(p.ID)
	switch {
	case !word(p.ID, MaxID):
		return n, fmt.Errorf("the id %.80q is no name: 1 to %d of letters, digits and . _ / : -", p.ID, MaxID)
	case old != nil && !p.Update:
		return n, fmt.Errorf("there is a node %s already: give update to change it", p.ID)
	case old == nil && p.Update:
		return n, fmt.Errorf("there is no node %s to change", p.ID)
	case old == nil && len(g.Nodes) >= MaxNodes:
		return n, fmt.Errorf("there can be %d nodes: take some away first", MaxNodes)
	case old != nil:
		n = *old
	}
	for _, m := range []struct{ from, to *string }{{p.Type, &n.Type}, {p.Description, &n.Description}, {p.Status, &n.Status}} {
		if m.from != nil {
			*m.to = *m.from
		}
	}
	n.Description = told(n.Description)
	if p.Parents != nil {
		n.Parents = slices.Compact(slices.Sorted(slices.Values(*p.Parents)))
	}
	return n, g.fits(n)
}

// fits says what is wrong with a node that is to be in the graph.
func (g *Graph) fits(n Node) error {
	switch {
	case !word(n.Type, MaxType):
		return fmt.Errorf("the type %.80q is no word of 1 to %d letters, digits and . _ / : -, such as plan, step, file, agent", n.Type, MaxType)
	case n.Description != told(n.Description):
		return fmt.Errorf("the description of %s is not in one line", n.ID)
	case len(n.Description) > MaxDescription:
		return fmt.Errorf("the description has %d bytes: it can have %d", len(n.Description), MaxDescription)
	case !slices.Contains(Statuses, n.Status):
		return fmt.Errorf("the status %.40q must be one of %s", n.Status, strings.Join(Statuses, ", "))
	case len(n.Parents) > MaxParents:
		return fmt.Errorf("a node can have %d parents", MaxParents)
	}
	for i, p := range n.Parents {
		switch {
		case i > 0 && p <= n.Parents[i-1]:
			return fmt.Errorf("the parents of %s are not in their order", n.ID)
		case p == n.ID:
			return fmt.Errorf("%s cannot be part of itself", n.ID)
		case g.Node(p) == nil:
			return fmt.Errorf("there is no node %.80s to be a parent", p)
		case slices.Contains(g.Walk(n.ID, Down), p):
			return fmt.Errorf("%s is part of %s already: it cannot be its parent too", p, n.ID)
		}
	}
	return nil
}

// Set puts a node in its place, as Changed made it. It panics on one that does not fit, which only
// a forged ledger has.
func (g *Graph) Set(n Node) {
	if err := g.fits(n); err != nil {
		panic(err)
	}
	n.Parents = slices.Clone(n.Parents)
	if old := g.Node(n.ID); old != nil {
		*old = n
		return
	}
	g.Nodes = append(g.Nodes, n)
}

// Leaving are the nodes that go with one, itself first: it alone, or with cascade also those whose
// parents all go.
func (g *Graph) Leaving(id string, cascade bool) ([]string, error) {
	if g.Node(id) == nil {
		return nil, fmt.Errorf("there is no node %.80s", id)
	}
	out, gone := []string{id}, map[string]bool{id: true}
	for more := cascade; more; {
		more = false
		for i := range g.Nodes {
			n := &g.Nodes[i]
			left := slices.ContainsFunc(n.Parents, func(p string) bool { return !gone[p] })
			if !gone[n.ID] && len(n.Parents) > 0 && !left {
				out, gone[n.ID], more = append(out, n.ID), true, true
			}
		}
	}
	return out, nil
}

// Remove takes nodes away, and detaches those that they were parents of. It panics on one that is
// not there.
func (g *Graph) Remove(ids []string) {
	for _, id := range ids {
		if g.Node(id) == nil {
			panic("there is no node " + id)
		}
	}
	all := map[string]bool{}
	for _, id := range ids {
		all[id] = true
	}
	gone := func(id string) bool { return all[id] }
	g.Nodes = slices.DeleteFunc(slices.Clone(g.Nodes), func(n Node) bool { return gone(n.ID) })
	for i := range g.Nodes {
		if slices.ContainsFunc(g.Nodes[i].Parents, gone) {
			g.Nodes[i].Parents = slices.DeleteFunc(slices.Clone(g.Nodes[i].Parents), gone)
		}
		if len(g.Nodes[i].Parents) == 0 {
			g.Nodes[i].Parents = nil
		}
	}
}

// Direction is where a walk goes.
type Direction string

// The directions.
const (
	Down Direction = "down" // to what is part of it
	Up   Direction = "up"   // to what it is part of
)

// Walk are the nodes that are reached from one, itself first, each once: level by level, those of
// a level by the order in which they were made. Without an id it begins with all that are part
// of nothing. One that is not there reaches nothing.
func (g *Graph) Walk(id string, d Direction) (out []string) {
	next := map[string][]string{}
	for i := range g.Nodes {
		for _, p := range g.Nodes[i].Parents {
			if d == Up {
				next[g.Nodes[i].ID] = append(next[g.Nodes[i].ID], p)
			} else {
				next[p] = append(next[p], g.Nodes[i].ID)
			}
		}
	}
	for i := range g.Nodes {
		if id == g.Nodes[i].ID || id == "" && len(g.Nodes[i].Parents) == 0 {
			out = append(out, g.Nodes[i].ID)
		}
	}
	seen := map[string]bool{}
	for _, s := range out {
		seen[s] = true
	}
	for i := 0; i < len(out); i++ {
		for _, n := range next[out[i]] {
			if !seen[n] {
				seen[n], out = true, append(out, n)
			}
		}
	}
	return out
}

// word reports whether a text is an id or a type: nothing that could be taken for something else
// in a line.
func word(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:-", r)
	})
}

// told is a description in one line, without what could make the line look otherwise.
func told(s string) string { return strings.Join(strings.Fields(plain.Bare(s, 1<<20)), " ") }

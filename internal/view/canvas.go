package view

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
)

// Canvas is a quest as a graph, which only grows: a node or an edge is there from its
// seq on, and what a node became later is told by its changes. So the graph of any
// moment of the past is a part of the last one.
type Canvas struct {
	nodes []*Node
	edges []*Edge
	byID  map[string]*Node
}

// Node is something that came about in a quest.
type Node struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Label string `json:"label"`
	// Agent is whose it is.
	Agent string `json:"agent,omitempty"`
	Seq   uint64 `json:"seq"`
	// Time is when it came about.
	Time event.Time `json:"time"`
	// Last is the event that last changed it.
	Last   uint64 `json:"last"`
	Status string `json:"status,omitempty"`
	// Ref is a paper's reference.
	Ref string `json:"ref,omitempty"`
	// Says is the answer that it gives, the same text for all that give the same.
	Says    string   `json:"says,omitempty"`
	Detail  string   `json:"detail,omitempty"`
	Changes []Change `json:"changes"`
}

// Change is a status that a node got, and when.
type Change struct {
	Seq    uint64 `json:"seq"`
	Status string `json:"status"`
}

// Edge joins two nodes.
type Edge struct {
	ID   string `json:"id"`
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"`
	Seq  uint64 `json:"seq"`
	// Until is the event that ended it, 0 while it holds.
	Until uint64 `json:"until,omitempty"`
	Label string `json:"label,omitempty"`
}

// The kinds of edges.
const (
	Cites    = "cites"
	Reviews  = "reviews"
	Revises  = "revises"
	Votes    = "votes"
	Awards   = "awards"
	Bids     = "bids"
	Supports = "supports"
	Attacks  = "attacks"
	CausedBy = "caused-by"
	Wrote    = "wrote"
)

// maxLabel is how many bytes of a text a node shows.
const maxLabel = 160

// Take adds the next event of the ledger; s is the quest's state after it. What belongs to
// a society, its part of the views adds.
func (c *Canvas) Take(e event.Event, s *quest.State) {
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		c.begin(e, s)
	case *event.UserMessage:
		c.node(e, Node{ID: id("person", e.Seq), Kind: "person", Label: event.Cut(personSaid(b), maxLabel)})
	case *event.QuestFinished:
		c.finish(e, b)
	case *event.AgentParked:
		c.become(id("agent", e.Actor), e.Seq, "parked")
	case *event.ModelCall, *event.PromptCall:
		if n := c.byID[id("agent", e.Actor)]; n != nil && n.Status == "parked" {
			c.become(n.ID, e.Seq, "active")
		}
	}
}

// personSaid is a person's text, or what came in place of one.
func personSaid(b *event.UserMessage) string {
	if b.Text.Text == "" && len(b.Attachments) > 0 {
		return fileWords(b.Attachments[0])
	}
	return b.Text.Text
}

// Graph returns what is new or has changed after an event, at most max nodes of it and
// the edges between nodes that the reader then has. It says whether there were more.
func (c *Canvas) Graph(after uint64, max int) (nodes []Node, edges []Edge, more bool) {
	nodes, edges = []Node{}, []Edge{}
	left := map[string]bool{}
	for i, n := range c.nodes {
		if i >= max {
			left[n.ID], more = true, true
			continue
		}
		if n.Last > after {
			node := *n
			node.Changes = append([]Change{}, n.Changes...)
			nodes = append(nodes, node)
		}
	}
	for _, x := range c.edges {
		if (x.Seq > after || x.Until > after) && !left[x.From] && !left[x.To] {
			edges = append(edges, *x)
		}
	}
	return nodes, edges, more
}

func id(kind string, of any) string { return fmt.Sprintf("%s:%v", kind, of) }

// node adds a node, unless it is there already.
func (c *Canvas) node(e event.Event, n Node) *Node {
	if old := c.byID[n.ID]; old != nil {
		return old
	}
	if c.byID == nil {
		c.byID = map[string]*Node{}
	}
	n.Label, n.Seq, n.Time, n.Last = plain.Unmarked(n.Label), e.Seq, e.Time, e.Seq
	if n.Status != "" {
		n.Changes = []Change{{e.Seq, n.Status}}
	}
	c.nodes = append(c.nodes, &n)
	c.byID[n.ID] = &n
	return &n
}

// become gives a node another status.
func (c *Canvas) become(id string, seq uint64, status string) {
	n := c.byID[id]
	if n == nil || n.Status == status {
		return
	}
	n.Status, n.Last = status, seq
	n.Changes = append(n.Changes, Change{seq, status})
}

// edge joins two nodes that are there, and returns its number; one that names another
// node is left out, and has number -1.
func (c *Canvas) edge(seq uint64, kind, from, to, label string) int {
	if c.byID[from] == nil || c.byID[to] == nil || from == to {
		return -1
	}
	c.edges = append(c.edges, &Edge{ID: fmt.Sprintf("%s:%d:%s:%s", kind, seq, from, to), From: from, To: to, Kind: kind, Seq: seq, Label: label})
	return len(c.edges) - 1
}

// end says that an edge no longer holds.
func (c *Canvas) end(number int, seq uint64) {
	if number >= 0 && number < len(c.edges) { // a saved number may be anything
		c.edges[number].Until = seq
	}
}

func (c *Canvas) begin(e event.Event, s *quest.State) {
	for _, a := range s.Agents {
		c.node(e, Node{ID: id("agent", a.Name), Kind: "agent", Label: a.Name, Agent: a.Name, Status: "active", Detail: event.Cut(a.Model, maxLabel)})
	}
}

func (c *Canvas) finish(e event.Event, b *event.QuestFinished) {
	n := c.node(e, Node{ID: id("answer", e.Seq), Kind: "answer", Label: event.Cut(b.Answer.Text, maxLabel), Status: "finished"})
	if len(b.Warnings) > 0 {
		c.become(n.ID, e.Seq, "completed_with_warnings")
	}
}

package view

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract"
	"lyceum/internal/society/lab"
)

// Canvas is a quest as a graph, which only grows: a node or an edge is there from its
// seq on, and what a node became later is told by its changes. So the graph of any
// moment of the past is a part of the last one.
type Canvas struct {
	nodes []*Node
	edges []*Edge
	byID  map[string]*Node
	votes map[string]*Edge // the current ones, by agent
	// sources is how many sources of a contract net have nodes; stand are the claims
	// that stood when they were last weighed.
	sources int
	stand   []int64
	// calls are the nodes of searches and computations, by their call.
	calls map[uint64]*Node
}

// Node is something that came about in a quest.
type Node struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Label string `json:"label"`
	// Agent is whose it is.
	Agent string `json:"agent,omitempty"`
	Seq   uint64 `json:"seq"`
	// Last is the event that last changed it.
	Last   uint64 `json:"last"`
	Status string `json:"status,omitempty"`
	// Ref is a paper's reference.
	Ref     string   `json:"ref,omitempty"`
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

// Take adds the next event of the ledger; s is the quest's state after it.
func (c *Canvas) Take(e event.Event, s *quest.State) {
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		c.begin(e, s)
	case *event.UserMessage:
		c.node(e, Node{ID: id("person", e.Seq), Kind: "person", Label: event.Cut(b.Text.Text, maxLabel)})
	case *event.QuestFinished:
		c.finish(e, b, s)
	case *event.AgentParked:
		c.become(id("agent", e.Actor), e.Seq, "parked")
	case *event.ModelCall:
		if n := c.byID[id("agent", e.Actor)]; n != nil && n.Status == "parked" {
			c.become(n.ID, e.Seq, "active")
		}
	default:
		c.takePaper(e)
		c.takeTask(e)
		c.takeSource(e, s)
		c.takeClaim(e)
	}
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
		c.byID, c.votes, c.calls = map[string]*Node{}, map[string]*Edge{}, map[uint64]*Node{}
	}
	n.Seq, n.Last = e.Seq, e.Seq
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

// edge joins two nodes that are there; what names another is left out.
func (c *Canvas) edge(seq uint64, kind, from, to, label string) *Edge {
	if c.byID[from] == nil || c.byID[to] == nil || from == to {
		return nil
	}
	x := &Edge{ID: fmt.Sprintf("%s:%d:%s:%s", kind, seq, from, to), From: from, To: to, Kind: kind, Seq: seq, Label: label}
	c.edges = append(c.edges, x)
	return x
}

func (c *Canvas) begin(e event.Event, s *quest.State) {
	for _, a := range s.Agents {
		c.node(e, Node{ID: id("agent", a.Name), Kind: "agent", Label: a.Name, Agent: a.Name, Status: "active", Detail: event.Cut(a.Model, maxLabel)})
	}
}

func (c *Canvas) finish(e event.Event, b *event.QuestFinished, s *quest.State) {
	n := c.node(e, Node{ID: id("answer", e.Seq), Kind: "answer", Label: event.Cut(b.Answer.Text, maxLabel), Status: "finished"})
	if len(b.Warnings) > 0 {
		c.become(n.ID, e.Seq, "completed_with_warnings")
	}
	for _, claim := range c.stand {
		c.edge(e.Seq, Supports, id("claim", claim), n.ID, "")
	}
	if best := lab.Library(s).Best(); lab.Of(s) != nil && best != nil {
		c.edge(e.Seq, CausedBy, n.ID, id("paper", best.Ref), "")
	} else if contract.Net(s) == nil && len(s.Agents) > 0 {
		c.edge(e.Seq, Wrote, id("agent", s.Agents[0].Name), n.ID, "")
	}
}

// takePaper is for what a lab does.
func (c *Canvas) takePaper(e event.Event) {
	switch b := e.Body.(type) {
	case *event.PublicationSubmitted:
		n := c.node(e, Node{ID: id("paper", b.Ref), Kind: "paper", Label: event.Cut(b.Title, maxLabel), Agent: e.Actor, Ref: b.Ref, Status: event.Submitted})
		c.edge(e.Seq, Wrote, id("agent", e.Actor), n.ID, "")
		for _, ref := range b.Citations {
			c.edge(e.Seq, Cites, n.ID, id("paper", ref), "")
		}
		if b.Revises != "" {
			c.edge(e.Seq, Revises, n.ID, id("paper", b.Revises), "")
		}
	case *event.ReviewSubmitted:
		n := c.node(e, Node{ID: id("review", e.Seq), Kind: "review", Label: strings.ToLower(b.Grade), Agent: e.Actor, Ref: b.Ref, Status: b.Grade, Detail: event.Cut(b.Content.Text, maxLabel)})
		c.edge(e.Seq, Wrote, id("agent", e.Actor), n.ID, "")
		c.edge(e.Seq, Reviews, n.ID, id("paper", b.Ref), b.Grade)
	case *event.PublicationDecided:
		c.become(id("paper", b.Ref), e.Seq, b.Status)
	case *event.VoteCast:
		if old := c.votes[e.Actor]; old != nil {
			old.Until = e.Seq
			delete(c.votes, e.Actor)
		}
		if x := c.edge(e.Seq, Votes, id("agent", e.Actor), id("paper", b.Ref), ""); b.Ref != "" && x != nil {
			c.votes[e.Actor] = x
		}
	}
}

// takeTask is for the parts of a plan and who does them.
func (c *Canvas) takeTask(e event.Event) {
	switch b := e.Body.(type) {
	case *event.PlanMade:
		for _, step := range b.Steps {
			n := c.node(e, Node{ID: id("task", step.Task), Kind: "task", Label: event.Cut(step.Kind+": "+step.Task, maxLabel), Agent: e.Actor, Status: "planned", Detail: event.Cut(step.Text, maxLabel)})
			c.edge(e.Seq, Wrote, id("agent", e.Actor), n.ID, "")
		}
	case *event.CfpIssued:
		c.become(id("task", b.Task), e.Seq, "tender")
	case *event.BidSubmitted:
		n := c.node(e, Node{ID: id("bid", e.Seq), Kind: "bid", Label: e.Actor, Agent: e.Actor, Status: "offered", Detail: "score " + Decimal(b.Score, 9)})
		c.edge(e.Seq, Wrote, id("agent", e.Actor), n.ID, "")
		c.edge(e.Seq, Bids, n.ID, id("task", b.Task), "")
	case *event.ContractAwarded:
		c.become(id("bid", b.Bid), e.Seq, "awarded")
		c.become(id("task", b.Task), e.Seq, "awarded")
		c.edge(e.Seq, Awards, id("task", b.Task), id("agent", b.To), "")
		c.edge(e.Seq, Awards, id("task", b.Task), id("bid", b.Bid), "")
	case *event.TaskCompleted:
		c.become(id("task", b.Task), e.Seq, "completed")
	case *event.TaskFailed:
		c.become(id("task", b.Task), e.Seq, "failed")
	}
}

// takeSource is for what was looked up and computed.
func (c *Canvas) takeSource(e event.Event, s *quest.State) {
	switch b := e.Body.(type) {
	case *event.SearchCall:
		c.call(e, "search", b.Query, b.Task)
	case *event.ComputeCall:
		c.call(e, "computation", b.Program, b.Task)
	case *event.SearchResult:
		c.result(e, b.Call, b.Error, s)
	case *event.ComputeResult:
		c.result(e, b.Call, b.Error, s)
	}
}

func (c *Canvas) call(e event.Event, kind, label, task string) {
	n := c.node(e, Node{ID: id(kind, e.Seq), Kind: kind, Label: event.Cut(label, maxLabel), Agent: e.Actor, Status: "running"})
	c.calls[e.Seq] = n
	c.edge(e.Seq, CausedBy, n.ID, id("task", task), "")
}

func (c *Canvas) result(e event.Event, call uint64, fault string, s *quest.State) {
	asked := c.calls[call]
	if asked == nil || contract.Net(s) == nil {
		return
	}
	if fault != "" {
		asked.Detail = event.Cut(fault, maxLabel)
		c.become(asked.ID, e.Seq, "failed")
		return
	}
	c.become(asked.ID, e.Seq, "done")
	for ; c.sources < len(contract.Net(s).Sources); c.sources++ {
		src := &contract.Net(s).Sources[c.sources]
		label := "output of " + asked.Label
		if src.Anchor != nil {
			label = fmt.Sprintf("%s, paragraph %d", src.Anchor.Doc, src.Anchor.Paragraph)
		}
		n := c.node(e, Node{ID: id("source", src.Number), Kind: "source", Label: event.Cut(label, maxLabel), Agent: asked.Agent, Detail: event.Cut(src.Text(), 2*maxLabel)})
		c.edge(e.Seq, CausedBy, n.ID, asked.ID, "")
	}
}

// takeClaim is for what an answer says, and what is said against it.
func (c *Canvas) takeClaim(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ClaimMade:
		n := c.node(e, Node{ID: id("claim", b.Claim), Kind: "claim", Label: event.Cut(b.Text, maxLabel), Agent: e.Actor, Status: "made", Detail: "confidence " + Decimal(b.Confidence, 3)})
		for _, src := range b.Sources {
			c.edge(e.Seq, Supports, id("source", src), n.ID, "")
		}
	case *event.ClaimAttacked:
		c.edge(e.Seq, Attacks, id("claim", b.From), id("claim", b.To), event.Cut(b.Reason, maxLabel))
	case *event.ChallengeRaised:
		n := c.node(e, Node{ID: id("challenge", b.Challenge), Kind: "challenge", Label: event.Cut(b.Rule, maxLabel), Agent: e.Actor, Status: "open", Detail: event.Cut(b.Reason, maxLabel)})
		c.edge(e.Seq, Attacks, n.ID, id("claim", b.Claim), "")
	case *event.JustificationGiven:
		n := c.node(e, Node{ID: id("justification", e.Seq), Kind: "justification", Label: event.Cut(b.Reason, maxLabel), Agent: e.Actor})
		c.edge(e.Seq, Attacks, n.ID, id("challenge", b.Challenge), "")
		for _, src := range b.Sources {
			c.edge(e.Seq, Supports, id("source", src), n.ID, "")
		}
		c.become(id("challenge", b.Challenge), e.Seq, "justified")
	case *event.ClaimRetracted:
		c.become(id("claim", b.Claim), e.Seq, "retracted")
		c.become(id("challenge", b.Challenge), e.Seq, "accepted")
	case *event.ReplanTriggered:
		for _, n := range b.Challenges {
			c.become(id("challenge", n), e.Seq, "replanned")
		}
	case *event.ArgumentsWeighed:
		c.weigh(e, b)
	}
}

func (c *Canvas) weigh(e event.Event, b *event.ArgumentsWeighed) {
	c.stand = slices.Clone(b.Stand)
	for _, n := range b.Stand {
		c.become(id("claim", n), e.Seq, "stands")
	}
	for _, n := range b.Undecided {
		c.become(id("claim", n), e.Seq, "undecided")
	}
	for _, d := range b.Defeated {
		c.become(id("claim", d.Claim), e.Seq, "defeated")
	}
}

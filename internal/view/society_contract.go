package view

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract"
)

// contractNet is how a contract net is shown: by its tasks, its sources and its claims.
type contractNet struct{ agents }

// ContractInfo is how a contract net works.
type ContractInfo struct {
	Audit     string      `json:"audit"`
	Corpus    bool        `json:"corpus"`
	WaitUntil *event.Time `json:"wait_until,omitempty"`
	Round     int64       `json:"round"`
}

// Facts implements Society.
func (contractNet) Facts(s *quest.State) (f Facts) {
	n := contract.Net(s)
	f.Contract = &ContractInfo{Audit: n.Spec.Audit, Corpus: n.Spec.Corpus != nil, Round: n.Round}
	if n.Spec.WaitUntil != 0 {
		f.Contract.WaitUntil = &n.Spec.WaitUntil
	}
	return f
}

// Role implements Society: it is the task that an agent has been awarded.
func (c contractNet) Role(s *quest.State, agent string) Role {
	r := c.agents.Role(s, agent)
	for _, t := range contract.Net(s).Tasks {
		if t.Worker == agent && !t.Done {
			r.Task, r.Text = t.Kind, event.Cut(t.Text, maxLine)
			break
		}
	}
	return r
}

// Debate is what is said for and against the claims of a contract net.
type Debate struct {
	Attacks    []Attack `json:"attacks"`
	Challenges []Doubt  `json:"challenges"`
	// Snippets are the words that were found in each source, in order.
	Snippets []string `json:"-"`
}

// Attack is that one claim speaks against another.
type Attack struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Reason string `json:"reason"`
}

// Doubt is a challenge of a claim, and what became of it.
type Doubt struct {
	Challenge int64  `json:"challenge"`
	Claim     int64  `json:"claim"`
	Rule      string `json:"rule"`
	Reason    string `json:"reason"`
	By        string `json:"by"`
	Open      bool   `json:"open"`
	Justified string `json:"justified,omitempty"`
	Seq       uint64 `json:"seq"`
}

// DebateOf is the debate of a quest, or why it has none.
func DebateOf(s *quest.State) (*Debate, error) {
	n := contract.Net(s)
	if n == nil {
		return nil, fmt.Errorf("quest %s is not a contract net: its answer has no numbered evidence", s.Name)
	}
	d := &Debate{Attacks: []Attack{}, Challenges: []Doubt{}}
	for i := range n.Sources {
		text := ""
		if a := n.Sources[i].Anchor; a != nil {
			text = a.Snippet
		}
		d.Snippets = append(d.Snippets, text)
	}
	for _, a := range n.Attacks {
		d.Attacks = append(d.Attacks, Attack{a.From, a.To, a.Reason})
	}
	for i := range n.Doubts {
		x := &n.Doubts[i]
		d.Challenges = append(d.Challenges, Doubt{x.Challenge, x.Claim, x.Rule, x.Reason, x.By, x.Open(), x.Justified, x.Seq})
	}
	return d, nil
}

// read implements Society. Paragraphs that were found and what programs computed are
// evidence.
func (contractNet) read(r *reader, e event.Event) (done bool, err error) {
	switch b := e.Body.(type) {
	case *event.SearchCall:
		r.begin(e, Step{Tool: b.Method, Text: r.words(e), Args: sum(b.Query, fmt.Sprint(b.Limit)), Waiting: true})
	case *event.SearchResult:
		r.lasted(KindSearch, b.Duration)
		all := []string{b.Error}
		for _, a := range b.Anchors {
			all = append(all, a.Doc, fmt.Sprint(a.Paragraph), a.Hash.String(), fmt.Sprint(a.Score))
			r.anchor(a.Doc, fmt.Sprintf("paragraph %d", a.Paragraph), a.Hash)
		}
		r.close(e, b.Call, sum(all...), r.words(e), b.Error != "", b.Duration)
	case *event.ComputeCall:
		r.begin(e, Step{Tool: b.Engine, Text: r.words(e), Args: sum(b.Program, b.Entrypoint, refHash(b.Code), treeHash(b.Tree)), Waiting: true})
		r.called(e.Seq, "program "+b.Program)
	case *event.ComputeResult:
		return true, r.computed(e, b)
	default:
		return false, nil
	}
	return true, nil
}

func (r *reader) computed(e event.Event, b *event.ComputeResult) error {
	r.lasted(KindCompute, b.Duration)
	text, err := r.text(b.Output)
	if err != nil {
		return err
	}
	said := r.names.plain(text)
	r.close(e, b.Call, sum(fmt.Sprint(b.Exit), b.Error, refHash(b.Printed), said), line(text), b.Error != "" || b.Exit != 0, b.Duration)
	if b.Error == "" {
		r.anchor(r.subjects[b.Call], "output", sum(said, refHash(b.Printed)))
	}
	return nil
}

// argument is what a contract net adds to the views.
type argument struct {
	// Calls are the nodes of searches and computations, by their call.
	Calls map[uint64]string
	// Sources is how many sources have nodes; Stand are the claims that stood when they
	// were last weighed.
	Sources int
	Stand   []int64
	// History is how many claims stood, each time they were weighed.
	History []Turn
}

// begin implements Society.
func (contractNet) begin() part { return &argument{Calls: map[uint64]string{}} }

// take implements part.
func (x *argument) take(v *Views, e event.Event, s *quest.State) {
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		if b.Contract != nil {
			v.Artifacts.tree(e, "corpus", "corpus", b.Contract.Corpus)
		}
	case *event.BeliefUpdated, *event.DesireSet, *event.IntentionFormed:
		v.Desks.think(e)
	case *event.QuestFinished:
		for _, claim := range x.Stand {
			v.Canvas.edge(e.Seq, Supports, id("claim", claim), id("answer", e.Seq), "")
		}
	default:
		x.takeTask(&v.Canvas, e)
		x.takeSource(v, e, s)
		x.takeClaim(&v.Canvas, e)
		if b, ok := e.Body.(*event.ArgumentsWeighed); ok {
			x.weighed(e, b, s)
		}
	}
}

// takeTask is for the parts of a plan and who does them.
func (x *argument) takeTask(c *Canvas, e event.Event) {
	switch b := e.Body.(type) {
	case *event.PlanMade:
		for _, step := range b.Steps {
			n := c.node(e, Node{ID: id("task", step.Task), Kind: "task", Label: event.Cut(step.Kind+": "+step.Task, maxLabel), Agent: e.Actor, Status: "planned", Detail: event.Cut(step.Text, maxLabel)})
			c.edge(e.Seq, Wrote, id("agent", e.Actor), n.ID, "")
		}
	case *event.CfpIssued:
		c.become(id("task", b.Task), e.Seq, "tender")
	case *event.BidSubmitted:
		n := c.node(e, Node{ID: id("bid", e.Seq), Kind: "bid", Label: e.Actor, Agent: e.Actor, Status: "offered", Detail: "score " + figure(b.Score, 9)})
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
func (x *argument) takeSource(v *Views, e event.Event, s *quest.State) {
	switch b := e.Body.(type) {
	case *event.SearchCall:
		x.call(v, e, "search", b.Query, b.Task)
	case *event.ComputeCall:
		x.call(v, e, "computation", b.Program, b.Task)
		v.Artifacts.blob(e, "code", b.Program, b.Code)
		v.Artifacts.tree(e, "code", b.Program, b.Tree)
	case *event.SearchResult:
		x.result(&v.Canvas, e, b.Call, b.Error, s)
	case *event.ComputeResult:
		x.result(&v.Canvas, e, b.Call, b.Error, s)
		v.Artifacts.blob(e, "output", "computation", b.Printed)
		for i := range b.Plots {
			v.Artifacts.blob(e, "output", "plot.svg", &b.Plots[i])
		}
	}
}

func (x *argument) call(v *Views, e event.Event, kind, label, task string) {
	n := v.Canvas.node(e, Node{ID: id(kind, e.Seq), Kind: kind, Label: event.Cut(label, maxLabel), Agent: e.Actor, Status: "running"})
	x.Calls[e.Seq] = n.ID
	v.Canvas.edge(e.Seq, CausedBy, n.ID, id("task", task), "")
	v.Desks.began(e)
}

func (x *argument) result(c *Canvas, e event.Event, call uint64, fault string, s *quest.State) {
	asked := c.byID[x.Calls[call]]
	if asked == nil {
		return
	}
	if fault != "" {
		asked.Detail = event.Cut(fault, maxLabel)
		c.become(asked.ID, e.Seq, "failed")
		return
	}
	c.become(asked.ID, e.Seq, "done")
	for n := contract.Net(s); x.Sources < len(n.Sources); x.Sources++ {
		src := &n.Sources[x.Sources]
		label := "output of " + asked.Label
		if src.Anchor != nil {
			label = fmt.Sprintf("%s, paragraph %d", src.Anchor.Doc, src.Anchor.Paragraph)
		}
		node := c.node(e, Node{ID: id("source", src.Number), Kind: "source", Label: event.Cut(label, maxLabel), Agent: asked.Agent, Detail: event.Cut(src.Text(), 2*maxLabel)})
		c.edge(e.Seq, CausedBy, node.ID, asked.ID, "")
	}
}

// takeClaim is for what an answer says, and what is said against it.
func (x *argument) takeClaim(c *Canvas, e event.Event) {
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
		x.weigh(c, e, b)
	}
}

func (x *argument) weigh(c *Canvas, e event.Event, b *event.ArgumentsWeighed) {
	x.Stand = slices.Clone(b.Stand)
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

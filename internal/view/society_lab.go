package view

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
)

// laboratory is how a lab is shown: by its papers.
type laboratory struct{ agents }

// LabInfo is how a lab works.
type LabInfo struct {
	Reviewers int64  `json:"reviewers"`
	Decision  string `json:"decision"`
	Deadline  int64  `json:"deadline"`
}

// Title implements Society: it is that of a paper.
func (laboratory) Title(s *quest.State, ref string) string {
	if p := lab.Library(s).Paper(ref); p != nil {
		return p.Title
	}
	return ""
}

// Tally implements Society.
func (laboratory) Tally(s *quest.State) Tally {
	return Tally{Papers: CountPapers(s), Votes: new(len(lab.Library(s).Votes))}
}

// Role implements Society.
func (l laboratory) Role(s *quest.State, agent string) Role {
	lib := lab.Library(s)
	r := Role{Papers: []string{}, Open: append([]string{}, lib.Asked[agent]...), Vote: lib.Votes[agent]}
	for _, p := range lib.By(agent) {
		r.Papers = append(r.Papers, p.Ref)
	}
	if len(r.Open) > 0 {
		r.Title = l.Title(s, r.Open[0])
	}
	return r
}

// Facts implements Society.
func (laboratory) Facts(s *quest.State) (f Facts) {
	m := lab.Of(s)
	if m == nil || m.Spec == nil {
		return f
	}
	f.Lab = &LabInfo{m.Spec.Reviewers, m.Spec.Decision, m.Spec.Deadline}
	if best := lab.Library(s).Best(); best != nil {
		f.Best = new(paperOf(s, best))
	}
	return f
}

// read implements Society. Citations and the outputs of papers' programs are evidence.
func (laboratory) read(r *reader, e event.Event) (done bool, err error) {
	switch b := e.Body.(type) {
	case *event.PublicationSubmitted:
		return true, r.published(e, b)
	case *event.CitationMade:
		for _, ref := range append(b.To[:len(b.To):len(b.To)], b.Self...) {
			if p := r.papers[ref]; p != nil {
				r.anchor(p.name, "cited by "+r.names.call(b.Ref), p.content)
			}
		}
	case *event.ReproductionCall:
		r.begin(e, Step{Text: r.words(e), Args: sum(b.Entrypoint, b.Tree.Hash.String()), Waiting: true})
		r.called(e.Seq, r.names.call(b.Ref))
		return true, nil
	case *event.ReproductionResult:
		r.lasted(KindReproduction, b.Duration)
		r.close(e, b.Call, sum(b.Status, fmt.Sprint(b.Exit), refHash(b.Output), refHash(b.Second)), r.words(e), b.Status != event.SameOutput, b.Duration)
		if b.Output != nil {
			r.anchor(r.subjects[b.Call], "output, "+b.Status, b.Output.Hash)
		}
		return true, nil
	}
	return false, nil
}

// published makes a step of a paper, which has a name of its own from then on.
func (r *reader) published(e event.Event, b *event.PublicationSubmitted) error {
	text, err := r.text(b.Content)
	if err != nil {
		return err
	}
	text = r.names.plain(text)
	r.papers[b.Ref] = &cited{name: r.names.give(b.Ref, "paper", e.Actor), content: sum(b.Title, text)}
	r.begin(e, Step{Args: sum(b.Title), Output: sum(text, treeHash(b.Tree), r.names.plain(b.Revises)), Text: line(b.Title)})
	return nil
}

// paperTrail is what a lab adds to the views: what its library does not keep, which is
// when things happened, and votes that no longer hold.
type paperTrail struct {
	// Votes are all that were cast, in order; Cast are the edges of those that hold, by
	// agent, as numbers of the canvas.
	Votes []VoteEntry
	Cast  map[string]int
	// Reviewed is when each review was handed in, by its seq.
	Reviewed map[uint64]event.Time
	// CitedBy are the papers that name a paper, whatever became of them, in the order
	// in which they were handed in; Citations are all such pairs.
	CitedBy   map[string][]string
	Citations []citationEntry
	// Trial is the paper whose program a call runs; Tried is when the program had been
	// run, by the paper's reference.
	Trial map[uint64]string
	Tried map[string]uint64
	// Said is what each published paper claims, in the order of their decisions; History is
	// how the answer stood as they came and votes were cast.
	Said    []stated
	History []Turn
	// Written is how the first paper that claims some values writes them, by the values.
	Written map[string]string
}

// VoteEntry is one vote; an empty Ref takes an earlier one back.
type VoteEntry struct {
	Seq   uint64     `json:"seq"`
	Time  event.Time `json:"time"`
	Agent string     `json:"agent"`
	Ref   string     `json:"ref,omitempty"`
}

// citationEntry is that one paper names another.
type citationEntry struct {
	From string
	To   string
	Seq  uint64
}

// begin implements Society.
func (laboratory) begin() part {
	return &paperTrail{Cast: map[string]int{}, Reviewed: map[uint64]event.Time{}, CitedBy: map[string][]string{}, Trial: map[uint64]string{}, Tried: map[string]uint64{}, Written: map[string]string{}}
}

// take implements part.
func (p *paperTrail) take(v *Views, e event.Event, s *quest.State) {
	c := &v.Canvas
	switch b := e.Body.(type) {
	case *event.PublicationSubmitted:
		p.published(c, e, b, s)
		p.turned(e, s)
		v.Artifacts.tree(e, "attachments", b.Title, b.Tree)
	case *event.ReviewSubmitted:
		p.Reviewed[e.Seq] = e.Time
		n := c.node(e, Node{ID: id("review", e.Seq), Kind: "review", Label: strings.ToLower(b.Grade), Agent: e.Actor, Ref: b.Ref, Status: b.Grade, Detail: event.Cut(b.Content.Text, maxLabel)})
		c.edge(e.Seq, Wrote, id("agent", e.Actor), n.ID, "")
		c.edge(e.Seq, Reviews, n.ID, id("paper", b.Ref), b.Grade)
	case *event.PublicationDecided:
		c.become(id("paper", b.Ref), e.Seq, b.Status)
		p.noted(s, b.Ref)
		p.turned(e, s)
	case *event.VoteCast:
		p.voted(c, e, b)
		p.turned(e, s)
	case *event.AdvisorySent:
		v.Desks.hear(e, func(name string) bool {
			return slices.Contains(b.To, name) || len(b.To) == 0 && name != b.Except
		})
	case *event.ReproductionCall:
		p.Trial[e.Seq] = b.Ref
	case *event.ReproductionResult:
		if ref, ok := p.Trial[b.Call]; ok {
			p.Tried[ref] = e.Seq
		}
		v.Artifacts.blob(e, "output", "reproduction", b.Output)
	case *event.QuestFinished:
		if best := lab.Library(s).Best(); best != nil {
			c.edge(e.Seq, CausedBy, id("answer", e.Seq), id("paper", best.Ref), "")
		} else {
			agents{}.take(v, e, s)
		}
	}
}

func (p *paperTrail) published(c *Canvas, e event.Event, b *event.PublicationSubmitted, s *quest.State) {
	n := c.node(e, Node{ID: id("paper", b.Ref), Kind: "paper", Label: event.Cut(b.Title, maxLabel), Agent: e.Actor, Ref: b.Ref, Status: event.Submitted, Says: p.says(lab.Library(s).Paper(b.Ref))})
	c.edge(e.Seq, Wrote, id("agent", e.Actor), n.ID, "")
	for _, to := range b.Citations {
		c.edge(e.Seq, Cites, n.ID, id("paper", to), "")
		p.CitedBy[to] = append(p.CitedBy[to], b.Ref)
		p.Citations = append(p.Citations, citationEntry{From: b.Ref, To: to, Seq: e.Seq})
	}
	if b.Revises != "" {
		c.edge(e.Seq, Revises, n.ID, id("paper", b.Revises), "")
	}
}

// says is what a paper claims, as the first paper that claims the same has written it.
func (p *paperTrail) says(x *paper.Paper) string {
	if x == nil || len(x.Claims) == 0 {
		return ""
	}
	key := strings.Join(x.Values(), "\n")
	if _, ok := p.Written[key]; !ok {
		p.Written[key] = plain.Unmarked(event.Cut(quest.InShort(strings.Join(x.Claims, ", ")), maxLabel))
	}
	return p.Written[key]
}

func (p *paperTrail) voted(c *Canvas, e event.Event, b *event.VoteCast) {
	p.Votes = append(p.Votes, VoteEntry{Seq: e.Seq, Time: e.Time, Agent: e.Actor, Ref: b.Ref})
	if old, ok := p.Cast[e.Actor]; ok {
		c.end(old, e.Seq)
		delete(p.Cast, e.Actor)
	}
	if x := c.edge(e.Seq, Votes, id("agent", e.Actor), id("paper", b.Ref), ""); x >= 0 {
		p.Cast[e.Actor] = x
	}
}

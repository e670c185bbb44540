package view

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// worlds is how the work of a maker is shown: by its attempts.
type worlds struct{ agents }

// worldTrail is what a maker adds to the views.
type worldTrail struct{ Making }

// begin implements Society.
func (worlds) begin() part { return &worldTrail{*NewMaking()} }

// read implements Society. What was made, what tiers said of it and what was seen is evidence.
func (worlds) read(r *reader, e event.Event) (done bool, err error) {
	switch b := e.Body.(type) {
	case *event.AttemptProposed:
		r.anchor(attemptName(b.Attempt), "tree", b.Tree.Hash)
		return false, nil
	case *event.AnalysisCall:
		r.begin(e, Step{Text: r.words(e), Args: sum(fmt.Sprint(b.Tier, b.HeldOut), b.Tree.Hash.String(), fmt.Sprint(b.Stories)), Waiting: true})
		r.called(e.Seq, attemptName(b.Attempt))
	case *event.AnalysisResult:
		// Pictures and times differ from run to run: verdicts are what two have in common.
		all := []string{b.Verdict, fmt.Sprint(b.Findings)}
		for i := range b.Stories {
			s := &b.Stories[i]
			all = append(all, s.Name, s.Verdict, fmt.Sprint(s.Met, s.Conditions))
			if s.After != nil && s.After.Picture != nil {
				r.anchor(r.subjects[b.Call], "picture of "+s.Name, s.After.Picture.Hash)
			}
		}
		r.lasted("analysis", b.Duration)
		r.close(e, b.Call, sum(all...), r.words(e), b.Verdict != "passed", b.Duration)
	case *event.MarksCall:
		r.begin(e, Step{Text: r.words(e), Args: sum(b.Text.Hash.String(), fmt.Sprint(b.Marks)), Waiting: true})
	case *event.MarksResult:
		r.close(e, b.Call, sum(fmt.Sprint(b.Missing)), r.words(e), b.Error != "" || len(b.Missing) > 0, 0)
	case *event.WorldCall:
		r.begin(e, Step{Text: r.words(e), Args: sum(b.Tree.Hash.String(), fmt.Sprint(stepLines(b.Steps))), Waiting: true})
		r.called(e.Seq, attemptName(b.Attempt))
	case *event.WorldObserved:
		if b.After.Picture != nil {
			r.anchor(r.subjects[b.Call], "picture", b.After.Picture.Hash)
		}
		r.lasted("tries", b.Duration)
		r.close(e, b.Call, sum(b.End, fmt.Sprint(b.Held, b.Unforeseen)), r.words(e), b.End != "done", b.Duration)
	default:
		return false, nil
	}
	return true, nil
}

// take implements part.
func (x *worldTrail) take(v *Views, e event.Event, s *quest.State) {
	about := makingCall{}
	if r, ok := e.Body.(event.Result); ok {
		about = x.Calls[r.Answers()] // the fold forgets it
	}
	x.Making.Take(e)
	x.draw(&v.Canvas, e, about)
	x.keep(&v.Artifacts, e, about)
	if _, ok := e.Body.(*event.QuestFinished); !ok {
		return
	}
	for _, a := range x.Attempts {
		if a.State == AttemptPassed {
			v.Canvas.edge(e.Seq, Supports, id("attempt", a.Number), id("answer", e.Seq), "")
		}
	}
	agents{}.take(v, e, s)
}

// keep lists what was made and seen.
func (x *worldTrail) keep(a *Artifacts, e event.Event, about makingCall) {
	switch b := e.Body.(type) {
	case *event.AttemptProposed:
		a.tree(e, "tree", attemptName(b.Attempt), &b.Tree)
	case *event.AnalysisResult:
		for i := range b.Stories {
			if s := &b.Stories[i]; s.After != nil {
				a.blob(e, "picture", fmt.Sprintf("attempt %d, %s", about.Attempt, s.Name), s.After.Picture)
			}
		}
	case *event.WorldObserved:
		a.blob(e, "picture", fmt.Sprintf("attempt %d, before", about.Attempt), b.Before.Picture)
		a.blob(e, "picture", fmt.Sprintf("attempt %d, after", about.Attempt), b.After.Picture)
	}
}

// draw adds what an event brought: the declared structure, attempts, verdicts and tries, each
// joined with what it came from.
func (x *worldTrail) draw(c *Canvas, e event.Event, about makingCall) {
	switch b := e.Body.(type) {
	case *event.StructureDeclared:
		x.drawStructure(c, e, b)
	case *event.AttemptProposed:
		n := c.node(e, Node{ID: id("attempt", b.Attempt), Kind: "attempt", Label: event.Cut(fmt.Sprintf("attempt %d: %s", b.Attempt, b.Intent), maxLabel), Agent: e.Actor, Status: AttemptJudging, Detail: event.Cut(b.Path, maxLabel)})
		c.edge(e.Seq, Wrote, id("agent", e.Actor), n.ID, "")
		if b.Structure > 0 {
			c.edge(e.Seq, CausedBy, n.ID, id("structure", b.Structure), "")
		}
		if b.Attempt > 1 {
			c.edge(e.Seq, Revises, n.ID, id("attempt", b.Attempt-1), "")
		}
	case *event.MarksGiven:
		c.edge(e.Seq, Reviews, id("agent", e.Actor), id("attempt", b.Attempt), "")
	case *event.TierJudged:
		label := tierName(b.Tier, false) + " " + b.Verdict
		n := c.node(e, Node{ID: fmt.Sprintf("tier:%d/%d", b.Attempt, b.Tier), Kind: "verdict", Label: event.Cut(label, maxLabel), Status: event.Cut(b.Verdict, maxLabel), Detail: event.Cut(b.Reason, maxLabel)})
		kind := Supports
		if b.Verdict == "failed" {
			kind = Attacks
		}
		c.edge(e.Seq, kind, n.ID, id("attempt", b.Attempt), "")
		x.become(c, e, b.Attempt)
	case *event.RewardGiven:
		x.become(c, e, b.Attempt)
	case *event.PredictionMade:
		n := c.node(e, Node{ID: id("try", e.Seq), Kind: "try", Label: event.Cut(fmt.Sprintf("%s predicted", Several(int64(len(b.Expect)), "condition")), maxLabel), Agent: e.Actor, Status: "predicted"})
		c.edge(e.Seq, CausedBy, n.ID, id("attempt", b.Attempt), "")
	case *event.WorldObserved:
		c.become(id("try", about.Try), e.Seq, event.Cut(b.End, maxLabel))
	case *event.SurpriseMeasured:
		c.become(id("try", b.Prediction), e.Seq, "surprise "+millionths(b.Mean))
	}
}

// become gives an attempt the state that it has come to.
func (x *worldTrail) become(c *Canvas, e event.Event, n int64) {
	if a := x.Attempt(n); a != nil {
		c.become(id("attempt", n), e.Seq, a.State)
	}
}

// maxParts is how many parts of a structure are drawn.
const maxParts = 60

// drawStructure draws what was declared: the whole, its parts, and loops from a lever to a
// channel.
func (x *worldTrail) drawStructure(c *Canvas, e event.Event, b *event.StructureDeclared) {
	whole := c.node(e, Node{ID: id("structure", e.Seq), Kind: "structure", Label: "declared structure", Agent: e.Actor, Detail: Several(int64(len(b.Structure.Loops)), "loop")})
	c.edge(e.Seq, Wrote, id("agent", e.Actor), whole.ID, "")
	at := func(kind, name string) string { return fmt.Sprintf("%s:%d/%s", kind, e.Seq, event.Cut(name, maxLabel)) }
	parts := worldParts(&b.Structure)
	for _, p := range parts[:min(len(parts), maxParts)] {
		n := c.node(e, Node{ID: at(p.kind, p.name), Kind: p.kind, Label: event.Cut(p.name, maxLabel), Status: event.Cut(p.is, maxLabel), Detail: event.Cut(p.at, maxLabel)})
		c.edge(e.Seq, CausedBy, n.ID, whole.ID, "")
	}
	for _, l := range b.Structure.Loops[:min(len(b.Structure.Loops), maxParts)] {
		c.edge(e.Seq, Supports, at("lever", l.Lever), at("channel", l.Channel), event.Cut(l.Name+": "+l.Response, maxLabel))
	}
}

package view

import (
	"slices"
	"strconv"

	"lyceum/internal/event"
	"lyceum/internal/society/stages/study"
)

// draw puts what a study has come to onto the canvas that every quest has, event by event; the
// canvas of a study, Branches and Traces, shows the same things with their lines of work. drawn is
// how many things were there before the event.
func (t *Trail) draw(c *Canvas, e event.Event, m *study.Study, drawn int) {
	for _, x := range t.Things[drawn:] {
		n := c.node(e, Node{ID: id("thing", x.ID), Kind: x.Kind, Label: event.Cut(x.Title, maxLabel), Agent: e.Actor, Status: standingOf(m, x.ID), Detail: event.Cut(x.Summary, maxLabel)})
		for _, named := range x.Because {
			from := t.named(m, named)
			kind := EvidenceOf
			if c.byID[from] != nil && c.byID[from].Kind == study.KindDecision {
				kind = DecidedBy
			}
			c.edge(e.Seq, kind, from, n.ID, "")
		}
		if x.Old != "" {
			c.edge(e.Seq, Supersedes, n.ID, id("thing", x.Old), "")
			c.become(id("thing", x.Old), e.Seq, "replaced")
		}
		if r, base := m.Result(x.ID), m.Baseline(); r != nil && base != nil && r.Kind != study.ResultSlice {
			c.edge(e.Seq, Compares, n.ID, id("thing", base.ID), "")
		}
	}
	switch e.Body.(type) {
	case *event.ReproductionResult, *event.BaselineAccepted:
		for _, x := range slices.Backward(t.Things) {
			if x.Last == e.Seq {
				c.become(id("thing", x.ID), e.Seq, standingOf(m, x.ID))
				return
			}
		}
	}
}

// standingOf is what is known of a thing: the verdict of a decision, or of a result.
func standingOf(m *study.Study, thing string) string {
	if r := m.Result(thing); r != nil {
		if r.Accepted != 0 {
			return "accepted"
		}
		return r.Verdict
	}
	if a := m.Artifact(thing); a != nil {
		return a.Verdict
	}
	return ""
}

// named is the node of what an id names, or the number of an event: the one that made a thing, or
// that ran a result.
func (t *Trail) named(m *study.Study, name string) string {
	seq, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		return id("thing", name)
	}
	for _, r := range m.Results {
		if r.Run == seq {
			return id("thing", r.ID)
		}
	}
	if i, ok := slices.BinarySearchFunc(t.Things, seq, func(x *Thing, seq uint64) int { return int(x.Seq) - int(seq) }); ok {
		return id("thing", t.Things[i].ID)
	}
	return ""
}

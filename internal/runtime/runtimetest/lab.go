package runtimetest

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
)

// Lab is the part of agents that publish, review, cite and vote, sensibly or not, or do
// nothing.
type Lab struct {
	agents, turns int64
	books         *labBooks
}

// NewLab returns the part of one lab: so many agents, with so many turns each.
func NewLab(agents, turns int64) *Lab {
	return &Lab{agents: agents, turns: turns, books: newLabBooks(agents)}
}

// Society implements Part.
func (*Lab) Society() quest.Society { return lab.Society{} }

// Rates implements Rough: a lab is long, and trouble at each step would be all there is.
func (l *Lab) Rates() Rates {
	return Rates{Most: int(1000 + 50*l.agents*l.turns), Crash: 3, Full: 2, Unheard: 2, Lost: 1, Doubled: 20, Early: 30, Person: 3, Outage: 2, Save: 2, Commands: 50, Failed: 80, Compare: 2}
}

// Make implements Part.
func (l *Lab) Make(w *World, b *event.QuestCreated) {
	for _, t := range (lab.Society{}).Own() {
		b.Agents[0].ToolNames = append(b.Agents[0].ToolNames, t.Name)
	}
	b.Agents[0].Name, b.Agents[0].Count = "agent", l.agents
	b.Computer = &event.ComputerSpec{}
	b.Lab = &event.LabSpec{Deadline: 1 + w.Int64N(40), Decision: []string{lab.Majority, lab.Unanimous}[w.IntN(2)], Reviewers: min(3, l.agents-1)}
	b.Limits = event.Limits{Agent: &event.Share{Turns: &l.turns}}
	if w.Chance(300) {
		b.Lab.Reviewers = w.Int64N(min(6, l.agents))
	}
	if w.Chance(500) {
		b.Limits.Turns = new(1 + w.Int64N(l.agents*l.turns))
	}
}

// Limits implements Limiter.
func (l *Lab) Limits(w *World, s *quest.State) (out event.Limits) {
	if s.Status == quest.Exceeded {
		out.Turns = new(s.Spent.Turns + 1 + w.Int64N(l.agents*l.turns))
	}
	return out
}

// Rows implements Caller.
func (*Lab) Rows() map[event.Type]Row {
	return map[event.Type]Row{"reproduction.call": func(w *World, call event.Event) event.Body {
		out := &event.ReproductionResult{Call: call.Seq, Status: []string{event.SameOutput, event.Differs, event.NotRun}[w.IntN(3)], Printed: w.Word()}
		if claims := call.Body.(*event.ReproductionCall).Claims; len(claims) > 0 {
			out.Missing = claims[w.IntN(len(claims)+1):]
		}
		return out
	}}
}

// Count implements Part.
func (l *Lab) Count(w *World, e event.Event) error { return l.books.count(w, e) }

// Settled implements Settled.
func (l *Lab) Settled(*World) error { return l.books.batch() }

// Watch implements Watcher.
func (l *Lab) Watch(_ *World, s *quest.State) error { return l.books.shown(s) }

// End implements Ender.
func (l *Lab) End(_ *World, s *quest.State) error { return l.books.end(s) }

// Received implements Receiver.
func (l *Lab) Received(d *quest.Delivery) { l.books.delivered(d) }

type object map[string]any

// some is a reference: of a paper that there is, mostly.
func (l *Lab) some(w *World) string {
	if n := len(l.books.refs); n > 0 && w.IntN(10) > 0 {
		return l.books.refs[w.IntN(n)]
	}
	return []string{"", strings.Repeat("0", 32), "x"}[w.IntN(3)]
}

// Call implements Part.
func (l *Lab) Call(w *World, agent string) (string, any) {
	asked := l.books.asked[agent]
	switch n := w.IntN(100); {
	case len(asked) > 0 && n < 70 || n < 3:
		ref := l.some(w)
		if len(asked) > 0 && w.IntN(20) > 0 {
			ref = asked[w.IntN(len(asked))]
		}
		grade := []string{"ACCEPT", "ACCEPT", "ACCEPT", "REJECT", "REJECT", "?"}[w.IntN(6)]
		content := secretReview + w.Word()
		if w.Chance(30) {
			content = " "
		}
		checked := object{"claim": w.Word(), "ran": w.Word(), "counterexample": w.Word()}
		if w.Chance(100) {
			delete(checked, "ran")
		}
		return "submit_review", object{"ref": ref, "grade": grade, "content": content, "confidence": w.IntN(7), "checked": checked}
	case n < 25:
		return "submit_publication", l.paper(w, agent)
	case n < 40:
		return "vote_solution", object{"ref": l.some(w)}
	case n < 60:
		return "get_publication", object{"ref": l.some(w)}
	case n < 70:
		return "list_publications", object{"limit": w.IntN(5), "order": []string{"latest", "citations", "?"}[w.IntN(3)]}
	case n < 73:
		return "list_review_requests", object{}
	case n < 75:
		return "search_publications", object{"query": w.Word(), "limit": w.IntN(25)}
	case n < 78:
		return "no_such_tool", object{}
	}
	return []string{Safe, Unsafe}[w.IntN(2)], object{"n": w.IntN(5)}
}

// paper is what somebody hands in.
func (l *Lab) paper(w *World, agent string) object {
	p := object{"title": w.Word(), "content": w.Word()}
	var cites strings.Builder
	for range w.IntN(4) {
		if n := len(l.books.refs); n > 0 {
			fmt.Fprintf(&cites, " [%s]", l.books.refs[w.IntN(n)])
		}
	}
	// What is in a code span is no citation.
	p["content"] = fmt.Sprintf("%s%s `[%032d]`", w.Word(), cites.String(), 7)
	if list := l.books.rejected[agent]; len(list) > 0 && w.Chance(400) {
		p["revises"] = list[w.IntN(len(list))]
	}
	if w.Chance(200) {
		p["attachments"], p["entrypoint"] = []string{"run.sh"}, []string{"run.sh", "programs/run.sh"}[w.IntN(2)]
	}
	if w.Chance(300) {
		p["claims"] = []string{fmt.Sprint(w.IntN(3)), w.Word()}
	}
	switch w.IntN(30) {
	case 0:
		p["title"] = "two\nlines"
	case 1:
		p["content"] = "   "
	case 2:
		p["content"] = "see [" + strings.Repeat("f", 32) + "]"
	case 3:
		p["attachments"] = []string{missingFile}
	case 4:
		p["entrypoint"] = "other.sh"
	case 5:
		p["revises"] = l.some(w)
	case 6:
		delete(p, "title")
	case 7:
		p["attachments"] = []string{"reviews.md"}
	}
	return p
}

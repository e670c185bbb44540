package lab

import (
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab/paper"
)

var _ quest.Reminder = Society{}

// Standing implements quest.Reminder: what an agent is asked to review, what it has
// published, and its vote.
func (Society) Standing(s *quest.State, a *agent.Agent) []string {
	l := Library(s)
	return []string{owed(l, a), published(l, a), voted(l, a)}
}

func owed(l *paper.Library, a *agent.Agent) string {
	open := l.Asked[a.Name]
	if len(open) == 0 {
		return "Reviews that you owe: none."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Reviews that you owe (%d), and must give before you publish:", len(open))
	for i, ref := range open {
		if i == maxShown {
			fmt.Fprintf(&b, "\n  and %d more: see list_review_requests", len(open)-i)
			break
		}
		p := l.Paper(ref)
		fmt.Fprintf(&b, "\n  %s by %s, %s, within %d of your turns", ref, p.Author, briefly(p), max(p.Request(a.Name).Deadline-a.Turns, 0))
	}
	return b.String()
}

func published(l *paper.Library, a *agent.Agent) string {
	own := l.By(a.Name)
	if len(own) == 0 {
		return "Your publications: none."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Your publications (%d), the latest first:", len(own))
	for i := len(own) - 1; i >= max(0, len(own)-maxShown); i-- {
		p := own[i]
		fmt.Fprintf(&b, "\n  %s %s, %s", p.Ref, p.Status, briefly(p))
		if p.Status == event.Submitted {
			accepts, rejects := p.Grades()
			fmt.Fprintf(&b, ", %d of %d reviews are in", accepts+rejects, p.Wanted)
		}
		if p.Status == event.Rejected && len(p.RevisedBy) > 0 {
			b.WriteString(", revised by " + p.RevisedBy[len(p.RevisedBy)-1])
		}
	}
	return b.String()
}

func voted(l *paper.Library, a *agent.Agent) string {
	p := l.Paper(l.Votes[a.Name])
	if p == nil {
		return "Your vote: none yet."
	}
	return fmt.Sprintf("Your vote: %s by %s, %s.", p.Ref, p.Author, briefly(p))
}

// briefly is the beginning of a paper's title: its author's words, in quotes that they
// cannot end.
func briefly(p *paper.Paper) string {
	const most = 80
	return paper.Quote(event.Shorten(p.Title, most))
}

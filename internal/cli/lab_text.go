package cli

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab"
)

// shortRef is enough of a reference for a person to find the paper by.
func shortRef(ref string) string {
	ref = oneLine(ref, 64)
	return ref[:min(len(ref), 8)]
}

// gistLab says in a line what happened among the papers of a lab.
func gistLab(b event.Body) string {
	switch b := b.(type) {
	case *event.ToolPrepared:
		if b.Error != "" {
			return oneLine("refused: "+b.Error, 80)
		}
		return fmt.Sprintf("call %d: %d files, %d citations", b.Call, len(b.Files), len(b.Citations))
	case *event.PublicationSubmitted:
		return b.Ref + " " + oneLine(b.Title, 60)
	case *event.ReproductionCall:
		return b.Ref + " runs " + oneLine(b.Entrypoint, 40)
	case *event.ReproductionResult:
		return strings.TrimSuffix(fmt.Sprintf("%s (%.1f ms) %s", oneLine(b.Status, 20), float64(b.Duration)/1000, oneLine(b.Reason, 60)), " ")
	case *event.ReviewRequested:
		return fmt.Sprintf("%s by %s until its turn %d", b.Ref, b.Reviewer, b.Deadline)
	case *event.ReviewExpired:
		if b.Instead == "" {
			return b.Ref + " by " + b.Reviewer + ", by nobody instead"
		}
		return b.Ref + " by " + b.Reviewer + ", by " + b.Instead + " instead"
	case *event.ReviewSubmitted:
		return b.Ref + " " + oneLine(b.Grade, 10) + ": " + oneLine(b.Content.Text, 50)
	case *event.PublicationDecided:
		return fmt.Sprintf("%s %s, %d for and %d against", b.Ref, oneLine(b.Status, 10), b.Accepts, b.Rejects)
	case *event.CitationMade:
		return fmt.Sprintf("%s cites %s", b.Ref, oneLine(strings.Join(append(b.To[:len(b.To):len(b.To)], b.Self...), ", "), 80))
	case *event.VoteCast:
		if b.Ref == "" {
			return "takes its vote back"
		}
		return "for " + b.Ref
	case *event.AdvisorySent:
		return oneLine(b.Kind+": "+b.Text.Text, 80)
	case *event.AgentParked:
		return oneLine(b.Reason, 80)
	}
	return ""
}

// lineLab tells a person what an event of a lab means; nothing, if another event
// tells it better.
func lineLab(e event.Event, s *quest.State) string {
	paper := func(ref string) string {
		if p := lab.Library(s).Paper(ref); p != nil {
			return shortRef(ref) + " “" + oneLine(p.Title, 50) + "”"
		}
		return shortRef(ref)
	}
	switch b := e.Body.(type) {
	case *event.PublicationSubmitted:
		return e.Actor + " hands in " + paper(b.Ref)
	case *event.ReproductionCall:
		return "the lab runs " + oneLine(b.Entrypoint, 40) + " of " + paper(b.Ref)
	case *event.ReproductionResult:
		out := "a paper's program: " + oneLine(b.Status, 20)
		if b.Reason != "" {
			out += ": " + oneLine(b.Reason, 100)
		}
		return out
	case *event.ReviewRequested:
		return b.Reviewer + " is asked to review " + paper(b.Ref)
	case *event.ReviewExpired:
		return b.Reviewer + " has not reviewed " + paper(b.Ref) + " in time"
	case *event.ReviewSubmitted:
		verb := " rejects "
		if b.Grade == event.Accept {
			verb = " accepts "
		}
		return e.Actor + verb + paper(b.Ref)
	case *event.PublicationDecided:
		return fmt.Sprintf("%s is %s (%d for, %d against)", paper(b.Ref), oneLine(b.Status, 10), b.Accepts, b.Rejects)
	case *event.VoteCast:
		if b.Ref == "" {
			return e.Actor + " takes its vote back"
		}
		return e.Actor + " votes for " + paper(b.Ref)
	case *event.AgentParked:
		return e.Actor + " is parked: " + strings.TrimPrefix(oneLine(b.Reason, 100), e.Actor+" ")
	}
	return ""
}

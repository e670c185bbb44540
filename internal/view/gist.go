package view

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lyceum/internal/event"
)

// subject is what an event is about, where that is not all it says.
func subject(b event.Body) string {
	switch b := b.(type) {
	case *event.ReviewRequested:
		return b.Ref
	case *event.ReviewSubmitted:
		return b.Ref
	case *event.PublicationDecided:
		return b.Ref
	case *event.CitationMade:
		return b.Ref
	case *event.CfpIssued:
		return b.Task
	case *event.BidSubmitted:
		return b.Task
	case *event.ContractAwarded:
		return b.Task
	case *event.TaskCompleted:
		return b.Task
	case *event.TaskFailed:
		return b.Task
	}
	return ""
}

// gist is what such an event says, in words where there are some.
func gist(b event.Body, said string, n names) string {
	switch b := b.(type) {
	case *event.ReviewRequested:
		return b.Reviewer + " is asked about " + n.call(b.Ref)
	case *event.ReviewSubmitted:
		return b.Grade + " for " + n.call(b.Ref) + ": " + n.plain(b.Content.Text)
	case *event.PublicationDecided:
		return fmt.Sprintf("%s is %s, %d for and %d against", n.call(b.Ref), b.Status, b.Accepts, b.Rejects)
	case *event.CitationMade:
		var to []string
		for _, ref := range append(b.To[:len(b.To):len(b.To)], b.Self...) {
			to = append(to, n.call(ref))
		}
		return n.call(b.Ref) + " cites " + strings.Join(to, ", ")
	case *event.VoteCast:
		if b.Ref == "" {
			return "takes its vote back"
		}
		return "for " + n.call(b.Ref)
	case *event.AgentParked:
		return b.Reason
	case *event.BidSubmitted:
		return fmt.Sprintf("%s, score %d", b.Task, b.Score)
	case *event.ContractAwarded:
		return b.Task + " to " + b.To
	case *event.ClaimMade:
		return b.Text
	case *event.IntentionFormed:
		return b.Intention + ": " + b.Reason
	case *event.ChallengeRaised:
		return b.Rule + ": " + b.Reason
	}
	return said
}

// maxLine is how much of a step's text is kept, in characters.
const maxLine = 200

// line is the beginning of a text, on one line.
func line(s string) string {
	// More bytes than this are never needed, and a text may be long. The cut may tear a
	// character; what comes after it is cut off anyway, or it is white space.
	s = strings.ToValidUTF8(s[:min(len(s), 16*maxLine)], "\uFFFD")
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= maxLine {
		return s
	}
	return string([]rune(s)[:maxLine-1]) + "…"
}

package view

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
)

// ReviewWords are what a review says, for people to read: what it is of, what it comes to, and its points
// by their numbers. Empty is one that came to nothing.
func ReviewWords(b *event.ReviewGiven) string {
	if b.Error != "" {
		return ""
	}
	head := "Review of " + b.Paper
	if b.Paper == "" {
		head = "Review"
	}
	if b.Source != study.SourceReviewer {
		head += ", from " + b.Source
	}
	lines := []string{fmt.Sprintf("%s, round %d: %s", head, b.Round, b.Summary)}
	for _, p := range b.Points {
		lines = append(lines, fmt.Sprintf("- point %d, %s: %s", p.Number, p.Severity, p.Text))
	}
	if len(lines) > 1 {
		lines[0] += "\n"
	}
	return strings.Join(lines, "\n")
}

// reviewSpeech is a review as part of a conversation.
func reviewSpeech(b *event.ReviewGiven) (Speech, bool) {
	words := ReviewWords(b)
	return Speech{Kind: "review", Text: event.Text{Text: words}}, words != ""
}

// ReviewStanding is a review as it stands: what it is of, where it comes from, and what was done about its points.
type ReviewStanding struct {
	Paper    string `json:"paper,omitempty"`
	Revision int64  `json:"revision,omitempty"`
	Round    int64  `json:"round"`
	Rounds   int64  `json:"rounds"`
	// Source is the file of materials that it stands in, empty for a reviewer's.
	Source string          `json:"source,omitempty"`
	Points []StandingPoint `json:"points"`
}

// StandingPoint is a point, and what was done about it: How is empty while it is open.
type StandingPoint struct {
	Number   int64    `json:"number"`
	Severity string   `json:"severity"`
	Text     string   `json:"text"`
	How      string   `json:"how,omitempty"`
	Answer   string   `json:"answer,omitempty"`
	Because  []string `json:"because,omitempty"`
}

// ReviewAt is the review that an event of a study gives, nil if it gives none.
func ReviewAt(s *quest.State, seq uint64) *ReviewStanding {
	st := studyOf(s)
	for _, r := range st.Reviews {
		if r.Seq != seq {
			continue
		}
		out := &ReviewStanding{Paper: r.Paper, Revision: r.Revision, Round: r.Round, Rounds: study.MaxRounds, Points: []StandingPoint{}}
		if r.Source != study.SourceReviewer {
			out.Source = r.Source
		}
		for _, p := range st.Points {
			if p.Round == r.Round {
				out.Points = append(out.Points, StandingPoint{p.Number, p.Severity, p.Text, p.How, p.Answer, p.Because})
			}
		}
		return out
	}
	return nil
}

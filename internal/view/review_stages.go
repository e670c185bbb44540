package view

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
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

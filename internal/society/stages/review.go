package stages

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
)

// The reviewer works beside the sittings: it is given the text of a paper in an empty window, and
// hands in a review. It has no home, no tool but that one, and hears nobody.

// review gives a paper that is due to the reviewer, and says of one that cannot work that there
// is no review. What is open when the study is finalized, it leaves as a warning.
func review(s *quest.State, m *Memory, e event.Event) []event.Draft {
	if left := m.Study.Left(); left != nil {
		return one(e, "core", left)
	}
	a := s.Agent(Reviewer)
	if a == nil {
		return nil
	}
	if m.Study.Reviewed != nil && a.Parked != "" {
		return noReview(s, e, event.Shorten(a.Parked, 2000))
	}
	p := m.Study.Due()
	if p == nil || a.Asked != 0 || len(a.Open) > 0 {
		return nil
	}
	round := m.Study.Rounds + 1
	words := quest.Fill(s.Texts["review"], "PAPER", fmt.Sprintf("%s, revision %d", p.ID, p.Revision), "ROUND", fmt.Sprint(round))
	return one(e, Reviewer, &event.ReviewBegun{Paper: p.ID, Revision: p.Revision, Round: round, Text: p.Text, Words: event.Text{Text: words}})
}

// remind tells a reviewer that has spoken and not handed in its review to do so, or gives up.
func remind(s *quest.State, e event.Event) []event.Draft {
	r := Of(s).Study.Reviewed
	switch {
	case r == nil:
		return nil
	case r.Reminded >= study.MaxReminders:
		return noReview(s, e, "the reviewer did not hand its review in")
	}
	return one(e, "core", &event.MessageSent{Text: event.Text{Text: s.Texts["review-end"]}, To: Reviewer})
}

// noReview says that a round came to no end.
func noReview(s *quest.State, e event.Event, why string) []event.Draft {
	r := Of(s).Study.Reviewed
	if r == nil {
		return nil
	}
	return one(e, Reviewer, &event.ReviewGiven{Error: why, Paper: r.Paper, Round: r.Round, Source: study.SourceReviewer, Summary: ""})
}

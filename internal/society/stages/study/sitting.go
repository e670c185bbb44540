package study

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
)

// Sitting is the work of the researcher from a prompt until it rests.
type Sitting struct {
	Number int64
	Seq    uint64
	Anchor string
	Branch string `json:",omitzero"`
	Runner string
	Skill  string
	// Durable says that it left something; Outcome is how it ended, empty while it is under
	// way.
	Durable bool   `json:",omitzero"`
	Outcome string `json:",omitzero"`
}

// Skills that belong to no anchor.
const (
	SkillDecision = "decision"
	SkillIntake   = "intake-audit"
	SkillReview   = "review"
	SkillRebuttal = "rebuttal"
	SkillFigures  = "figures"
)

// Skills are the names of all that a study has of its own: one for each anchor, and those that
// go across them.
var Skills = append(slices.Clone(Anchors), SkillDecision, SkillIntake, SkillReview, SkillRebuttal, SkillFigures)

// Under reports whether a sitting is under way.
func (s *Study) Under() bool { return s.Sitting != nil && s.Sitting.Outcome == "" }

// Next is the number of the next sitting.
func (s *Study) Next() int64 {
	if s.Sitting == nil {
		return 1
	}
	return s.Sitting.Number + 1
}

// Recovers reports whether the next sitting follows one that failed.
func (s *Study) Recovers() bool {
	return s.Sitting != nil && (s.Sitting.Outcome == event.SittingFailed || s.Sitting.Outcome == event.SittingInterrupted)
}

// SkillOf is the skill of the next sitting, which begins with that mail: the one that a person
// chose; decision, if the mail answers the question that is waited for or the last sitting
// failed; intake-audit, the first one with materials; else the anchor's.
func (s *Study) SkillOf(mail []uint64) string {
	answers := slices.ContainsFunc(s.Letters, func(r Routed) bool {
		return r.Answers && r.Thread == s.Question && slices.Contains(mail, r.Seq)
	})
	switch {
	case s.Skill != "":
		return s.Skill
	case answers || s.Recovers():
		return SkillDecision
	case s.Materials && s.Sitting == nil:
		return SkillIntake
	}
	return s.Anchor
}

// maxEmpty is how many sittings in a row that leave nothing durable park the quest.
const maxEmpty = 3

// Parks reports whether so many sittings left nothing that the study stops by itself.
func (s *Study) Parks() bool { return s.Empty >= maxEmpty }

// delays are how long a model that failed is left alone, by how often it has in a row.
var delays = []event.Time{10_000_000, 60_000_000, 360_000_000, 1_800_000_000}

// Delay is how long the study waits after the failures so far, in microseconds; false if it
// has waited often enough.
func (s *Study) Delay() (event.Time, bool) {
	if n := s.Failures - 1; n >= 0 && n < int64(len(delays)) {
		return delays[n], true
	}
	return 0, s.Failures == 0
}

// Fresh reports whether the next sitting needs a new window: the anchor, the branch or the
// runner is another, or the window is half full.
func (s *Study) Fresh(runner string, half bool) bool {
	last := s.Sitting
	return last == nil || half || last.Anchor != s.Anchor || last.Branch != s.Current || last.Runner != runner
}

// begun takes in the beginning of a sitting.
func (s *Study) begun(e event.Event, b *event.SittingBegun) {
	switch {
	case s.Under():
		panic(fmt.Sprintf("sitting %d begins while %d is under way", b.Number, s.Sitting.Number))
	case b.Number != s.Next() || b.Anchor != s.Anchor || b.Branch != s.Current || b.Recovers != s.Recovers():
		panic(fmt.Sprintf("sitting %d at %.40q, %.100q cannot be the next", b.Number, b.Anchor, b.Branch))
	case b.Skill != s.SkillOf(b.Mail):
		panic(fmt.Sprintf("sitting %d has the skill %.40q, want %s", b.Number, b.Skill, s.SkillOf(b.Mail)))
	}
	s.delivered(b.Mail)
	s.Skill, s.Concluded, s.Conclusion = "", 0, ""
	s.Sitting = &Sitting{Number: b.Number, Seq: e.Seq, Anchor: b.Anchor, Branch: b.Branch, Runner: b.Runner, Skill: b.Skill}
}

// ended takes in its end.
func (s *Study) ended(b *event.SittingEnded) {
	if !s.Under() || b.Number != s.Sitting.Number || b.Durable != s.Sitting.Durable {
		panic(fmt.Sprintf("sitting %d cannot end: it is not under way, or left something else than it says", b.Number))
	}
	s.Sitting.Outcome = b.Outcome
	switch {
	case b.Durable:
		s.Empty, s.Failures = 0, 0
	case b.Outcome == event.SittingRested:
		s.Empty++
		s.Failures = 0
	}
	if b.Outcome == event.SittingFailed || b.Outcome == event.SittingInterrupted {
		s.Failures++
	}
}

// durable notes that the sitting under way has left something.
func (s *Study) durable() {
	if s.Under() {
		s.Sitting.Durable = true
	}
}

package lab

import (
	"cmp"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Decisions are how a lab can decide about a paper; the first is the one it has if its
// spec does not say.
var Decisions = []string{Majority, Unanimous}

// What a lab does if its spec does not say.
const (
	DefaultProfile   = "research"
	DefaultReviewers = 3
	DefaultDeadline  = 40
)

// maxDeadline is the most turns that are believed to be meant.
const maxDeadline = 1_000_000

// The keys of a lab.
const (
	keyReviewers = "reviewers"
	keyDecision  = "decision"
	keyDeadline  = "review_deadline_turns"
)

var keys = []quest.Key{
	quest.NumberKey(keyReviewers, "how many agents review each paper of a lab, less than there are agents; 0 publishes at once; default: 3, or all others if they are fewer", 0, quest.MaxAgents-1),
	quest.TextKey(keyDecision, "which reviews publish a paper: majority (the default; a tie rejects) or unanimous", Decisions...),
	quest.NumberKey(keyDeadline, "within how many of its own turns an agent must give a review before another is asked; default 40", 1, maxDeadline),
	quest.SkillsKey(),
}

// About implements quest.Described.
func (Society) About() string {
	return "agents that publish papers, review each other and vote, see docs/lab.md"
}

// Keys implements quest.Keyed.
func (Society) Keys() []quest.Key { return keys }

// Check implements quest.Keyed.
func (Society) Check(s *quest.Spec) error {
	n := s.Agents.Count()
	if r := quest.ValueOf[int64](s, keyReviewers); r != nil && *r >= n {
		return quest.Fault(keyReviewers, "%d reviewers and %d agents: nobody reviews a paper of their own, so there can be %d", *r, n, n-1)
	}
	return quest.CheckSkills(s)
}

// Settle implements quest.Keyed: it says how papers are judged.
func (Society) Settle(s *quest.Spec, b *event.QuestCreated) error {
	b.Lab = &event.LabSpec{
		Deadline: DefaultDeadline, Decision: cmp.Or(quest.TextOf(s, keyDecision), Decisions[0]),
		Reviewers: min(DefaultReviewers, s.Agents.Count()-1),
	}
	if n := quest.ValueOf[int64](s, keyReviewers); n != nil {
		b.Lab.Reviewers = *n
	}
	if n := quest.ValueOf[int64](s, keyDeadline); n != nil {
		b.Lab.Deadline = *n
	}
	return nil
}

// Package study is what a researcher that people talk to knows, as a fold of the ledger: the
// anchor it stands at and how it came there, the threads of the conversation, the one question
// that waits for an answer, the cards of its memory, and how its sittings went.
//
// It decides nothing, and knows no quest. Which moves are allowed, which skill a sitting has,
// which blocks its prompt is made of and which cards are in it are functions of the fold, so
// that a ledger that says something else is found out.
//
// An event that cannot follow from those before it panics: such a ledger is forged.
package study

import (
	"fmt"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// The modes of a study: a copilot waits for people after each sitting, an autonomous one goes on.
const (
	Copilot    = "copilot"
	Autonomous = "autonomous"
)

// Study is the fold. encoding/json shows all of it; what is not shown is found again from that.
type Study struct {
	Mode   string
	Anchor string
	// Moves are the last of them, and Moved counts all.
	Moves []Move `json:",omitempty"`
	Moved int64  `json:",omitzero"`
	// Waived are the forward policies and the items of papers that a person lets pass, each once.
	Waived []Waiver `json:",omitempty"`
	// Sitting is the one under way, or the last one; nil before the first.
	Sitting *Sitting `json:",omitzero"`
	// Empty counts the sittings in a row that left nothing durable, Failures those that failed.
	Empty    int64 `json:",omitzero"`
	Failures int64 `json:",omitzero"`
	// Materials says that the quest was given some, which are looked through first.
	Materials bool `json:",omitzero"`
	// Compares says that reviews of the materials are read against their files, and Reports are
	// the last that were.
	Compares bool `json:",omitzero"`
	// Drops says that a review may be a file that came with a message; SentFiles are the last of
	// those.
	Drops     bool       `json:",omitzero"`
	SentFiles []SentFile `json:",omitempty"`
	Reports   []*Report  `json:",omitempty"`
	// Concluded is the interact.said that is the quest's answer, 0 while there is none, and
	// Conclusion its text.
	Concluded  uint64 `json:",omitzero"`
	Conclusion string `json:",omitzero"`
	// Skill is the one that a person wants the next sitting to have, empty for the usual.
	Skill string `json:",omitzero"`

	// Threads are the last of them, the oldest first. Question is the thread whose answer is
	// waited for, 0 if none is; Asked is the last question.
	Threads  []Thread  `json:",omitempty"`
	Question uint64    `json:",omitzero"`
	Asked    *Question `json:",omitzero"`
	// Letters are the messages that were not delivered yet, with the threads they belong to.
	Letters []Routed `json:",omitempty"`
	// Words are the last exchanges with people, the oldest first.
	Words []Exchange `json:",omitempty"`
	// Handed is the last event that delivered mail.
	Handed uint64 `json:",omitzero"`
	// Progress is the sum of the last progress that was said, zero if somebody spoke since.
	Progress event.Hash `json:",omitzero"`

	// Cards are those of the quest in the order of their first revisions.
	Cards []*Card `json:",omitempty"`
	// Global are the cards of the home that the next prompt shows, as the last call found them.
	Global []event.HomeCard `json:",omitempty"`
	// Sought is the number of the sitting for whose prompt the home was asked last.
	Sought int64 `json:",omitzero"`
	// Calls are the open card.calls, Found is what the last one for a tool call came to.
	Calls []Call `json:",omitempty"`
	Found *Found `json:",omitzero"`

	Literature

	// Lines are the lines of work.
	Lines

	// Effects are the last tool calls that had one.
	Effects []Effect `json:",omitempty"`

	Made
	Written

	// Outside are the conversations elsewhere.
	Outside

	index *index
}

// Effect is what a tool call did: the event of that seq.
type Effect struct {
	agent.Place
	Seq uint64
}

// How much is remembered of what is over.
const (
	maxEffects = 256
	maxMoves   = 64
	maxThreads = 256
)

// New is a study that begins at an anchor.
func New(mode, anchor string, materials bool) *Study {
	return &Study{Mode: mode, Anchor: anchor, Materials: materials, Lines: newLines()}
}

// Apply takes an event in. Those that are not about a study it passes over.
func (s *Study) Apply(e event.Event) {
	defer s.applyOutside(e)
	switch b := e.Body.(type) {
	case *event.UserMessage:
		if b.Document != nil {
			s.revised(e, b)
			break
		}
		s.heard(e, b.Reply, b.Sender, b.Text)
	case *event.InteractionAnswered:
		s.agreed(b)
		s.answered(e, b)
	case *event.InteractionOpened:
		s.opened(e, b)
	case *event.InteractionWithdrawn:
		s.closed(b.Interaction)
	case *event.InteractionExpired:
		s.closed(b.Interaction)
	case *event.MailDelivered:
		s.delivered(b.Messages)
		s.Handed = e.Seq
	case *event.MailWithdrawn:
		s.unsaid(b.Message)
	case *event.StudyOrder:
		s.ordered(e, b)
	case *event.SittingBegun:
		s.begun(e, b)
	case *event.SittingEnded:
		s.ended(b)
	case *event.AnchorMoved:
		s.moved(e, b)
	case *event.InteractSaid:
		s.said(e, b)
	case *event.CardWritten:
		s.written(e, b)
	case *event.CardPromoted:
		s.promoted(e, b)
	case *event.CardCall:
		s.asked(e, b)
	case *event.CardResult:
		s.found(b)
	case *event.PolicyBlocked:
		if b.Proposal == "quest.finished" {
			s.Concluded, s.Conclusion = 0, ""
		}
	case *event.QuestFinished:
		s.Concluded, s.Conclusion = 0, ""
	case *event.FileDiff:
		if b.Cause != event.CauseOutside {
			s.durable()
		}
	default:
		s.applyLiterature(e)
		s.applyReport(e)
		s.applyBranch(e)
		s.applyResult(e)
		s.applyPaper(e)
	}
}

// Abandon forgets what was asked of the world and not answered, as a fork does. People are asked
// again, and what was to be run is run again. Nobody elsewhere hears a fork.
func (s *Study) Abandon() {
	s.Calls, s.HomeCalls, s.Sought = nil, nil, 0
	s.Bound, s.Unsent = nil, nil // the origin's
	if t := s.Waits(); t != nil {
		t.Interaction = 0
	}
	for _, id := range s.Untried {
		s.Result(id).Call = 0
	}
	s.abandonPapers()
	s.abandon()
	s.abandonLookups()
	s.abandonReports()
}

// did notes that a tool call had its effect, once.
func (s *Study) did(e event.Event, at agent.Place) {
	if s.Effect(at) != 0 {
		panic(fmt.Sprintf("the call at %d of event %d has had its effect", at.Part, at.Answer))
	}
	s.Effects = append(s.Effects, Effect{at, e.Seq})
	if n := len(s.Effects) - maxEffects; n > 0 {
		s.Effects = slices.Delete(s.Effects, 0, n)
	}
	s.durable()
}

// Effect is the event that a tool call led to, 0 if it has had no effect.
func (s *Study) Effect(at agent.Place) uint64 {
	for i := len(s.Effects) - 1; i >= 0; i-- {
		if s.Effects[i].Place == at {
			return s.Effects[i].Seq
		}
	}
	return 0
}

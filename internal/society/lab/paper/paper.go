// Package paper is a lab's library: papers, the reviews of them, citations and
// votes, as a fold of the events that tell of them.
//
// It decides nothing: who reviews what, and what a grade leads to, are rules of the
// society. Everything that is asked for often is kept at hand, so that neither a turn
// nor a paper costs more the more papers there are.
package paper

import (
	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Library is what a quest has published. The zero value is an empty one.
type Library struct {
	// Papers in the order in which they were handed in.
	Papers []*Paper `json:",omitempty"`
	// Votes are the agents' current ones, by agent.
	Votes map[string]string `json:",omitempty"`
	// Due are the papers for which the rules have something to do: to have them run,
	// to ask reviewers, to decide, to tell somebody. In the order in which it arose.
	Due []string `json:",omitempty"`
	// Asked are the open review requests of each agent: references, oldest first.
	Asked map[string][]string `json:",omitempty"`
	// Cast is where the tool call of each agent's last vote stands.
	Cast map[string]agent.Place `json:",omitempty"`
	// Voted is the seq of the last vote.
	Voted uint64 `json:",omitzero"`
	// Readers is how many agents there are: with one, there is nobody to tell.
	Readers int64 `json:",omitzero"`

	index *index // made when it is first needed
}

// Paper is one that was handed in.
type Paper struct {
	Ref, Title, Author string
	// Status is SUBMITTED, PUBLISHED or REJECTED.
	Status      string
	Content     event.Text
	Tree        *event.TreeRef `json:",omitzero"`
	Attachments []string       `json:",omitempty"`
	Entrypoint  string         `json:",omitzero"`
	// Abstract is the first paragraph. Claims are the values it stands for: those its
	// author named, which Named says, or the numbers of the abstract.
	Abstract string   `json:",omitzero"`
	Claims   []string `json:",omitempty"`
	Named    bool     `json:",omitzero"`
	// Repeats are published papers that seem to say the same.
	Repeats []string `json:",omitempty"`
	// Revises is the paper it takes the place of, RevisedBy those that take its own.
	Revises   string   `json:",omitzero"`
	RevisedBy []string `json:",omitempty"`
	// Cites are the papers it names; Cited counts published ones by others that name
	// it.
	Cites []string `json:",omitempty"`
	Cited int64    `json:",omitzero"`
	// Place is where the tool call stands that it came with; Seq and Time are of the
	// event.
	Place agent.Place
	Seq   uint64
	Time  event.Time
	// Decided is the seq of the decision, 0 before it.
	Decided uint64 `json:",omitzero"`
	// Wanted is how many requests there are to be, those that take the place of
	// expired ones included; Next is the agent that takes the place of one.
	Wanted   int64     `json:",omitzero"`
	Next     string    `json:",omitzero"`
	Requests []Request `json:",omitempty"`
	Reviews  []Review  `json:",omitempty"`
	// Votes are how many agents it has the current vote of.
	Votes int64 `json:",omitzero"`
	// Warned says that its author knows which claims its output does not hold; Counted,
	// that its citations have been counted; Told, that its author knows
	// what became of it; Announced, that the others know.
	Warned    bool `json:",omitzero"`
	Counted   bool `json:",omitzero"`
	Told      bool `json:",omitzero"`
	Announced bool `json:",omitzero"`

	number int // its place among the papers
	// Trial is the open reproduction.call, Reproduction what came of it.
	Trial        uint64                    `json:",omitzero"`
	Reproduction *event.ReproductionResult `json:",omitzero"`
}

// IsRef reports whether s has the shape of a reference: 32 lower-case hex digits.
func IsRef(s string) bool { return len(s) == refLen && hexRun(s) == refLen }

const refLen = 32

// hexRun is how many hex digits s begins with.
func hexRun(s string) int {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return i
		}
	}
	return len(s)
}

// Request is that an agent review a paper.
type Request struct {
	Reviewer string
	// Deadline is the reviewer's turn by which it is to be done.
	Deadline int64
	// State is open, done or expired.
	State string
	// Told says that the reviewer knows of the request, Closed that it knows that it
	// has expired.
	Told   bool `json:",omitzero"`
	Closed bool `json:",omitzero"`
}

// The states of a request.
const (
	Open    = "open"
	Done    = "done"
	Expired = "expired"
)

// Review is an agent's judgement of a paper.
type Review struct {
	Reviewer string
	Grade    string
	Content  event.Text
	// Confidence is from 1 to 5. Claim is what the paper claims in the reviewer's words,
	// Ran what was checked and run, Counterexample the case that was tried against it.
	Confidence                 int64  `json:",omitzero"`
	Claim, Ran, Counterexample string `json:",omitzero"`

	Place agent.Place
	Seq   uint64
	// Told says that the author knows of it.
	Told bool `json:",omitzero"`
}

// Order says how papers are listed.
type Order string

// The orders.
const (
	Latest    Order = "latest"
	Citations Order = "citations"
)

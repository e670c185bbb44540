package view

import (
	"lyceum/internal/event"
)

// PaperTrail is what a lab's library does not keep: when things happened, and votes
// that no longer hold.
type PaperTrail struct {
	// Votes are all that were cast, in order.
	Votes []VoteEntry
	// Reviewed is when each review was handed in, by its seq.
	Reviewed map[uint64]event.Time
	// CitedBy are the papers that name a paper, whatever became of them, in the order
	// in which they were handed in; Citations are all such pairs.
	CitedBy   map[string][]string
	Citations []CitationEntry
	// Tried is when a paper's program had been run, by its reference.
	Tried map[string]uint64
	trial map[uint64]string
}

// VoteEntry is one vote; an empty Ref takes an earlier one back.
type VoteEntry struct {
	Seq   uint64     `json:"seq"`
	Time  event.Time `json:"time"`
	Agent string     `json:"agent"`
	Ref   string     `json:"ref,omitempty"`
}

// CitationEntry is that one paper names another.
type CitationEntry struct {
	From string
	To   string
	Seq  uint64
}

// Take adds the next event of the ledger.
func (p *PaperTrail) Take(e event.Event) {
	switch b := e.Body.(type) {
	case *event.VoteCast:
		p.Votes = append(p.Votes, VoteEntry{Seq: e.Seq, Time: e.Time, Agent: e.Actor, Ref: b.Ref})
	case *event.ReviewSubmitted:
		if p.Reviewed == nil {
			p.Reviewed = map[uint64]event.Time{}
		}
		p.Reviewed[e.Seq] = e.Time
	case *event.PublicationSubmitted:
		if p.CitedBy == nil {
			p.CitedBy = map[string][]string{}
		}
		for _, to := range b.Citations {
			p.CitedBy[to] = append(p.CitedBy[to], b.Ref)
			p.Citations = append(p.Citations, CitationEntry{From: b.Ref, To: to, Seq: e.Seq})
		}
	case *event.ReproductionCall:
		if p.trial == nil {
			p.trial, p.Tried = map[uint64]string{}, map[string]uint64{}
		}
		p.trial[e.Seq] = b.Ref
	case *event.ReproductionResult:
		if ref := p.trial[b.Call]; ref != "" {
			p.Tried[ref] = e.Seq
		}
	}
}

// Patch is how one text differs from another, as patches are written.
func Patch(before, after string) string { return unified(diffLines(before, after)) }

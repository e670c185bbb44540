package view

import (
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Conclusion is what stands behind a quest's answer, for who wants to know why to believe it:
// who says so and who says otherwise, what programs printed, how that came about. The value
// itself is the quest's verdict. What agents wrote is handed on as they wrote it.
type Conclusion struct {
	// Said is who agrees, in words; Printed is what programs say to it, empty if none ran.
	Said    string `json:"said"`
	Printed string `json:"printed,omitempty"`
	// Counts is what Same and Of of a turn count: papers or claims, empty if there is nothing
	// to count.
	Counts string `json:"counts,omitempty"`
	// Others are the other values that are claimed, those of most papers first.
	Others []OtherValue `json:"others"`
	// Carriers are the papers that say so, the best first; More is how many are left out.
	Carriers []Paper `json:"carriers"`
	More     int64   `json:"more_carriers,omitempty"`
	// Claims are those of a contract net.
	Claims []ClaimMark `json:"claims"`
	// Checks are what an agent that works alone had computed, the latest first.
	Checks []Check `json:"checks"`
	// History is how it came about, thinned where it is long.
	History []Turn `json:"history"`
}

// OtherValue is a value that is not the answer, and how many papers claim it.
type OtherValue struct {
	Value  string `json:"value"`
	Papers int64  `json:"papers"`
	// Ref is one of the papers.
	Ref string `json:"ref"`
}

// ClaimMark is a claim at a glance.
type ClaimMark struct {
	Claim int64  `json:"claim"`
	Text  string `json:"text"`
	By    string `json:"by"`
	// Status is stands, undecided, defeated, retracted, or made: not weighed yet.
	Status  string `json:"status"`
	Sources int64  `json:"sources"`
	Doubts  int64  `json:"doubts"`
	Open    int64  `json:"open_doubts"`
}

// Check is the output of a tool, held against the answer.
type Check struct {
	Seq    uint64 `json:"seq"`
	Tool   string `json:"tool"`
	Output string `json:"output"`
	// Holds is yes if the numbers of the answer are in it or follow from it, no if they are
	// not, failed if the tool said that something went wrong, and empty without an answer.
	Holds string `json:"holds,omitempty"`
}

// Turn is how an answer stood after an event.
type Turn struct {
	Seq   uint64     `json:"seq"`
	Time  event.Time `json:"time"`
	Value string     `json:"value"`
	// Same of Of say so; Votes are for it.
	Same  int64 `json:"same"`
	Of    int64 `json:"of"`
	Votes int64 `json:"votes"`
	// The papers of a lab by their status.
	PaperCounts
}

// maxTurns is how many turns of a history are told, maxCarriers how many papers, maxOthers
// how many other values, and maxChecks how many outputs are kept.
const (
	maxTurns    = 100
	maxCarriers = 6
	maxOthers   = 5
	maxChecks   = 40
)

// Conclusion is what stands behind a quest's answer, nil while nobody has proposed one.
func (v *Views) Conclusion(s *quest.State) *Conclusion { return Of(s).conclude(v, s) }

// conclude implements Society: what the verdict says, and nothing besides.
func (agents) conclude(_ *Views, s *quest.State) *Conclusion {
	verdict := s.Verdict()
	if verdict == nil {
		return nil
	}
	c := newConclusion()
	c.Said = verdict.Agree
	return c
}

func newConclusion() *Conclusion {
	return &Conclusion{Others: []OtherValue{}, Carriers: []Paper{}, Claims: []ClaimMark{}, Checks: []Check{}, History: []Turn{}}
}

// record adds a turn to a history, unless nothing but the event is new.
func record(history []Turn, next Turn) []Turn {
	if n := len(history); n > 0 {
		last := history[n-1]
		if last.Seq, last.Time = next.Seq, next.Time; last == next {
			return history
		}
	}
	return append(history, next)
}

// thinned leaves turns out of a history that is long, never the first, the last, or one with
// which the value changed.
func thinned(history []Turn) []Turn {
	out := []Turn{}
	step := max(1, (len(history)+maxTurns-1)/maxTurns)
	for i, t := range history {
		changed := i > 0 && history[i-1].Value != t.Value && len(out) < 2*maxTurns
		if i%step == 0 || i == len(history)-1 || changed {
			out = append(out, t)
		}
	}
	return out
}

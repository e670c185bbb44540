package contract

import (
	"fmt"

	"lyceum/internal/quest"
)

var _ quest.Concluder = Society{}

// Verdict implements quest.Concluder: the first claim that stands, and what the audit has
// left of the others.
func (Society) Verdict(s *quest.State) *quest.Verdict {
	n := Net(s)
	if s.Answer == nil || n == nil || n.Weighed == nil {
		return nil
	}
	stand, all := len(n.Weighed.Stand), len(n.Weighed.Stand)+len(n.Weighed.Defeated)+len(n.Weighed.Undecided)
	if stand == 0 {
		return &quest.Verdict{Value: quest.InShort(s.Answer.Text), Agree: fmt.Sprintf("none of %d claims stands", all), Sure: quest.SureLow, Why: "no claim stands"}
	}
	first := n.Claim(n.Weighed.Stand[0])
	v := &quest.Verdict{
		Value: quest.InShort(first.Text), Agree: fmt.Sprintf("%d of %d claims stand after the audit, this one on %d sources", stand, all, len(first.Sources)),
		Sure: quest.SureHigh, Why: "the auditor has no open doubt",
	}
	if open := len(s.Warnings); open > 0 {
		v.Sure, v.Why = quest.SureMedium, fmt.Sprintf("%d points stayed open", open)
	}
	return v
}

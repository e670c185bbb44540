package stages

import (
	"fmt"
	"strings"

	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
)

var _ quest.Concluder = Society{}

// Verdict implements quest.Concluder: what the study concluded, or else its best verified result; how
// many results came out again, and whether the best beats the baseline.
func (Society) Verdict(s *quest.State) *quest.Verdict {
	m := Of(s)
	if m == nil {
		return nil
	}
	leader := m.Study.Leader()
	v := &quest.Verdict{}
	switch {
	case s.Answer != nil:
		v.Value = quest.InShort(s.Answer.Text)
	case leader != nil:
		x := leader.Metrics[0]
		v.Value, v.Candidate = quest.InShort(strings.TrimSpace(x.Name+" "+x.Value+" "+x.Unit)+": "+leader.Title), true
	default:
		return nil
	}
	ran, verified := m.Study.Ran()
	v.Agree = fmt.Sprintf("%d of %d results came out again in fresh computers", verified, ran)
	v.Sure, v.Why = certainty(m.Study, leader, ran)
	if leader != nil {
		v.Source = leader.ID
	}
	return v
}

// certainty is high if the best result beats the baseline, both of them run twice; low if nothing that
// was run came out again.
func certainty(s *study.Study, leader *study.Result, ran int64) (sure, why string) {
	base := s.Baseline()
	switch {
	case ran == 0:
		return quest.SureUnchecked, "no result was run"
	case leader == nil:
		return quest.SureLow, "no main result came out as claimed"
	case base == nil:
		return quest.SureMedium, leader.ID + " was run twice; there is no baseline"
	}
	if yes, why := study.Beats(leader, base); !yes {
		return quest.SureMedium, leader.ID + " does not beat the baseline: " + why
	}
	return quest.SureHigh, leader.ID + " beats the baseline, and both were run twice"
}

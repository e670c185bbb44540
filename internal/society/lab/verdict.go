package lab

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab/paper"
)

var _ quest.Concluder = Society{}

// Verdict implements quest.Concluder: what the best paper claims, who voted for it, and
// which published papers say the same or something else.
func (Society) Verdict(s *quest.State) *quest.Verdict {
	best := Library(s).Best()
	if best == nil {
		return nil
	}
	same, otherwise := compared(Library(s), best)
	agents, votes := int64(len(s.Agents)), best.Votes
	v := &quest.Verdict{
		Value: quest.InShort(best.Title), Candidate: best.Votes == 0 || s.Status != quest.Finished,
		Votes: &votes, Voters: &agents, Same: &same, Otherwise: &otherwise,
	}
	v.Source = fmt.Sprintf("publication %s by %s", best.Ref, best.Author)
	if best.Named {
		v.Value = quest.InShort(strings.Join(best.Claims, ", "))
	}
	v.Agree = fmt.Sprintf("%d of %s; %s the same, %s otherwise", best.Votes, policy.Several(agents, "vote", "votes"), policy.Several(same, "other paper says", "other papers say"), policy.Several(otherwise, "paper says", "papers say"))
	v.Sure, v.Why = certainty(best, agents, otherwise)
	return v
}

// certainty is high if all want the paper, its program prints what it claims, and no paper
// says otherwise; low without a majority, or if the program does not print it.
func certainty(best *paper.Paper, agents, otherwise int64) (sure, why string) {
	why = "no program shows it"
	switch {
	case best.Held() > 0:
		why = "its program prints what it claims"
	case best.Held() < 0 && missing(best) > 0:
		why = "its program does not print what it claims"
	case best.Reproduction != nil:
		why = "its program: " + best.Shown()
	}
	switch {
	case best.Votes == agents && best.Held() > 0 && otherwise == 0:
		return quest.SureHigh, why
	case 2*best.Votes > agents && best.Held() >= 0:
		return quest.SureMedium, why
	}
	return quest.SureLow, why
}

// compared counts the other published papers that hold all values of the best one, and
// those that name values of their own among which one of these is not.
func compared(l *paper.Library, best *paper.Paper) (same, otherwise int64) {
	values := best.Values()
	if len(values) == 0 {
		return 0, 0
	}
	for _, p := range l.Papers {
		if p == best || p.Status != event.Published {
			continue
		}
		theirs := p.Values()
		lacks := slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(theirs, v) })
		switch {
		case !lacks:
			same++
		case p.Named == best.Named && len(theirs) > 0:
			otherwise++
		}
	}
	return same, otherwise
}

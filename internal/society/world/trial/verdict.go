package trial

import (
	"slices"

	"lyceum/internal/event"
)

// The verdicts of a story: exactly one of them.
const (
	Passed        = "passed"
	Assertion     = "assertion"     // a condition is not seen
	Accessibility = "accessibility" // a step finds nothing with that role and name
	Timeout       = "timeout"
	Crash         = "crash"
	Error         = "error"
	Vacuous       = "vacuous" // it says nothing
	Flaky         = "flaky"   // two runs differ
	Unavailable   = "unavailable"
)

// Verdicts are all verdicts of a story.
var Verdicts = []string{Passed, Assertion, Accessibility, Timeout, Crash, Error, Vacuous, Flaky, Unavailable}

// How a run ends: the steps were done, a step found nothing to act on, or it broke off.
const (
	Done    = "done"
	Missing = "missing"
)

// Run is one run of a story.
type Run struct {
	// End is done, missing, timeout, crash, error or unavailable.
	End string
	// Held says of each condition whether it was seen at the end.
	Held []bool
}

// passes reports whether a run does all that its story says.
func (r Run) passes(conditions int) bool {
	return r.End == Done && len(r.Held) == conditions && !slices.Contains(r.Held, false)
}

// Verdict is what the runs of a story come to. A story needs two of them, and of a page one
// without its scripts besides (still): what passes then too says nothing of what was made. Of a
// program there is none.
func Verdict(kind string, conditions int, runs []Run, still *Run) string {
	switch {
	case conditions == 0:
		return Vacuous
	case len(runs) == 0 || slices.ContainsFunc(runs, func(r Run) bool { return r.End == Unavailable }):
		return Unavailable
	case slices.ContainsFunc(runs[1:], func(r Run) bool { return r.End != runs[0].End || !slices.Equal(r.Held, runs[0].Held) }):
		return Flaky
	}
	switch first := runs[0]; first.End {
	case Missing:
		return Accessibility
	case Timeout, Crash, Error:
		return first.End
	case Done:
		if !first.passes(conditions) {
			return Assertion
		}
	default:
		return Error
	}
	switch {
	case len(runs) < 2, kind == Web && (still == nil || still.End == Unavailable):
		return Unavailable // nobody can say that it is neither flaky nor vacuous
	case kind == Web && still.passes(conditions):
		return Vacuous
	}
	return Passed
}

// Tier is what the stories of a tier come to: passed, failed or unavailable. One that failed is
// enough; what could not run does not make up for it. Of no story nothing is known, and it passes
// nothing: who has none fails.
func Tier(stories []event.StoryVerdict) string {
	verdict := Passed
	if len(stories) == 0 {
		verdict = Failed
	}
	for _, s := range stories {
		switch s.Verdict {
		case Passed:
		case Unavailable:
			if verdict == Passed {
				verdict = Unavailable
			}
		default:
			verdict = Failed
		}
	}
	return verdict
}

// Verdicts of a tier, besides passed and unavailable.
const (
	Failed = "failed"
	Waived = "waived"
)

// Median is the lower median: of an even number the smaller of the two in the middle.
func Median(marks []int64) int64 {
	if len(marks) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(marks))
	return s[(len(s)-1)/2]
}

// The parts of a reward, in thousandths.
const (
	ofStories       = 500
	ofAccessibility = 300
	ofConditions    = 200
)

// Reward is what stories earn: those that passed, those whose places were all found, the
// conditions that held. There is nothing for none, and where a story could not run nobody can
// tell: that is no reward, and not zero.
func Reward(stories []event.StoryVerdict) event.RewardGiven {
	var r event.RewardGiven
	var passed, reached, met, of, n int64
	for _, s := range stories {
		n++
		of += s.Conditions
		if s.Verdict != Vacuous { // what says nothing earns nothing
			met += s.Met
		}
		switch s.Verdict {
		case Unavailable:
			return event.RewardGiven{None: true}
		case Passed:
			passed++
			reached++
		case Assertion, Flaky:
			reached++
		}
	}
	r.Stories, r.Accessibility, r.Conditions = share(ofStories, passed, n), share(ofAccessibility, reached, n), share(ofConditions, met, of)
	r.Sum = r.Stories + r.Accessibility + r.Conditions
	return r
}

// share is the part of a whole, rounded down; of none it is nothing.
func share(whole, part, of int64) int64 {
	if of <= 0 {
		return 0
	}
	return whole * max(0, min(part, of)) / of
}

// HeldOut is the share of held-out stories that passed, in thousandths; nil if there are none, or
// one could not run.
func HeldOut(stories []event.StoryVerdict) *int64 {
	if len(stories) == 0 {
		return nil
	}
	var passed int64
	for _, s := range stories {
		switch s.Verdict {
		case Unavailable:
			return nil
		case Passed:
			passed++
		}
	}
	n := share(1000, passed, int64(len(stories)))
	return &n
}

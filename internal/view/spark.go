package view

import (
	"math/bits"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Sparks is how many buckets a spark line has.
const Sparks = 30

// Spark is how busy a quest was, from its first event to its last, in spans of equal
// length. Each event counts once, in its span or, near a border, in the next to it.
type Spark struct {
	Start  event.Time    `json:"start"`
	End    event.Time    `json:"end"`
	Counts [Sparks]int64 `json:"counts"`
}

// SparkOf makes the line of what a quest counted, the events of a stretch spread evenly over it.
func SparkOf(s *quest.State) (out Spark) {
	a := s.Activity
	if a.Long == 0 {
		return out
	}
	out.Start, out.End = a.Start, max(s.Time, a.Start)
	span := int64(out.End-out.Start) + 1
	before := int64(0)
	for i := range Sparks {
		// The last span ends with the last event, whatever the division leaves over.
		until := countUntil(&a, span/Sparks*int64(i+1)+span%Sparks*int64(i+1)/Sparks, span)
		out.Counts[i], before = until-before, until
	}
	return out
}

// countUntil is how many events came so long after the first, of a quest that lived for all.
func countUntil(a *quest.Activity, since, all int64) (n int64) {
	for i, count := range a.Counts {
		start := int64(i) * int64(a.Long)
		long := min(int64(a.Long), all-start) // the last one is not over yet
		if since-start >= long {
			n += count
			continue
		}
		if since > start {
			high, low := bits.Mul64(uint64(count), uint64(since-start))
			part, _ := bits.Div64(high, low, uint64(long))
			n += int64(part)
		}
		break
	}
	return n
}

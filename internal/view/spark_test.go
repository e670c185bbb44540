package view

import (
	"math"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// busy is a quest with events at these times, as its fold counts them.
func busy(times ...event.Time) *quest.State {
	s := &quest.State{}
	for _, at := range times {
		s.Count(at)
		s.Time = at
	}
	return s
}

// TestASparkCountsEachEventOnce whatever the times are, and where they are.
func TestASparkCountsEachEventOnce(t *testing.T) {
	t.Parallel()
	if got := SparkOf(&quest.State{}); got != (Spark{}) {
		t.Errorf("the spark of nothing is %v", got)
	}
	if got := SparkOf(busy(5)); got.Counts[Sparks-1] != 1 || got.Start != 5 || got.End != 5 {
		t.Errorf("the spark of one event is %v: want it in the last span", got)
	}
	even := []event.Time{}
	for i := range event.Time(3000) {
		even = append(even, 1_000_000+i*777)
	}
	late := append([]event.Time{0}, even...)
	for name, times := range map[string][]event.Time{
		"Even": even, "TheFirstLongBefore": late, "AtOnce": {7, 7, 7, 7}, "Hostile": {math.MinInt64, 0, math.MaxInt64}, "Backwards": {9, 3}, "ForEver": {0, math.MaxInt64 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := SparkOf(busy(times...))
			sum := int64(0)
			for i, n := range got.Counts {
				if n < 0 {
					t.Errorf("span %d has %d events", i, n)
				}
				sum += n
			}
			if sum != int64(len(times)) {
				t.Errorf("the spark counts %d events of %d: %v", sum, len(times), got.Counts)
			}
		})
	}
	for i, n := range SparkOf(busy(even...)).Counts {
		if n < 95 || n > 105 {
			t.Errorf("of 3000 events that come evenly, span %d has %d: want about 100", i, n)
		}
	}
	if got := SparkOf(busy(late...)).Counts; got[0] != 1 || got[3] != 0 || got[Sparks-1] < 100 {
		t.Errorf("one event, a pause and many events are %v", got)
	}
}

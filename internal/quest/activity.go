package quest

import "lyceum/internal/event"

// Stretches is how many stretches of time Activity tells apart.
const Stretches = 64

// Activity is how many events a quest had when: since its first event, in stretches of equal length. When
// the time no longer fits, each two become one, so that it stays small however long a quest lives.
type Activity struct {
	Start event.Time
	// Long is how long a stretch is, in microseconds; 0 before the first event.
	Long   event.Time
	Counts [Stretches]int64
}

// Count counts an event of a time. What claims to be from before the first event counts as if it came with that.
func (s *State) Count(at event.Time) {
	a := &s.Activity
	if a.Long == 0 {
		a.Start, a.Long = at, 1
	}
	since := max(at-a.Start, 0)
	for since/a.Long >= Stretches {
		for i := range Stretches / 2 {
			a.Counts[i] = a.Counts[2*i] + a.Counts[2*i+1]
		}
		clear(a.Counts[Stretches/2:])
		a.Long *= 2
	}
	a.Counts[since/a.Long]++
}

package view

import (
	"slices"
	"sort"

	"lyceum/internal/event"
)

// Mind implements Society. A belief takes the place of an earlier one about the same.
func (c contractNet) Mind(d *Desk, seq uint64) Mind {
	m := c.agents.Mind(d, seq)
	end := sort.Search(len(d.Mind), func(i int) bool { return d.Mind[i].Seq > seq })
	for _, t := range d.Mind[:end] {
		switch b := t.Body.(type) {
		case *event.BeliefUpdated:
			m.Beliefs = slices.DeleteFunc(m.Beliefs, func(o Belief) bool { return o.Belief == b.Belief })
			m.Beliefs = append(m.Beliefs, Belief{t.Seq, b.Belief, b.Value, b.Reason})
		case *event.DesireSet:
			m.Desires = append(m.Desires, Desire{t.Seq, b.Desire, b.Reason})
		case *event.IntentionFormed:
			m.Intentions = append(m.Intentions, Intention{t.Seq, b.Intention, b.Reason, b.Dropped, append([]string{}, b.Words...)})
		}
	}
	return m
}

package view

import (
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// Views are all projections of one quest that are kept while somebody looks at it. They
// grow event by event. Encode saves them, so that a long quest need not be read again;
// made again from the first event on they are the same.
type Views struct {
	Timeline  Timeline
	Cost      CostSeries
	Canvas    Canvas
	Desks     Desks
	Spaces    Workspaces
	Artifacts Artifacts
	Talk      Talk
	// society is what the quest's society adds, by its rules.
	rules   string
	society part
}

// Take adds the next event of the ledger; s is the quest's state after it.
func (v *Views) Take(e event.Event, s *quest.State) {
	v.Timeline.Take(e)
	v.Cost.Take(e)
	v.Canvas.Take(e, s)
	v.Desks.Take(e, s)
	v.Spaces.Take(e)
	v.Artifacts.Take(e)
	v.Talk.Take(e)
	if v.society == nil {
		v.rules, v.society = s.Rules, Of(s).begin()
	}
	v.society.take(v, e, s)
	v.Artifacts.pins(e)
}

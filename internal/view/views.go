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
	Papers    PaperTrail
	Spaces    Workspaces
	Artifacts Artifacts
}

// Take adds the next event of the ledger; s is the quest's state after it.
func (v *Views) Take(e event.Event, s *quest.State) {
	v.Timeline.Take(e)
	v.Cost.Take(e)
	v.Canvas.Take(e, s)
	v.Desks.Take(e, s)
	v.Papers.Take(e)
	v.Spaces.Take(e)
	v.Artifacts.Take(e)
}

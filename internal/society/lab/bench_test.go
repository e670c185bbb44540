package lab_test

import (
	"fmt"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/lab"
)

// BenchmarkTurn is what the rules take for a turn: a model's answer, a tool of the
// lab, its result and the next question. It must not depend on how many agents or
// papers there are.
func BenchmarkTurn(b *testing.B) {
	for _, agents := range []int64{3, 64, 256} {
		b.Run(fmt.Sprintf("agents=%d", agents), func(b *testing.B) { turns(b, agents, 10) })
	}
	for _, papers := range []int{10, 5000} {
		b.Run(fmt.Sprintf("papers=%d", papers), func(b *testing.B) { turns(b, 3, papers) })
	}
}

func turns(b *testing.B, agents int64, papers int) {
	spec := created(agents, event.LabSpec{Deadline: 40, Decision: lab.Majority})
	spec.Agents[0].Window = 4000 // as in a long quest, the window is full
	w := &world{Story: questtest.Begin(b, lab.Society{}, spec)}
	w.Start()
	for i := range papers {
		w.publishes(i%2, fmt.Sprint("Paper ", i), fmt.Sprint("content ", i))
	}
	ref := lab.Library(w.State).Papers[0].Ref
	for i := range agents { // all have heard of the papers
		w.does(int(i), "list_publications", "{}")
	}
	w.Events = nil
	n := 0
	for b.Loop() {
		w.does(2, "list_publications", fmt.Sprintf(`{"order":"citations","limit":3,"offset":%d}`, n%papers))
		w.does(2, "look", fmt.Sprintf(`{"n":%d}`, n)) // something new: else it is parked
		w.does(2, "vote_solution", args("ref", ref))
		w.Events = w.Events[:0]
		n++
	}
}

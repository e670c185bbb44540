package architect

import (
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// How many events a summary names, and how many lines it has of them.
const (
	maxSummed = 400
	maxLines  = 60
)

// summarize has a summary stand for what the architect was told long ago, once enough has
// happened since the last. It names the events, which recall still reads.
func summarize(s *quest.State, a *agent.Agent, e event.Event) []event.Draft {
	m := Of(s)
	since := m.Notes[min(m.Summed, int64(len(m.Notes))):]
	if int64(len(since)) <= m.Settings.Session.Summarize {
		return nil
	}
	first, last, ok := a.ToSum()
	if !ok {
		return nil
	}
	b := &event.TaskSummary{First: first, Last: last, Events: []uint64{}}
	for _, n := range since[max(0, len(since)-maxSummed):] {
		b.Events = append(b.Events, n.Seq)
	}
	var lines strings.Builder
	for _, n := range since[max(0, len(since)-maxLines):] {
		fmt.Fprintf(&lines, "[%d] %s\n", n.Seq, n.Line)
	}
	b.Text.Text = event.Shorten(quest.Fill(s.Texts["summed"], "TASKS", strings.Join(board(m), "\n"), "EVENTS", lines.String()), 9<<10)
	return one(e, Architect, b)
}

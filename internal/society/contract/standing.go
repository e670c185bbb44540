package contract

import (
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

var _ quest.Reminder = Society{}

// Standing implements quest.Reminder: what the planner has had found out, and what the coder
// is to compute.
func (Society) Standing(s *quest.State, a *agent.Agent) []string {
	n := Net(s)
	switch a.Name {
	case Planner:
		open := 0
		for _, t := range n.Tasks {
			if !t.Done {
				open++
			}
		}
		return []string{fmt.Sprintf("You are the planner: %d parts were delegated, %d of them are open; there are %d sources, and %d claims.", len(n.Tasks), open, len(n.Sources), len(n.Claims))}
	case Coder:
		if t := contractOf(n, Coder); t != nil {
			return []string{"Your contract is to compute: " + event.Shorten(t.Text, 1000)}
		}
		return []string{"You have no contract now."}
	}
	return nil
}

package runtime_test

import (
	"slices"
	"strings"
	"testing"
)

// Whoever reviews papers asks nobody, also where the quest's agents may ask: it has seen the paper
// alone, and what it wants to know are points.
func TestAReviewerAsksNobody(t *testing.T) {
	t.Parallel()
	for extra, asks := range map[string]bool{"": false, "may_ask: true\n": true} {
		b, _ := newStages(t, nil).made(plan(t, "q", "society: stages\n"+extra, offers))
		if len(b.Agents) != 2 {
			t.Fatalf("the study has %d agents, want a researcher and a reviewer", len(b.Agents))
		}
		if slices.Contains(b.Agents[0].ToolNames, "ask_person") != asks {
			t.Errorf("with %q the researcher has %q", extra, b.Agents[0].ToolNames)
		}
		if got := strings.Join(b.Agents[1].ToolNames, " "); got != "submit_review" {
			t.Errorf("with %q the reviewer has %s, want submit_review alone", extra, got)
		}
	}
}

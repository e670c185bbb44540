package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"lyceum/internal/event"
)

// TestAMoveOfAStudyIsAPlan: whoever follows a study over the protocol sees its stages as a plan, those
// before the one it is at as done.
func TestAMoveOfAStudyIsAPlan(t *testing.T) {
	t.Parallel()
	e, err := event.Seal("q", 1, event.Hash{}, event.Draft{Time: 1, Actor: "researcher", Body: &event.AnchorMoved{By: "tool", From: "scout", To: "idea", Reason: "Enough"}})
	if err != nil {
		t.Fatal(err)
	}
	all := Translate(t.Context(), "q", nil, e)
	if len(all) != 2 || all[0].Update.Plan == nil || all[1].Update.CurrentModeUpdate == nil || all[1].Update.CurrentModeUpdate.CurrentModeId != "idea" {
		t.Fatalf("a move gives %d updates, want a plan and the mode idea", len(all))
	}
	var got []string
	for _, x := range all[0].Update.Plan.Entries {
		got = append(got, x.Content+" "+string(x.Status))
	}
	want := "scout completed, baseline completed, idea in_progress, experiment pending, analysis-campaign pending, write pending, finalize pending"
	if strings.Join(got, ", ") != want {
		data, _ := json.Marshal(all[0])
		t.Errorf("the plan: %q, want %q\n%s", got, want, data)
	}
}

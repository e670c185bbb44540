package service_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/browser"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/world"
	"lyceum/internal/society/world/trial"
)

// TestConditionsSeeManyLines: conditions are judged by 200 lines of the console, dialogs and
// requests each; an event shows eight, and counts what it does not show.
func TestConditionsSeeManyLines(t *testing.T) {
	t.Parallel()
	inAWorld(t, nil, func(ctx context.Context, q *runtime.Quest) error {
		tree, err := treeOf(ctx, t.TempDir(), q.Blobs, map[string]string{"index.html": goodPage})
		if err != nil {
			return err
		}
		see := func(v browser.Visit) (*browser.Seen, error) {
			s := seenAs(trial.Done, "1")
			for i := range 250 {
				s.After.Console = append(s.After.Console, fmt.Sprintf("line %d", i))
			}
			for i := range 20 {
				s.After.Dialogs = append(s.After.Dialogs, fmt.Sprintf("dialog %d", i))
				s.After.Requests = append(s.After.Requests, event.WorldRequest{Method: "GET", URL: fmt.Sprintf("https://artifact.test/%d", i), Given: true})
			}
			if v.NoScripts {
				s.After.Console = nil
			}
			return s, nil
		}
		expect := []event.WorldCondition{
			{Kind: "console", Text: "line 199"}, {Kind: "dialog", Text: "dialog 19"}, {Kind: "request", Text: "https://artifact.test/19"}, {Kind: "console", Text: "line 200"},
		}
		set := world.Settings{Kind: trial.Web}
		w := service.WorldOf(q, set, see)
		try := &event.WorldCall{Tree: tree, Expect: expect}
		body, err := w.Answer(ctx, 10, try)
		if err != nil {
			return err
		}
		o := body.(*event.WorldObserved)
		if !slices.Equal(o.Held, []bool{true, true, true, false}) {
			t.Errorf("tried: got %v, want the 200th line seen and the 201st not", o.Held)
		}
		if a := o.After; len(a.Console) != 8 || len(a.Dialogs) != 8 || len(a.Requests) != 8 || a.Left != 242+12+12 || a.Lines == nil {
			t.Errorf("tried: the event shows %d, %d and %d lines and counts %d, want 8 of each and 266", len(a.Console), len(a.Dialogs), len(a.Requests), a.Left)
		}
		if o.Before.Lines != nil || o.Before.Left != 0 {
			t.Errorf("before, nothing was said, and %+v is left out", o.Before)
		}
		if what, err := looked(ctx, q, set, try, o); what != "" || err != nil {
			t.Errorf("looked at again: %s, %v", what, err)
		}
		o.After.Console[0] = "another"
		if what, err := looked(ctx, q, set, try, o); err != nil || !strings.Contains(what, "lines of the record") {
			t.Errorf("a line was changed: got %q, %v, want that it is found", what, err)
		}
		call := &event.AnalysisCall{Tier: 3, Tree: tree, Stories: []event.WorldStory{{Name: "many", Expect: expect[:3]}}}
		if body, err = w.Answer(ctx, 11, call); err != nil {
			return err
		}
		r := body.(*event.AnalysisResult)
		if s := r.Stories[0]; s.Verdict != trial.Passed || s.After.Left != 266 || len(s.After.Console) != 8 {
			t.Errorf("a story: got %+v, want it passed and what is left out counted", s)
		}
		if what, err := looked(ctx, q, set, call, r); what != "" || err != nil {
			t.Errorf("looked at again: %s, %v", what, err)
		}
		return nil
	})
}

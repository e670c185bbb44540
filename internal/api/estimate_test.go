package api_test

import (
	"context"
	"strings"
	"testing"

	"lyceum/internal/api"
)

// TestAFormIsToldTheCost: a spec that is sound is weighed without being made, one that costs nothing is not, and models
// are offered with their keys and prices to who may make quests.
func TestAFormIsToldTheCost(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Models: func(context.Context) ([]api.Offer, error) {
		return []api.Offer{{Name: "far/one", Key: "FAR_KEY", Input: "1.00", Output: "2.00"}}, nil
	}})
	type told struct {
		Valid    bool
		Estimate *struct {
			Known bool
			Words string
		}
	}
	ask := func(model string) (out told) {
		s.do("POST", "/api/validate", map[string]any{"spec": map[string]any{"name": "dear", "model": model, "problem": "Count.", "computer": "none"}}).want(t, 200).into(t, &out)
		return out
	}
	if got := ask("scholar"); !got.Valid || got.Estimate == nil || got.Estimate.Known || !strings.Contains(got.Estimate.Words, "No quest of solo with scholar") {
		t.Errorf("a quest like no other: got %+v, want an estimate that says that nothing is known", got)
	}
	if got := ask("demo"); !got.Valid || got.Estimate != nil {
		t.Errorf("a quest that costs nothing: got %+v, want no estimate", got)
	}
	s.do("GET", "/api/quests/dear", nil).want(t, 404)
	var options struct{ Models []api.Offer }
	s.do("GET", "/api/options", nil).want(t, 200).into(t, &options)
	if len(options.Models) != 1 || options.Models[0].Key != "FAR_KEY" {
		t.Errorf("models for the owner: got %+v, want the one with its key's name", options.Models)
	}
}

package view

import (
	"strings"
	"testing"

	"lyceum/internal/event"
)

// TestAnEstimateRestsOnThePast: on quests that are alike, the most alike first, and on nothing else.
func TestAnEstimateRestsOnThePast(t *testing.T) {
	t.Parallel()
	const dollar = 1_000_000_000
	prices := map[string]*event.Price{"dear": {Input: 4 * dollar, Output: 20 * dollar}, "cheap": {Input: dollar, Output: 2 * dollar}}
	price := func(m string) *event.Price { return prices[m] }
	past := []Past{
		{Quest: "a", Society: "lab", Models: []string{"cheap", "cheap"}, Cost: 2 * dollar},
		{Quest: "b", Society: "lab", Models: []string{"cheap", "cheap"}, Cost: 6 * dollar},
		{Quest: "c", Society: "lab", Models: []string{"cheap"}, Cost: 9 * dollar},
		{Quest: "mixed", Society: "lab", Models: []string{"cheap", "dear"}, Cost: 100 * dollar},
		{Quest: "alone", Society: "solo", Models: []string{"cheap"}, Cost: 50 * dollar},
	}
	for _, c := range []struct {
		name, society string
		models        []string
		want          string // "" for nothing known
		missing       string
	}{
		{"as many agents", "lab", []string{"cheap", "cheap"}, "about $4.00 ($2.00 to $6.00): 2 agents with cheap, by what 2 quests of lab took here (a, b)", ""},
		{"another number of them", "lab", []string{"cheap", "cheap", "cheap"}, "about $9.00 ($3.00 to $27.00): 3 agents with cheap, by what 3 quests of lab took here (a, b, c), for each agent", ""},
		{"another model", "solo", []string{"dear"}, "about $350.00 ($200.00 to $500.00): 1 agent with dear, by what 1 quest of solo took here (alone) with cheap at the prices of both", ""},
		{"two models", "lab", []string{"cheap", "nobody's"}, "", "nobody's"},
		{"another society", "contract", []string{"cheap"}, "", "cheap"},
		{"no price", "solo", []string{"nobody's"}, "", "nobody's"},
	} {
		e, missing, ok := Foresee(past, c.society, c.models, price)
		got := ""
		if ok {
			got = e.Words(c.society)
		}
		if got != c.want || missing != c.missing {
			t.Errorf("%s: got %q and %q missing, want %q and %q", c.name, got, missing, c.want, c.missing)
		}
	}
	var many []Past
	for _, name := range strings.Fields("a b c d e") {
		many = append(many, Past{Quest: name, Society: "solo", Models: []string{"cheap"}, Cost: dollar})
	}
	if e, _, _ := Foresee(many, "solo", []string{"cheap"}, price); !strings.HasSuffix(e.Words("solo"), "(a, b, c and 2 more)") {
		t.Errorf("five quests are named as %q", e.Words("solo"))
	}
}

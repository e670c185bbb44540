package society_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/society"
)

// TestSocietiesHaveNoKeyOfAll: a society that took one would take it from all others.
func TestSocietiesHaveNoKeyOfAll(t *testing.T) {
	t.Parallel()
	common, err := quest.Societies{}.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, soc := range society.All() {
		k, ok := soc.(quest.Keyed)
		if !ok {
			continue
		}
		for _, key := range k.Keys() {
			if slices.Contains(common.PropertyOrder, key.Name) {
				t.Errorf("%s has the key %s, which every quest.yaml can have", soc.Rules(), key.Name)
			}
			if key.Schema.Description == "" {
				t.Errorf("the key %s of %s is not described", key.Name, soc.Rules())
			}
		}
	}
}

// TestEveryProposalIsPlayed: policy check plays what agents propose, and what each society says that it proposes.
func TestEveryProposalIsPlayed(t *testing.T) {
	t.Parallel()
	var own []event.Type
	for _, soc := range society.All() {
		if p, ok := soc.(quest.Proposer); ok {
			own = append(own, p.Proposals()...)
		}
	}
	slices.Sort(own)
	if want := policy.Everybody().Own; !slices.Equal(own, want) {
		t.Errorf("societies propose %q of their own, and the catalogue marks %q: want the same, each said in the Proposals of its society", own, want)
	}
}

// TestSchemaIsFresh holds the generated file; make generate writes it anew.
func TestSchemaIsFresh(t *testing.T) {
	t.Parallel()
	s, err := society.All().Schema()
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/quest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want)+"\n" {
		t.Error("docs/quest.schema.json is stale: run make generate")
	}
}

// TestTheProblemIsToldOnce: it stands in each prompt of a society, and agents then hear another
// first word; or in none, and is what they hear first. Where some agents hear nothing that is
// said to all, it stands in the prompt of those who do.
func TestTheProblemIsToldOnce(t *testing.T) {
	t.Parallel()
	for _, soc := range society.All() {
		begins := slices.ContainsFunc(soc.Texts(), func(x event.NamedText) bool { return x.Name == "begin" })
		_, some := soc.(quest.Listener)
		for _, x := range soc.Texts() {
			if !quest.IsPrompt(x.Name) || some && x.Name != "system" {
				continue
			}
			if has := strings.Count(x.Text, "{{PROBLEM}}"); has > 1 || (has == 1) != begins {
				t.Errorf("the prompt %s of %s has the problem %d times, and its agents hear another first word: %v; want it told once", x.Name, soc.Rules(), has, begins)
			}
		}
	}
}

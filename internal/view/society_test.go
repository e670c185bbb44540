package view

import (
	"reflect"
	"testing"

	"lyceum/internal/quest"
)

func TestASocietyWithoutARowIsShownByItsAgents(t *testing.T) {
	t.Parallel()
	s := &quest.State{Rules: "relay/1"}
	if tally := Of(s).Tally(s); tally != (Tally{}) {
		t.Errorf("its line in a list: got %+v, want nothing but what all quests have", tally)
	}
	if r := Of(s).Role(s, "agent-0"); r.Papers == nil || r.Open == nil || len(r.Papers)+len(r.Open) > 0 {
		t.Errorf("an agent of it: got %+v, want empty lists, which are not null in JSON", r)
	}
	for name, soc := range societies {
		if got := named(name + "/7"); got != soc {
			t.Errorf("the rules %s/7 are shown as %T, want %T whatever their version", name, got, soc)
		}
	}
}

func TestWhatASocietyAddsIsSavedUnderItsRules(t *testing.T) {
	t.Parallel()
	for name := range societies {
		v := &Views{rules: name + "/1", society: named(name).begin()}
		if p, ok := v.society.(*paperTrail); ok {
			p.Votes = []VoteEntry{{Seq: 3, Agent: "agent-0"}}
		}
		if x, ok := v.society.(*argument); ok {
			x.Calls[5], x.Stand = "search:5", []int64{1}
		}
		data, err := v.Encode()
		if err != nil {
			t.Fatalf("views of rules %s cannot be saved: %v", name, err)
		}
		again, err := DecodeViews(data)
		if err != nil {
			t.Fatalf("views of rules %s cannot be read back: %v", name, err)
		}
		if again.rules != v.rules || !reflect.DeepEqual(again.society, v.society) {
			t.Errorf("%s, saved and read: got %+v, want %+v", v.rules, again.society, v.society)
		}
	}
}

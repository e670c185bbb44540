package api_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/runtime"
)

func TestAnImportedQuestShowsWhatItAsksFor(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve(api.Options{Model: "demo"})
	s.create("spy", map[string]any{"model": "demo", "computer": map[string]any{"driver": "bubblewrap", "network": "open"}})
	s.create("own", map[string]any{"model": "demo"})
	var events struct {
		Events []struct {
			Event struct {
				Hash string `json:"hash"`
			} `json:"event"`
		} `json:"events"`
	}
	s.do("GET", "/api/quests/spy/events?limit=1", nil).want(t, 200).into(t, &events)
	mark, err := json.Marshal(map[string]any{"first": events.Events[0].Event.Hash, "allowed": map[string]any{}})
	if err == nil {
		err = os.MkdirAll(filepath.Join(h.dir, "imported"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(h.dir, "imported", "spy"), mark, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	imported := func(name string) *api.ImportedQuest {
		t.Helper()
		var d struct {
			Imported *api.ImportedQuest `json:"imported"`
		}
		s.do("GET", "/api/quests/"+name, nil).want(t, 200).into(t, &d)
		return d.Imported
	}
	if im := imported("own"); im != nil {
		t.Errorf("a quest that was made here: got %+v, want nothing of an import", im)
	}
	if im := imported("spy"); im == nil || im.Asks.Network != "open" || im.Asks.Computer != "bubblewrap" || len(im.Withheld) != 1 || im.Allowed.Network {
		t.Fatalf("an imported quest: got %+v, want that it asks for an open network and has none", im)
	}
	s.control("spy", map[string]any{"action": "allow", "allow": map[string]any{"open_network": true, "hosts": []string{"10.0.0.5"}}}).want(t, 200)
	if im := imported("spy"); !im.Allowed.OpenNetwork || len(im.Allowed.Hosts) != 1 || len(im.Withheld) != 0 {
		t.Errorf("after the owner's word: got %+v", im)
	}
	for _, bad := range []map[string]any{
		{"action": "allow"},
		{"action": "allow", "allow": map[string]any{"hosts": []string{"no host"}}},
	} {
		s.control("spy", bad).want(t, 400)
	}
	s.control("own", map[string]any{"action": "allow", "allow": runtime.Allowance{Network: true}}).want(t, 400)
}

package api

import (
	"encoding/json"
	"maps"

	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// glanced is what the list says of a quest, as of a head.
type glanced struct {
	Head    ledger.Head
	Summary Summary
	// Is is empty of a quest that cannot be read.
	Is            quest.Status
	Warned, Waits bool
}

// glancesOf is the name of the file that the list is saved in, for the next server of the home.
const glancesOf = "server"

// loadGlances takes up what the last server saw. Of each quest that holds until its head moves.
func (s *Server) loadGlances() {
	var saved map[string]glanced
	if json.Unmarshal(s.rt.LoadGlances(glancesOf), &saved) != nil {
		return
	}
	for name, g := range saved {
		if g.Is != "" {
			s.glances.Store(name, g)
		}
	}
}

// saveGlances saves what was seen, if anything was. A cache that cannot be written is made again.
func (s *Server) saveGlances() {
	if !s.looked.Swap(false) {
		return
	}
	all := map[string]glanced{}
	s.glances.Range(func(name, g any) bool { all[name.(string)] = g.(glanced); return true })
	maps.DeleteFunc(all, func(_ string, g glanced) bool { return g.Is == "" })
	if data, err := json.Marshal(all); err == nil {
		_ = s.rt.SaveGlances(glancesOf, data)
	}
}

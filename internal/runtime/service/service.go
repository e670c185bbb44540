// Package service holds the workshops: what each society needs of the world besides
// models and tools.
//
// A workshop decides nothing. It answers calls that the rules have recorded, writes
// files that follow from the ledger, and can tell of what it once answered whether that
// can be so. A society without such needs has no file here.
package service

import "lyceum/internal/runtime"

// Workshops are all there are, by the names of their societies. The browser of pages is where browser
// says, or at the usual places if it says nothing.
func Workshops(browser string) map[string]runtime.Workshop {
	return map[string]runtime.Workshop{
		"lab":       Lab{},
		"contract":  Contract{},
		"architect": Architect{},
		"stages":    Stages{},
		"world":     World{Browser: browser},
	}
}

package cli

import (
	"lyceum/internal/quest"
	binary "lyceum/internal/society"
)

// societies are the rules that this binary has.
func societies() quest.Societies { return binary.All() }

// shown has how each society is shown, by its name. One that is not here is shown as an
// agent that answers.
var shown = map[string]society{
	"lab":       laboratory{},
	"contract":  contractNet{},
	"architect": architects{},
	"stages":    studies{},
	"world":     worlds{},
}

//go:build race

package runtime_test

// As for the other simulations: a lab is simulated in one goroutine, so the race
// detector finds little and takes long.
const (
	defaultLabSeeds  = 2
	defaultLabAgents = 16
	defaultLabTurns  = 30
	smallLabSeeds    = 5
	manyLabSeeds     = 0
	// crashStep is how far apart the events are after which a lab is dropped.
	crashStep = 40
)

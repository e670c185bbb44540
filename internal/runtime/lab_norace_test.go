//go:build !race

package runtime_test

const (
	defaultLabSeeds  = 8
	defaultLabAgents = 64
	defaultLabTurns  = 200
	smallLabSeeds    = 60
	manyLabSeeds     = 2
	// crashStep is how far apart the events are after which a lab is dropped.
	crashStep = 15
)

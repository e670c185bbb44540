//go:build race

package runtime_test

// A simulation runs in one goroutine, so the race detector finds little in it
// and takes long to. make test runs all seeds without it as well.
const defaultSeeds = 150

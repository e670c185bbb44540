//go:build !race

package demo

// race says that the race detector is on, which makes calculations slow.
const race = false

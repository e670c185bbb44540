//go:build !race

package need

// Detector says whether the race detector is on, with which everything takes ten times as long.
const Detector = false

//go:build !race

package runtime_test

const defaultSeeds = 2500

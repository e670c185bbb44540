//go:build race

package sqlite_test

// The race detector makes SQLite twenty times slower; make test runs all rounds
// without it as well.
const rounds = 6

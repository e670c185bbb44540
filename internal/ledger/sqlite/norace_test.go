//go:build !race

package sqlite_test

const rounds = 200

//go:build race

package modeltest

const raced = true

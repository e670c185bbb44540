package main

import (
	"path/filepath"
	"testing"
)

// BenchmarkTurn is a turn in process: one call of a model that is a script, one of a tool.
func BenchmarkTurn(b *testing.B) {
	b.ReportAllocs()
	r, err := measureCell(cell{Loop: "lyceum", Model: "script", N: 1, K: b.N, Dir: filepath.Join(b.TempDir(), "home")})
	if err != nil {
		b.Fatalf("a quest of %d turns: %v", b.N, err)
	}
	b.Logf("%d turns", r.Turns)
}

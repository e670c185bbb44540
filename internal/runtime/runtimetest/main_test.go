package runtimetest_test

import (
	"os"
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

// A simulated quest is small, and so is the heap: by itself the collector would run all the time.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	goleak.VerifyTestMain(m)
}

package behavior

import (
	"testing"

	"go.uber.org/goleak"
)

// A straight-line thread that nobody ended is a goroutine that nobody ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

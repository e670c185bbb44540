package runtime

import (
	"time"

	"lyceum/internal/event"
)

// Clock tells the time. This file is the one place where Lyceum looks at the
// real one; a test over the source holds that.
type Clock func() event.Time

// SystemClock is the real time.
func SystemClock() event.Time { return event.TimeOf(time.Now()) }

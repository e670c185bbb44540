package runtime

import (
	"time"

	"lyceum/internal/event"
)

// Clock tells the time that events are recorded with. This file is the one place that
// looks at the real one for them; a test over the source holds that, and names the few
// others, whose times are only how long something took.
type Clock func() event.Time

// SystemClock is the real time.
func SystemClock() event.Time { return event.TimeOf(time.Now()) }

package proxy

import "time"

// now is the one place that looks at the clock: for how long a connection took,
// and for when the next refusal is answered.
func now() time.Time { return time.Now() }

package mcp

import "time"

// now is the one place that looks at the clock: for how much a server sends in a time.
func now() time.Time { return time.Now() }

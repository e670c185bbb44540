package provider

import "time"

// Clock is what a Registry needs of time.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f after d, unless the function it returns is called before.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type system struct{}

func (system) Now() time.Time { return time.Now() }
func (system) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

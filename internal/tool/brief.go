package tool

import (
	"context"
	"errors"
)

// ErrLonger says that a call that was to be made briefly takes longer. Nothing has come of it, and it
// can be made without that word.
var ErrLonger = errors.New("the call takes longer than a moment")

type briefKey struct{}

// Briefly has a tool that is Brief answer within some hundred microseconds, on the caller's
// goroutine, or fail with ErrLonger.
func Briefly(ctx context.Context) context.Context { return context.WithValue(ctx, briefKey{}, true) }

func brief(ctx context.Context) bool { return ctx.Value(briefKey{}) != nil }

package connector

import (
	"context"
	"fmt"
	"time"
)

// Checker is a Driver that can find out whether its service is there and takes its keys. It says
// nothing to anybody, and changes nothing there.
type Checker interface {
	// Check says what it found, in a few words.
	Check(ctx context.Context) (string, error)
}

// MaxCheck is how long a service has to answer a check.
const MaxCheck = 10 * time.Second

// Check finds out whether a connector works, as far as that can be known without a message. What it
// says has no secret in it.
func (c *Connector) Check(ctx context.Context) (string, error) {
	if c.Driver == nil {
		return "", clean(c, c.Fault)
	}
	k, ok := c.Driver.(Checker)
	if !ok {
		return "its driver has nothing to try", nil
	}
	within, cancel := context.WithTimeout(ctx, MaxCheck)
	defer cancel()
	text, err := k.Check(within)
	if within.Err() != nil && ctx.Err() == nil {
		return "", fmt.Errorf("it has not answered within %v", MaxCheck)
	}
	return hide(text, c.Secrets), clean(c, err)
}

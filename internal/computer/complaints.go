package computer

import (
	"context"
	"fmt"
	"sync"

	"lyceum/internal/plain"
)

// maxComplaint is how much is kept of what a command complains about.
const maxComplaint = 2 << 10

// Complaints are the end of what a command writes to its standard error: what it says just
// before it ends is mostly why.
type Complaints struct {
	over chan struct{}
	mu   sync.Mutex
	end  []byte
}

// Complaints listens to a command until it has ended, or the context has.
func (c *Computer) Complaints(ctx context.Context, id string) *Complaints {
	k := &Complaints{over: make(chan struct{})}
	go func() {
		defer close(k.over)
		in, buf := c.Follow(ctx, id, Stderr, 0), make([]byte, 4<<10)
		for {
			n, err := in.Read(buf)
			k.mu.Lock()
			k.end = append(k.end, buf[:n]...)
			k.end = k.end[max(0, len(k.end)-maxComplaint):]
			k.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return k
}

// Over is closed when there are no more.
func (k *Complaints) Over() <-chan struct{} { return k.over }

// Explain adds them to an error, if there are any.
func (k *Complaints) Explain(err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if said := plain.Line(string(k.end)); said != "" {
		return fmt.Errorf("%w; it complained: %s", err, plain.CutFront(said, 500))
	}
	return err
}

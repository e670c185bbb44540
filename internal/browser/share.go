package browser

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A visit has its limit as time in which it could have worked. On a machine with more to do than it
// has processors a page that is right waits for its turn, and the wall clock would call it slow: what
// the machine made everybody wait does not count, and the limit is met all the same once the browser has
// worked for as long itself.
const (
	// most is how many times its limit a visit may take by the wall clock, whatever the machine does.
	most = 6
	// again is how long until a visit that was given more time is looked at again.
	again = 100 * time.Millisecond
)

// share is what a visit had of the machine since it began.
type share struct {
	wall   time.Duration
	worked time.Duration // by the processors, all processes of the browser together
	waited time.Duration // in which somebody on this machine was ready to work and had no processor
}

// used reports whether a visit has had its limit.
func (s share) used(limit time.Duration, most int64) bool {
	return s.worked >= limit || s.wall-s.waited >= limit || s.wall >= time.Duration(most)*limit
}

// bounded returns a context that ends when a visit has had its limit.
func (b *Browser) bounded(ctx context.Context, k *conn, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	began, waited, worked := now(), b.waited(), k.worked(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		timer := time.NewTimer(limit)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
			s := share{wall: now().Sub(began), waited: b.waited() - waited}
			if !s.used(limit, b.most) {
				s.worked = k.worked(ctx) - worked
			}
			if s.used(limit, b.most) {
				end(&ending{Timeout, fmt.Sprintf("it took more than %s", limit)})
				return
			}
			timer.Reset(again)
		}
	}()
	return ctx, func() { end(nil); <-watched }
}

// worked is how long the browser's processes have had a processor, zero if the browser does not say.
func (k *conn) worked(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var all struct {
		Processes []struct {
			Seconds float64 `json:"cpuTime"`
		} `json:"processInfo"`
	}
	if k.call(ctx, "", "SystemInfo.getProcessInfo", nil, &all) != nil {
		return 0
	}
	sum := 0.0
	for _, p := range all.Processes {
		sum += p.Seconds
	}
	return time.Duration(sum * float64(time.Second))
}

// pressed is how long, since this machine was started, something on it was ready to work and had no
// processor; zero where the kernel does not say: then limits are those of the wall clock.
func pressed() time.Duration {
	text, _ := os.ReadFile("/proc/pressure/cpu")
	return pressure(string(text))
}

// pressure reads a file of the kernel: "some avg10=0.00 … total=microseconds".
func pressure(text string) time.Duration {
	line, _, _ := strings.Cut(text, "\n")
	_, total, ok := strings.Cut(line, "total=")
	n, err := strconv.ParseInt(total, 10, 64)
	if !ok || !strings.HasPrefix(line, "some ") || err != nil {
		return 0
	}
	return time.Duration(n) * time.Microsecond
}

package wire

import (
	"context"
	"sync"
	"time"
)

// maxUnderWay is of how many deliveries Steps knows how far they came.
const maxUnderWay = 256

// Steps does deliveries that take more than one call. What a service without keys has taken is
// not said again by the next try, as long as the process lives. Its zero value is ready.
type Steps struct {
	mu    sync.Mutex // guards the rest
	done  map[string]int
	order []string
}

// Do takes the steps of a delivery, from where the last try with its key came to.
func (s *Steps) Do(key string, steps []func() error) error {
	for i := s.at(key); i < len(steps); i++ {
		if err := steps[i](); err != nil {
			s.keep(key, i)
			return err
		}
	}
	s.keep(key, 0)
	return nil
}

func (s *Steps) at(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done[key]
}

// keep remembers how many steps are done; of none there is nothing to remember.
func (s *Steps) keep(key string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.done[key]
	switch {
	case n == 0:
		delete(s.done, key)
		return
	case s.done == nil:
		s.done = map[string]int{}
	}
	if s.done[key] = n; !known {
		s.order = append(s.order, key)
	}
	for len(s.order) > maxUnderWay {
		delete(s.done, s.order[0])
		s.order = s.order[1:]
	}
}

// Pause waits, unless the context ends before.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

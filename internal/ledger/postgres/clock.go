package postgres

import (
	"context"
	"sync"
	"time"

	"lyceum/internal/event"

	"github.com/jackc/pgx/v5"
)

// now is this machine's clock: of what it says only how long something took counts here.
func now() time.Time { return time.Now() }

// clock is the database's, as a node knows it: this machine's, moved by what a beat has shown.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
}

// learn takes the time that the database told, halfway between asking and now. What fits what is known stays as it is:
// the clock does not go back and forth by how long answers take.
func (c *clock) learn(asked, told time.Time) {
	took := now().Sub(asked)
	c.mu.Lock()
	defer c.mu.Unlock()
	if offset := told.Sub(asked.Add(took / 2)); (offset - c.offset).Abs() > took/2+time.Millisecond {
		c.offset = offset
	}
}

// learnTime asks for the database's time, so that it is known before the first beat.
func (s *Store) learnTime(ctx context.Context, conn *pgx.Conn) error {
	var told time.Time
	asked := now()
	if err := conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&told); err != nil {
		return err
	}
	s.clock.learn(asked, told)
	return nil
}

// Offset is by how much the database's clock is ahead of this machine's.
func (s *Store) Offset() time.Duration {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	return s.clock.offset
}

// Now is the time by the database's clock, so that the inputs of all nodes are stamped by one.
func (s *Store) Now() event.Time { return event.TimeOf(now().Add(s.Offset())) }

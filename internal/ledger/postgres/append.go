package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/driver"

	"github.com/jackc/pgx/v5"
)

// A request stands in line for the committer.
type request struct {
	driver.Place
	batch ledger.Batch
	alone bool // it was part of a move that failed: it is tried by itself
}

// Append implements ledger.Log.
func (s *Store) Append(ctx context.Context, b ledger.Batch) error {
	err := b.Check()
	if err != nil {
		return fmt.Errorf("append to quest %s: %w", b.Quest, err)
	}
	r := &request{batch: b}
	r.Stand()
	if err = s.enqueue(ctx, r); err == nil {
		err = r.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("append to quest %s at %d: %w", b.Quest, b.Events[0].Seq, err)
	}
	return nil
}

func (s *Store) enqueue(ctx context.Context, r *request) error {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.closed {
		return ledger.ErrClosed
	}
	select {
	case s.queue <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// commitAll is the one committer. It ends when the queue is closed and empty.
func (s *Store) commitAll() {
	c := &committer{store: s}
	defer c.drop()
	for r := range s.queue {
		// Nothing is taken before there is a connection: until then a sender may change its mind.
		if !c.connect() {
			if r.Take() {
				r.Answer(ledger.ErrClosed)
			}
			continue
		}
		c.take(r)
		driver.Gather(s.queue)
		driver.Fill(s.queue, func(r *request) ledger.Batch { return r.batch }, c.take)
		c.settle()
	}
}

type committer struct {
	store *Store
	conn  *pgx.Conn
	group []*request
}

func (c *committer) take(r *request) (have int) {
	if r.Take() {
		c.group = append(c.group, r)
	}
	return len(c.group)
}

// connect returns with a connection that is fit for use; false if the store was closed before
// there was one.
func (c *committer) connect() bool {
	if c.conn != nil && !c.conn.IsClosed() {
		return true
	}
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		conn, err := pgx.ConnectConfig(c.store.dial, c.store.config)
		if err == nil {
			if err = ready(c.store.dial, conn); err == nil {
				c.conn = conn
				return true
			}
			closeSoon(c.store.dial, conn)
		}
		if !pause(c.store.dial, wait) {
			return false
		}
	}
}

func (c *committer) drop() {
	if c.conn != nil {
		closeSoon(c.store.dial, c.conn)
		c.conn = nil
	}
}

// closeSoon closes a connection, whatever its state; what it was for has been answered.
func closeSoon(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// pause waits, and reports whether ctx has not ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// settle answers everybody in the group. A failed statement is everybody's error; a conflict is
// its quest's own.
func (c *committer) settle() {
	left := c.group
	c.group = nil
	for len(left) > 0 {
		moves, rest := plan(left, c.store.node)
		moved, err := c.send(moves)
		switch {
		case err == nil:
			again := c.tell(moves, moved)
			left = append(again, rest...)
		case gone(c.conn, err):
			// Perhaps it happened. The same is sent again: what is there is known by its hash.
			c.drop()
			if !c.connect() {
				answerAll(left, fmt.Errorf("%w while the database was away: whether the events are kept shows when it is back", ledger.ErrClosed))
				return
			}
		case again(err):
			pause(c.store.dial, retryEvery/10)
		default:
			for _, m := range moves {
				answerAll(m.requests, kind(err))
			}
			left = rest
		}
	}
}

func answerAll(list []*request, err error) {
	for _, r := range list {
		r.Answer(err)
	}
}

// A move takes a quest from one head to another by the batches of one or more requests.
type move struct {
	quest    string
	epoch    int64 // what the quest's row must have, 0 for any
	requests []*request
}

func (m *move) first() event.Event { return m.requests[0].batch.Events[0] }

func (m *move) last() event.Event { return last(m.requests[len(m.requests)-1].batch) }

func last(b ledger.Batch) event.Event { return b.Events[len(b.Events)-1] }

// plan makes one move of each quest's requests, of those that follow each other. The rest comes
// with the next statement.
func plan(list []*request, n *node) (moves []*move, rest []*request) {
	of := map[string]*move{}
	for _, r := range list {
		m := of[r.batch.Quest]
		first := r.batch.Events[0]
		switch {
		case m == nil:
			m = &move{quest: r.batch.Quest, epoch: n.epochOf(r.batch.Quest), requests: []*request{r}}
			of[m.quest], moves = m, append(moves, m)
		case !r.alone && !m.requests[0].alone && first.Seq == m.last().Seq+1 && first.Prev() == m.last().Hash:
			m.requests = append(m.requests, r)
		default:
			rest = append(rest, r)
		}
	}
	return moves, rest
}

// tell answers the requests of the moves. Those of a failed move of several are returned, to be
// tried one by one: the first may be there already, and the next new.
func (c *committer) tell(moves []*move, moved map[int64]bool) (again []*request) {
	for i, m := range moves {
		switch {
		case moved[int64(i)]:
			answerAll(m.requests, nil)
			c.store.appended.Wake(m.quest)
			c.store.news.appended(m.quest)
		case len(m.requests) > 1:
			for _, r := range m.requests {
				r.alone = true
			}
			again = append(again, m.requests...)
		default:
			r := m.requests[0]
			there, err := c.repeated(r.batch)
			switch {
			case gone(c.conn, err):
				c.drop()
				if !c.connect() {
					r.Answer(ledger.ErrClosed)
					continue
				}
				again = append(again, r)
			case err != nil:
				r.Answer(kind(err))
			case there:
				r.Answer(nil)
			default:
				c.store.node.refused(m.quest)
				r.Answer(ledger.ErrConflict)
			}
		}
	}
	return again
}

// repeated reports whether these very events are there already: then the writer only missed the
// answer.
func (c *committer) repeated(b ledger.Batch) (bool, error) {
	if c.conn == nil {
		return false, errUnsure
	}
	var line []byte
	err := c.conn.QueryRow(c.store.dial, "SELECT e.line FROM lyceum.quests q JOIN lyceum.events e ON e.quest = q.id AND e.seq = $2 WHERE q.name = $1", b.Quest, int64(last(b).Seq)).Scan(&line)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	e, err := event.Parse(line)
	return err == nil && e.Hash == last(b).Hash, nil
}

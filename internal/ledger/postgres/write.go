package postgres

import (
	"context"
	"time"

	"lyceum/internal/ledger"

	"github.com/jackc/pgx/v5"
)

// retryEvery is how long what the server's going away cut off waits before it tries again.
const retryEvery = 50 * time.Millisecond

// write runs a small write in a transaction of its own. Where its outcome is open it is run once more,
// with again set: then it must find out by itself whether it has happened. Like a batch it is not
// cancelled once it is under way; ctx ends the wait for a connection, and between two attempts.
func (s *Store) write(ctx context.Context, do func(tx pgx.Tx, again bool) error) error {
	for repeated := false; ; {
		if s.isClosed() {
			return ledger.ErrClosed
		}
		open := false
		passing, err := s.with(ctx, func(c *pgx.Conn) error {
			defer hangUp(s.dial, c)()
			err := transact(context.WithoutCancel(ctx), c, func(tx pgx.Tx) error { return do(tx, repeated) })
			open = gone(c, err)
			return err
		})
		switch {
		case err == nil:
			return nil
		case !passing:
			return kind(err)
		}
		repeated = repeated || open
		if !pause(ctx, retryEvery) {
			return ctx.Err()
		}
	}
}

// with lends a connection, and reports of an error whether it is one that passes.
func (s *Store) with(ctx context.Context, do func(*pgx.Conn) error) (passing bool, err error) {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return away(err), err
	}
	defer c.Release()
	err = do(c.Conn())
	return gone(c.Conn(), err) || again(err), err
}

// hangUp closes a connection when a store has been closed and will wait no longer for what is under way: without
// a word to the server, which would take that for a wish to cancel.
func hangUp(dial context.Context, conn *pgx.Conn) (stop func() bool) {
	line := conn.PgConn().Conn()
	return context.AfterFunc(dial, func() { _ = line.Close() })
}

// begin begins every transaction. A node that is stopped or cut off in the middle of one says nothing more, and its
// server would wait for it, for hours, with all that is locked: the rows of other nodes' quests, and its own, by which
// it is given up. So the server ends such a transaction. It is said with each, because a pooler takes no settings.
var begin = pgx.TxOptions{BeginQuery: "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '2s'"}

// transact commits what do does, by the standby too.
func transact(ctx context.Context, conn *pgx.Conn, do func(tx pgx.Tx) error) error {
	unsure(conn)
	if err := pgx.BeginTxFunc(ctx, conn, begin, do); err != nil {
		return err
	}
	if !unsure(conn) {
		return nil
	}
	return barrier(ctx, conn)
}

// Package postgres keeps ledgers in a PostgreSQL database that many machines may share.
//
// One goroutine of a Store commits. It takes whatever batches are queued, of all quests, into one
// statement, which moves each quest's row from the head that its batch expects, and inserts the
// events of those rows alone: one quest's conflict is its own. Where the Store has claimed a quest
// the row must have the claim's epoch besides, so that an owner that was given up writes nothing.
//
// A connection that is lost while a commit is under way leaves open whether it happened. The same
// events are then sent again, until they are there, or cannot be: an Append never says perhaps.
// Before anything is read through a new connection a small write is acknowledged through it: with
// a synchronous standby, nobody sees what a failover could take back. A commit is never cancelled,
// for PostgreSQL calls a commit done whose wait for the standby was cancelled.
//
// Other processes are told of new events by NOTIFY, after the commit, and find out within a
// quarter of a second without it. So it works through a pooler that hands out a connection for
// each transaction: every statement stands alone and names its tables in full.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lyceum/internal/ledger"
	"lyceum/internal/ledger/driver"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options are what can be set about a store. The zero value works.
type Options struct {
	// Existing makes no tables: where there are none, Open returns ErrEmpty.
	Existing bool
	// Silent neither sends nor hears notifications, as behind a pooler, for tests.
	Silent bool
	// Grace is for how long after a small blob was last put it is not swept, a day if zero.
	Grace time.Duration
	// Beat is how often a store that has claims says that it is there, a second if zero. Another
	// gives it up after five times that without a beat.
	Beat time.Duration
	// Sent is told after a commit was sent and before its answer is read, for tests of what is
	// lost then.
	Sent func()

	// migrations are others than the product's, for tests.
	migrations []string
}

// Store is a ledger in a database.
type Store struct {
	opts   Options
	config *pgx.ConnConfig
	pool   *pgxpool.Pool // for everything but batches
	queue  chan *request
	// appended wakes followers, posted wakes owners, some wakes the poller.
	appended, posted *driver.Board
	some             chan struct{}
	news             *news
	node             *node
	clock            clock
	tidy             chan struct{} // sent to when events of a removed quest wait to be deleted

	// ctx is the store's own: it ends with Close, and dial a while later, so that what is queued
	// can still be written.
	ctx     context.Context
	stop    context.CancelFunc
	dial    context.Context
	giveUp  context.CancelFunc
	done    sync.WaitGroup
	writing sync.WaitGroup
	closing sync.RWMutex // held for reading while a request is queued
	closed  bool
}

var _ ledger.Store = (*Store)(nil)

// maxReaders bounds the connections for reads and small writes.
const maxReaders = 8

// parting is how long Close goes on looking for a database that is away.
const parting = 5 * time.Second

// Open opens the ledger in the database at an address, such as postgres://host/lyceum, and makes
// its tables if they are not there. ctx is for opening alone.
func Open(ctx context.Context, address string, opts *Options) (*Store, error) {
	s := &Store{queue: make(chan *request, 1024), some: make(chan struct{}, 1), tidy: make(chan struct{}, 1)}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Grace == 0 {
		s.opts.Grace = 24 * time.Hour
	}
	if s.opts.Beat == 0 {
		s.opts.Beat = time.Second
	}
	if s.opts.migrations == nil {
		s.opts.migrations = migrations
	}
	config, err := parse(address)
	if err != nil {
		return nil, err
	}
	s.config = config
	if err := s.open(ctx); err != nil {
		return nil, fmt.Errorf("open the ledger in %s: %w", Name(config), explain(config, err))
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	err = checkSettings(ctx, conn)
	if err == nil {
		err = s.prepare(ctx, conn)
	}
	if err == nil {
		err = s.learnTime(ctx, conn)
	}
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return err
	}
	pool, err := pgxpool.ParseConfig("")
	if err != nil {
		return err
	}
	pool.ConnConfig, pool.MaxConns, pool.AfterConnect = s.config, maxReaders, ready
	// A store works for itself, from here to Close, and a moment longer for what is queued.
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.dial, s.giveUp = context.WithCancel(context.WithoutCancel(s.ctx))
	if s.pool, err = pgxpool.NewWithConfig(s.dial, pool); err != nil {
		return err
	}
	s.appended, s.posted = driver.NewBoard(s.some), driver.NewBoard(s.some)
	s.news, s.node = newNews(s), newNode(s)
	s.writing.Go(s.commitAll)
	s.done.Go(func() { (&poller{store: s, seen: map[string]stand{}}).run(s.ctx) })
	s.done.Go(func() { s.deleteGone(s.ctx) })
	if !s.opts.Silent {
		s.done.Go(func() { s.news.send(s.ctx) })
		s.done.Go(func() { s.news.listen(s.ctx) })
	}
	return nil
}

// Close waits for what is queued, gives all claims back, and closes the connections. Where the
// database is away it does not wait for long: who appends then gets ledger.ErrClosed.
func (s *Store) Close() error {
	s.closing.Lock()
	if s.closed {
		s.closing.Unlock()
		return nil
	}
	s.closed = true
	close(s.queue)
	s.closing.Unlock()
	s.stop()
	late := time.AfterFunc(parting, s.giveUp)
	s.writing.Wait()
	s.done.Wait()
	s.node.leave(s.dial)
	late.Stop()
	s.giveUp()
	s.pool.Close()
	return nil
}

func (s *Store) isClosed() bool { return s.ctx.Err() != nil }

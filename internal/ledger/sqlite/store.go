// Package sqlite keeps ledgers in one SQLite file, for one machine.
//
// One writes at a time: whoever comes while nobody does, or else a goroutine of the
// store. The one who writes takes whatever batches are queued, of all quests,
// into one transaction, and answers when that is flushed: many writers share
// one flush. The order of a quest is guarded by its row in the table quests,
// whose update fails if another process was faster.
//
// The hot table has no index but its key, because each further one costs a
// third of the throughput. Where a quest's events stand is written down, later
// and in bulk, in a second file (lyceum-index.db). That file is a cache: what it
// does not know yet is found by scanning the end of the table, and if it is lost
// or does not fit it is made again.
//
// A torn write-ahead log is cut back to its last whole transaction by SQLite.
// Damage elsewhere shows when events are read: each is checked against the
// chain, and a *ledger.DamageError names the first that does not hold.
package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"lyceum/internal/ledger"
	"lyceum/internal/ledger/driver"

	"golang.org/x/sys/unix"
	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// applicationID marks a file as a ledger ("lyce").
const applicationID = 0x6c796365

// The tables of format 1; migrations add the rest. Each index beyond a primary
// key has its reason:
//   - quests.name: found by name on every append, one small row per quest;
//   - inbox(quest, number), (quest, key): commands are few, and the owner asks for its own;
//   - blobs.hash: the only way a blob is ever asked for.
const schema = `
CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), ledger BLOB NOT NULL, floor INTEGER NOT NULL);
CREATE TABLE quests (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, head INTEGER NOT NULL, hash BLOB NOT NULL, inbox INTEGER NOT NULL);
CREATE TABLE events (id INTEGER PRIMARY KEY, quest INTEGER NOT NULL, seq INTEGER NOT NULL, line BLOB NOT NULL);
CREATE TABLE blobs (hash BLOB NOT NULL PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE inbox (id INTEGER PRIMARY KEY AUTOINCREMENT, quest TEXT NOT NULL, number INTEGER NOT NULL, key TEXT, type TEXT NOT NULL, body BLOB NOT NULL);
CREATE UNIQUE INDEX inbox_quest ON inbox (quest, number);
CREATE UNIQUE INDEX inbox_key ON inbox (quest, key);
`

// Options are what can be set about a store.
type Options struct {
	// IndexEvery is after how many new events the index is brought up to date,
	// 8192 if zero.
	IndexEvery int
	// MaxPages bounds the file's size in pages, for tests of a full disk.
	MaxPages int
	// BeforeFlush runs before each commit, for measuring slow disks.
	BeforeFlush func()
	// Unwatched looks for what other processes wrote now and then, instead of being told by
	// the system, for tests with a clock of their own.
	Unwatched bool
	// Say is told, in lines for a person, that a ledger of an older format is being
	// brought up to date, for that can take a while.
	Say func(line string)

	// For tests: other migrations than the product's, and what is told before each
	// step of one.
	migrations []string
	before     func(step string)
}

// Store is a ledger in a folder.
type Store struct {
	path   string
	opts   Options
	id     [16]byte
	turn   sync.Mutex // held by the one who writes
	writer writer     // theirs
	queue  chan *request
	queued chan struct{} // sent to when something is
	idle   chan *sq.Conn // reading connections at rest
	slots  chan struct{} // one for each reading connection there may be
	index  *index
	recent recent
	// appended wakes followers, posted wakes owners, some wakes the poller.
	appended, posted *driver.Board
	some             chan struct{}

	stop    context.CancelFunc
	ended   <-chan struct{}
	done    sync.WaitGroup
	closing sync.RWMutex // held for reading while a request is queued
	closed  bool
}

var _ ledger.Store = (*Store)(nil)

// maxReaders bounds the reading connections. A reader holds one for a page.
const maxReaders = 4

// Open opens the ledger in the file path, and makes it if it is not there.
func Open(path string, opts *Options) (*Store, error) {
	s := &Store{path: path, queue: make(chan *request, 1024), queued: make(chan struct{}, 1), idle: make(chan *sq.Conn, maxReaders), slots: make(chan struct{}, maxReaders)}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.IndexEvery == 0 {
		s.opts.IndexEvery = 8192
	}
	if s.opts.migrations == nil {
		s.opts.migrations = migrations
	}
	if s.opts.Say == nil {
		s.opts.Say = func(string) {}
	}
	if s.opts.before == nil {
		s.opts.before = func(string) {}
	}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", path, err)
	}
	return s, nil
}

func (s *Store) open() error {
	if err := makePrivate(s.path); err != nil {
		return err
	}
	writer, err := s.connect()
	if err != nil {
		return err
	}
	if err := s.prepare(writer); err != nil {
		return errors.Join(err, writer.Close())
	}
	s.index, err = openIndex(strings.TrimSuffix(s.path, filepath.Ext(s.path))+"-index.db", s)
	if err != nil {
		return errors.Join(err, writer.Close())
	}
	s.some = make(chan struct{}, 1)
	s.appended, s.posted = driver.NewBoard(s.some), driver.NewBoard(s.some)
	// A store works for itself, from here to Close.
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.ended = stop, ctx.Done()
	s.writer = newWriter(s, writer)
	s.done.Go(s.write)
	s.done.Go(func() { s.index.run(ctx) })
	s.done.Go(func() { (&poller{store: s}).run(ctx) })
	if s.format() >= wantedFormat {
		if err := s.takeMarks(ctx); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return nil
}

// makePrivate creates the file for this user alone before SQLite would create
// it for everybody.
func makePrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// waitForOthers has another process's long write waited for. It is SQLite's own way: the
// driver's SetBlockOnBusy is lost when a connection is closed elsewhere in this process
// at the wrong moment, for it is kept under an address that is free by then.
const waitForOthers = "PRAGMA busy_timeout=86400000"

// connect opens a connection and asserts that its commits reach the disk: some
// drivers relax that in WAL mode.
func (s *Store) connect() (*sq.Conn, error) {
	conn, err := sq.OpenConn(s.path, sq.OpenReadWrite)
	if err != nil {
		return nil, s.kind(err)
	}
	// The page size counts only when the file is made: 8 KiB pages hold three
	// large events where 4 KiB pages hold one, and 64 writers append a third more.
	pragmas := []string{waitForOthers, "PRAGMA page_size=8192", "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"}
	if s.opts.MaxPages > 0 {
		pragmas = append(pragmas, fmt.Sprintf("PRAGMA max_page_count=%d", s.opts.MaxPages))
	}
	for _, p := range pragmas {
		if err := sqlitex.ExecuteTransient(conn, p, nil); err != nil {
			return nil, errors.Join(s.kind(err), conn.Close())
		}
	}
	level, err := sqlitex.ResultInt64(conn.Prep("PRAGMA synchronous"))
	if err == nil && level != 2 {
		err = fmt.Errorf("SQLite does not flush every commit (synchronous=%d)", level)
	}
	if err != nil {
		return nil, errors.Join(s.kind(err), conn.Close())
	}
	return conn, nil
}

// prepare makes the tables, or checks that they are ours, and brings those of an
// older format up to date.
func (s *Store) prepare(conn *sq.Conn) (err error) {
	format, err := formatOf(conn)
	if err != nil {
		return s.kind(err)
	}
	if format == 0 {
		if format, err = s.create(conn); err != nil {
			return s.kind(err)
		}
	}
	app, err := sqlitex.ResultInt64(conn.Prep("PRAGMA application_id"))
	switch {
	case err != nil:
		return s.kind(err)
	case app != applicationID:
		return fmt.Errorf("%w: the file is not a Lyceum ledger", ledger.ErrCorrupt)
	case format > s.format():
		return s.newer(format)
	case format < s.format():
		if err := s.migrate(conn, format); err != nil {
			return err
		}
	}
	return s.kind(sqlitex.Execute(conn, "SELECT ledger FROM meta", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sq.Stmt) error { stmt.ColumnBytes(0, s.id[:]); return nil },
	}))
}

// create makes all tables in one transaction, a new ledger's as the migrations
// would make them.
func (s *Store) create(conn *sq.Conn) (format int64, err error) {
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return 0, err
	}
	defer end(&err)
	// Another process may have made the tables while we waited.
	if format, err = formatOf(conn); err != nil || format != 0 {
		return format, err
	}
	tables, err := sqlitex.ResultInt64(conn.Prep("SELECT count(*) FROM sqlite_schema"))
	if err != nil {
		return 0, err
	}
	if tables > 0 {
		return 0, fmt.Errorf("%w: the file is another program's database", ledger.ErrCorrupt)
	}
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return 0, err
	}
	first := schema + fmt.Sprintf("INSERT INTO meta VALUES (1, x'%x', 0); PRAGMA application_id=%d;", id, applicationID)
	for _, script := range append([]string{first}, s.opts.migrations...) {
		if err := execute(conn, script); err != nil {
			return 0, err
		}
	}
	return s.format(), setFormat(conn, s.format())
}

// Close waits for what is queued, and closes the file.
func (s *Store) Close() error {
	s.closing.Lock()
	if s.closed {
		s.closing.Unlock()
		return nil
	}
	s.closed = true
	close(s.queued)
	s.closing.Unlock()
	s.stop()
	s.done.Wait()
	var errs []error
	for range maxReaders {
		select {
		case c := <-s.idle:
			errs = append(errs, c.Close())
		case s.slots <- struct{}{}: // never opened, and now never will be
		}
	}
	s.turn.Lock() // nobody writes any more
	defer s.turn.Unlock()
	// The last to go folds the log into the file. Two that went at once would each leave that
	// to the other, and a ledger at rest would be three files.
	return errors.Join(append(errs, s.index.close(), s.writer.conn.Close())...)
}

// reader lends a connection for a short read.
func (s *Store) reader(ctx context.Context) (*sq.Conn, error) {
	select {
	case <-s.ended:
		return nil, ledger.ErrClosed
	case c := <-s.idle:
		return c, nil
	default:
	}
	select {
	case c := <-s.idle:
		return c, nil
	case s.slots <- struct{}{}:
		c, err := s.connect()
		if err != nil {
			<-s.slots
			return nil, err
		}
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.ended:
		return nil, ledger.ErrClosed
	}
}

func (s *Store) giveBack(c *sq.Conn) { s.idle <- c }

// kind turns SQLite's results into the errors of package ledger.
func (s *Store) kind(err error) error {
	if err == nil || errors.Is(err, ledger.ErrFull) || errors.Is(err, ledger.ErrCorrupt) {
		return err // it has its kind
	}
	switch sq.ErrCode(err).ToPrimary() {
	case sq.ResultFull:
		return fmt.Errorf("%w (%w)", ledger.ErrFull, err)
	case sq.ResultIOErr:
		// A file that cannot grow is an I/O error to SQLite, whatever the reason.
		if noRoom(filepath.Dir(s.path)) {
			return fmt.Errorf("%w (%w)", ledger.ErrFull, err)
		}
	case sq.ResultCorrupt, sq.ResultNotADB:
		return fmt.Errorf("%w (%w)", ledger.ErrCorrupt, err)
	case sq.ResultCantOpen, sq.ResultReadOnly, sq.ResultPerm:
		if none := noFiles(filepath.Dir(s.path)); none != nil {
			return fmt.Errorf("%w (%w)", none, err)
		}
		if noRoom(filepath.Dir(s.path)) {
			return fmt.Errorf("%w (%w)", ledger.ErrFull, err)
		}
		return fmt.Errorf("%w (%w)", os.ErrPermission, err)
	}
	return err
}

// noFiles is why no file can be opened just now, be it this process's limit or the machine's.
// SQLite says of it only that it cannot open one.
func noFiles(dir string) error {
	f, err := os.Open(dir)
	if err == nil {
		return f.Close()
	}
	if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		return err
	}
	return nil
}

// noRoom reports whether a file system has no room for another few pages.
func noRoom(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Bavail*uint64(st.Bsize) < 256<<10
}

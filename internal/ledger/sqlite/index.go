package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"lyceum/internal/ledger"
	"lyceum/internal/ledger/driver"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// The index says in which rows of the ledger a quest's events stand. It is
// written in rounds: one row per quest and round, holding the runs of
// neighbouring ledger rows as varint pairs (rows skipped, rows taken). So a
// round of thousands of events costs as many inserts as there are quests.
const indexSchema = `
CREATE TABLE IF NOT EXISTS meta (id INTEGER PRIMARY KEY CHECK (id = 1), ledger BLOB NOT NULL, covered INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS spans (quest INTEGER, seq INTEGER, runs BLOB NOT NULL, PRIMARY KEY (quest, seq)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS glances (quest TEXT, form TEXT, version TEXT NOT NULL, hash BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (form, quest));
`

// index is shared: lookups come from readers, updates from its own goroutine.
type index struct {
	store *Store
	path  string
	wake  chan struct{}

	// noted is sent to when glances wait to be written.
	noted chan struct{}

	mu      sync.Mutex // guards conn, fresh and waiting
	conn    *sq.Conn
	fresh   int
	waiting []kept
}

// A run is a range of ledger rows that belong to one quest.
type run struct{ first, last int64 }

func openIndex(path string, s *Store) (*index, error) {
	x := &index{store: s, path: path, wake: make(chan struct{}, 1), noted: make(chan struct{}, 1)}
	if err := x.connect(); err != nil {
		if errors.Is(err, ledger.ErrFull) || errors.Is(err, os.ErrPermission) {
			return nil, fmt.Errorf("open the index: %w", err)
		}
		// It is a cache: one that cannot be used is made again.
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("remove the damaged index: %w", err)
			}
		}
		if err := x.connect(); err != nil {
			return nil, fmt.Errorf("open the index %s: %w", path, err)
		}
	}
	return x, nil
}

func (x *index) connect() (err error) {
	if err := makePrivate(x.path); err != nil {
		return err
	}
	conn, err := sq.OpenConn(x.path, sq.OpenReadWrite)
	if err != nil {
		return x.store.kind(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, conn.Close())
		}
	}()
	for _, p := range []string{waitForOthers, "PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL"} {
		if err := sqlitex.ExecuteTransient(conn, p, nil); err != nil {
			return x.store.kind(err)
		}
	}
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return x.store.kind(err)
	}
	defer end(&err)
	if err := sqlitex.ExecuteScript(conn, indexSchema, nil); err != nil {
		return x.store.kind(err)
	}
	x.conn = conn
	return x.adopt()
}

// adopt empties an index that was made for another ledger.
func (x *index) adopt() error {
	var id [16]byte
	err := sqlitex.Execute(x.conn, "SELECT ledger FROM meta", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sq.Stmt) error { stmt.ColumnBytes(0, id[:]); return nil },
	})
	if err != nil || id == x.store.id {
		return err
	}
	return sqlitex.ExecuteScript(x.conn, fmt.Sprintf(
		"DELETE FROM spans; DELETE FROM glances; DELETE FROM meta; INSERT INTO meta VALUES (1, x'%x', 0);", x.store.id), nil)
}

// added counts new events, and has the index brought up to date now and then.
func (x *index) added(n int) {
	x.mu.Lock()
	x.fresh += n
	due := x.fresh >= x.store.opts.IndexEvery
	x.mu.Unlock()
	if due {
		driver.Tell(x.wake)
	}
}

// run updates the index until ctx ends. A failure to do so costs speed, not
// truth; the next round tries again.
func (x *index) run(ctx context.Context) {
	_ = x.catchUp(ctx)
	for {
		select {
		case <-x.wake:
			_ = x.update(ctx)
		case <-x.noted:
			x.mu.Lock()
			_ = x.writeGlances()
			x.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// catchUp covers what many short-lived processes have left.
func (x *index) catchUp(ctx context.Context) error {
	conn, err := x.store.reader(ctx)
	if err != nil {
		return err
	}
	last, err := lastID(conn)
	x.store.giveBack(conn)
	if err != nil {
		return err
	}
	x.mu.Lock()
	covered, err := x.covered()
	x.mu.Unlock()
	if err != nil || last-covered < int64(x.store.opts.IndexEvery) {
		return err
	}
	return x.update(ctx)
}

// rebuild empties the index and has it made again.
func (x *index) rebuild() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := sqlitex.ExecuteScript(x.conn, "DELETE FROM spans; UPDATE meta SET covered = 0;", nil); err == nil {
		driver.Tell(x.wake)
	}
}

// update reads the rows that are not covered yet and notes where each quest's
// stand. Several processes may do so in turn; the index's write lock decides.
func (x *index) update(ctx context.Context) error {
	covered, err := x.extend(ctx)
	if err == nil {
		x.store.recent.covered(covered)
	}
	return err
}

func (x *index) extend(ctx context.Context) (last int64, err error) {
	ledgerConn, err := x.store.reader(ctx)
	if err != nil {
		return 0, err
	}
	defer x.store.giveBack(ledgerConn)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.fresh = 0
	end, err := sqlitex.ImmediateTransaction(x.conn)
	if err != nil {
		return 0, err
	}
	defer end(&err)
	covered, err := x.covered()
	if err != nil {
		return 0, err
	}
	spans, last, err := collectSpans(ledgerConn, covered)
	if err != nil {
		return 0, err
	}
	for quest, sp := range spans {
		err := sqlitex.Execute(x.conn, "INSERT OR REPLACE INTO spans VALUES (?, ?, ?)",
			&sqlitex.ExecOptions{Args: []any{quest, sp.seq, sp.runs}})
		if err != nil {
			return 0, err
		}
	}
	return last, sqlitex.Execute(x.conn, "UPDATE meta SET covered = ?", &sqlitex.ExecOptions{Args: []any{last}})
}

func (x *index) covered() (int64, error) {
	stmt := x.conn.Prep("SELECT covered FROM meta")
	defer stmt.Reset()
	if _, err := stmt.Step(); err != nil {
		return 0, err
	}
	return stmt.ColumnInt64(0), nil
}

// A span is where the events of one quest, from seq on, stand in one round.
type span struct {
	seq  int64
	runs []byte
	at   run // the run that is still growing
	end  int64
}

func (sp *span) add(id int64) {
	if id == sp.at.last+1 && sp.at.first > 0 {
		sp.at.last = id
		return
	}
	sp.flush()
	sp.at = run{id, id}
}

func (sp *span) flush() {
	if sp.at.first == 0 {
		return
	}
	sp.runs = binary.AppendUvarint(sp.runs, uint64(sp.at.first-sp.end))
	sp.runs = binary.AppendUvarint(sp.runs, uint64(sp.at.last-sp.at.first+1))
	sp.end = sp.at.last
}

func collectSpans(conn *sq.Conn, after int64) (map[int64]*span, int64, error) {
	spans := map[int64]*span{}
	last := after
	stmt := conn.Prep("SELECT id, quest, seq FROM events WHERE id > ? ORDER BY id")
	defer stmt.Reset()
	stmt.BindInt64(1, after)
	for {
		found, err := stmt.Step()
		if err != nil {
			return nil, 0, err
		}
		if !found {
			break
		}
		last = stmt.ColumnInt64(0)
		quest := stmt.ColumnInt64(1)
		sp := spans[quest]
		if sp == nil {
			sp = &span{seq: stmt.ColumnInt64(2)}
			spans[quest] = sp
		}
		sp.add(last)
	}
	for _, sp := range spans {
		sp.flush()
	}
	return spans, last, nil
}

// spansAtOnce bounds what one lookup returns.
const spansAtOnce = 64

// found is what a lookup found.
type found struct {
	runs []run
	// covered is the row up to which the index knows; all says that runs are all
	// that it knows of the quest from there on.
	covered int64
	all     bool
}

// lookup returns the runs that hold the quest's events from seq on.
func (x *index) lookup(quest int64, seq uint64) (f found, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if f.covered, err = x.covered(); err != nil {
		return f, err
	}
	stmt := x.conn.Prep(`SELECT runs FROM spans WHERE quest = ?1
		AND seq >= coalesce((SELECT max(seq) FROM spans WHERE quest = ?1 AND seq <= ?2), 0) ORDER BY seq LIMIT ?3`)
	defer stmt.Reset()
	stmt.BindInt64(1, quest)
	stmt.BindInt64(2, int64(seq))
	stmt.BindInt64(3, spansAtOnce)
	for spans := 0; ; spans++ {
		more, err := stmt.Step()
		if err != nil || !more {
			f.all = spans < spansAtOnce
			return f, err
		}
		data := make([]byte, stmt.ColumnLen(0))
		stmt.ColumnBytes(0, data)
		f.runs = appendRuns(f.runs, data)
	}
}

func appendRuns(runs []run, data []byte) []run {
	var end int64
	for len(data) > 0 {
		skip, n := binary.Uvarint(data)
		count, m := binary.Uvarint(data[max(n, 0):])
		if n <= 0 || m <= 0 {
			return runs
		}
		data = data[n+m:]
		first := end + int64(skip)
		end = first + int64(count) - 1
		runs = append(runs, run{first, end})
	}
	return runs
}

// forget drops a quest that was removed.
func (x *index) forget(quest int64, name string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiting = slices.DeleteFunc(x.waiting, func(k kept) bool { return k.Quest == name })
	if err := sqlitex.Execute(x.conn, "DELETE FROM glances WHERE quest = ?", &sqlitex.ExecOptions{Args: []any{name}}); err != nil {
		return err
	}
	return sqlitex.Execute(x.conn, "DELETE FROM spans WHERE quest = ?", &sqlitex.ExecOptions{Args: []any{quest}})
}

func (x *index) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	_ = x.writeGlances() // without them the ledgers are read
	return x.conn.Close()
}

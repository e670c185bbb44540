package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// A request waits in the queue until the writer takes it; until then its sender
// may take it back.
type request struct {
	batch ledger.Batch
	do    func(*sq.Conn) error // another write than a batch, alone in its transaction
	state atomic.Int32         // 0 queued, 1 taken by the writer, 2 taken back
	err   error
	done  chan struct{}
}

// The limits of one transaction, so that a flood of appends still answers.
const (
	maxGroup      = 1024
	maxGroupBytes = 8 << 20
)

// Append implements ledger.Log.
func (s *Store) Append(ctx context.Context, b ledger.Batch) error {
	if err := b.Check(); err != nil {
		return fmt.Errorf("append to quest %s: %w", b.Quest, err)
	}
	if err := s.submit(ctx, &request{batch: b}); err != nil {
		return fmt.Errorf("append to quest %s at %d: %w", b.Quest, b.Events[0].Seq, err)
	}
	return nil
}

func (s *Store) submit(ctx context.Context, r *request) error {
	r.done = make(chan struct{})
	if err := s.enqueue(ctx, r); err != nil {
		return err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		if r.state.CompareAndSwap(0, 2) {
			return ctx.Err()
		}
		<-r.done
	}
	return r.err
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

// write is the one writer. It ends when the queue is closed and empty.
func (s *Store) write() {
	w := &writer{store: s, conn: s.writer, quests: map[string][]*request{}, rows: map[int64][]run{}}
	for r := range s.queue {
		w.take(r)
		s.gather()
		s.fill(w)
		w.commit()
		w.group = w.group[:0]
		clear(w.quests)
	}
}

// gather lets those who are about to append do so, as long as more come: a
// fuller transaction costs hardly more. With nobody about it returns at once.
func (s *Store) gather() {
	for range 8 {
		n := len(s.queue)
		runtime.Gosched()
		if len(s.queue) == n {
			return
		}
	}
}

// fill takes what else is queued into the same transaction.
func (s *Store) fill(w *writer) {
	size := 0
	for len(w.group) < maxGroup && size < maxGroupBytes {
		select {
		case r, ok := <-s.queue:
			if !ok {
				return
			}
			for _, e := range r.batch.Events {
				size += len(e.Line())
			}
			w.take(r)
		default:
			return
		}
	}
}

type writer struct {
	store *Store
	conn  *sq.Conn
	group []*request
	// quests are the batches of the group, by quest.
	quests map[string][]*request
	// last is the id of the last row in this transaction, rows where those of
	// each quest stand.
	last int64
	rows map[int64][]run
}

func (w *writer) take(r *request) {
	if r.state.CompareAndSwap(0, 1) {
		w.group = append(w.group, r)
		if r.do == nil {
			w.quests[r.batch.Quest] = append(w.quests[r.batch.Quest], r)
		}
	}
}

// commit writes the group in one transaction and answers everybody in it. An
// error of the transaction is everybody's error; a conflict is its quest's own.
func (w *writer) commit() {
	if len(w.group) == 0 {
		return
	}
	before, err := w.transact()
	err = w.store.kind(err)
	wrote := 0
	for _, r := range w.group {
		if err != nil {
			r.err = err
		}
		if r.err == nil {
			wrote += len(r.batch.Events)
		}
		close(r.done)
	}
	if err != nil {
		return
	}
	w.store.recent.committed(before, w.last, w.rows)
	for quest := range w.quests {
		w.store.appended.wake(quest)
	}
	w.store.index.added(wrote)
}

// transact returns the row after which the transaction's begin.
func (w *writer) transact() (before int64, err error) {
	clear(w.rows)
	if err := sqlitex.Execute(w.conn, "BEGIN IMMEDIATE", nil); err != nil {
		return 0, err
	}
	defer func() {
		if err != nil && !w.conn.AutocommitEnabled() {
			err = errors.Join(err, sqlitex.Execute(w.conn, "ROLLBACK", nil))
		}
	}()
	if w.last, err = lastID(w.conn); err != nil {
		return 0, err
	}
	before = w.last
	for _, r := range w.group {
		if r.do != nil {
			r.err = w.store.kind(w.alone(r.do))
			if w.conn.AutocommitEnabled() {
				// SQLite gave the whole transaction up, as it does when the disk is
				// full. Going on would write the rest piece by piece.
				return 0, cmp.Or(r.err, errors.New("the transaction was rolled back"))
			}
		} else if same := w.quests[r.batch.Quest]; same[0] == r {
			err = w.quest(r.batch.Quest, same)
		}
		if err != nil {
			return 0, err
		}
	}
	if w.store.opts.BeforeFlush != nil {
		w.store.opts.BeforeFlush()
	}
	return before, sqlitex.Execute(w.conn, "COMMIT", nil)
}

// alone runs a write whose failure is its own, not the group's.
func (w *writer) alone(do func(*sq.Conn) error) error {
	if err := sqlitex.Execute(w.conn, "SAVEPOINT alone", nil); err != nil {
		return err
	}
	err := do(w.conn)
	if err != nil && !w.conn.AutocommitEnabled() {
		err = errors.Join(err, sqlitex.Execute(w.conn, "ROLLBACK TO alone", nil))
	}
	if !w.conn.AutocommitEnabled() {
		err = errors.Join(err, sqlitex.Execute(w.conn, "RELEASE alone", nil))
	}
	if err != nil {
		return err
	}
	// It may have moved the end of the table.
	w.last, err = lastID(w.conn)
	return err
}

// lastID returns the id after which new rows go. Removing quests must not make
// ids come again, or the index would take new events for old ones: floor sees
// to that.
func lastID(conn *sq.Conn) (last int64, err error) {
	stmt := conn.Prep("SELECT max((SELECT coalesce(max(id), 0) FROM events), (SELECT floor FROM meta))")
	defer stmt.Reset()
	if _, err := stmt.Step(); err != nil {
		return 0, err
	}
	return stmt.ColumnInt64(0), nil
}

// quest writes all batches of one quest that are in the group. Its row is
// updated once, and only then are events inserted, so that a conflict leaves
// nothing to undo.
func (w *writer) quest(name string, group []*request) error {
	id, old, err := readHead(w.conn, name)
	if err != nil && !errors.Is(err, ledger.ErrNoQuest) {
		return err
	}
	head := old
	var accepted []*request
	for _, r := range group {
		first := r.batch.Events[0]
		switch {
		case first.Seq == head.Seq+1 && first.Prev() == head.Hash:
			accepted = append(accepted, r)
			last := r.batch.Events[len(r.batch.Events)-1]
			head.Seq, head.Hash = last.Seq, last.Hash
		default:
			if r.err, err = w.repeated(id, old, r, accepted); err != nil {
				return err
			}
		}
	}
	if len(accepted) == 0 {
		return nil
	}
	if id, err = w.setHead(id, name, head, accepted[0].batch.Inbox); err != nil {
		return err
	}
	for _, r := range accepted {
		if err := w.insert(id, r.batch); err != nil {
			return err
		}
	}
	return nil
}

// repeated answers a batch that does not follow the head: with success if these
// very events are there already, for then the writer only missed the answer.
func (w *writer) repeated(quest int64, head ledger.Head, r *request, before []*request) (answer, err error) {
	last := r.batch.Events[len(r.batch.Events)-1]
	for _, b := range before {
		for _, e := range b.batch.Events {
			if e.Seq == last.Seq && e.Hash == last.Hash {
				return nil, nil
			}
		}
	}
	if last.Seq > head.Seq { // it was never there
		return ledger.ErrConflict, nil
	}
	c := cursor{store: w.store, name: r.batch.Quest, quest: quest, next: last.Seq}
	lines, err := c.page(w.conn, 1, last.Seq)
	if err != nil || len(lines) == 0 {
		return ledger.ErrConflict, err
	}
	if e, err := event.Parse(lines[0]); err == nil && e.Hash == last.Hash {
		return nil, nil
	}
	return ledger.ErrConflict, nil
}

// readHead returns the quest's number and head; a quest that is not there has
// number 0, the empty head, and ErrNoQuest.
func readHead(conn *sq.Conn, name string) (id int64, h ledger.Head, err error) {
	h.Quest = name
	stmt := conn.Prep("SELECT id, head, hash FROM quests WHERE name = ?")
	defer stmt.Reset()
	stmt.BindText(1, name)
	found, err := stmt.Step()
	if err != nil {
		return 0, h, err
	}
	if !found {
		return 0, h, &ledger.NoQuestError{Quest: name}
	}
	h.Seq = uint64(stmt.ColumnInt64(1))
	stmt.ColumnBytes(2, h.Hash[:])
	return stmt.ColumnInt64(0), h, nil
}

// setHead moves the quest's row from what this transaction read. The
// transaction holds the file's write lock, so nobody can come in between.
func (w *writer) setHead(id int64, name string, h ledger.Head, inbox int64) (int64, error) {
	if id == 0 {
		err := sqlitex.Execute(w.conn, "INSERT INTO quests (name, head, hash, inbox) VALUES (?, ?, ?, ?)",
			&sqlitex.ExecOptions{Args: []any{name, int64(h.Seq), h.Hash[:], inbox}})
		return w.conn.LastInsertRowID(), err
	}
	stmt := w.conn.Prep("UPDATE quests SET head = ?, hash = ? WHERE id = ?")
	defer stmt.Reset()
	stmt.BindInt64(1, int64(h.Seq))
	stmt.BindBytes(2, h.Hash[:])
	stmt.BindInt64(3, id)
	_, err := stmt.Step()
	return id, err
}

func (w *writer) insert(quest int64, b ledger.Batch) error {
	w.rows[quest] = addRun(w.rows[quest], run{w.last + 1, w.last + int64(len(b.Events))})
	stmt := w.conn.Prep("INSERT INTO events (id, quest, seq, line) VALUES (?, ?, ?, ?)")
	for _, e := range b.Events {
		w.last++
		stmt.BindInt64(1, w.last)
		stmt.BindInt64(2, quest)
		stmt.BindInt64(3, int64(e.Seq))
		stmt.BindBytes(4, e.Line())
		if _, err := stmt.Step(); err != nil {
			return errors.Join(err, stmt.Reset())
		}
		if err := stmt.Reset(); err != nil {
			return err
		}
	}
	for _, data := range b.Blobs {
		h := event.HashOf(data)
		err := sqlitex.Execute(w.conn, "INSERT INTO blobs (hash, data) VALUES (?, ?) ON CONFLICT DO NOTHING",
			&sqlitex.ExecOptions{Args: []any{h[:], data}})
		if err != nil {
			return err
		}
	}
	return nil
}

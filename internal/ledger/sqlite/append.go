package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/driver"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// A request stands in line for whoever writes.
type request struct {
	driver.Place
	batch ledger.Batch
	do    func(*sq.Conn) error // another write than a batch, alone in its transaction
	lazy  bool                 // it need not be flushed
	// err is the outcome of this request in the transaction that is being made.
	err error
}

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
	if s.atOnce(ctx, r) {
		return r.Err()
	}
	r.Stand()
	if err := s.enqueue(ctx, r); err != nil {
		return err
	}
	return r.Wait(ctx)
}

// atOnce writes a request on its sender's goroutine, with whatever is queued by then, if nobody writes: one
// who writes alone need not wait for another goroutine to do it and to say so.
func (s *Store) atOnce(ctx context.Context, r *request) bool {
	if ctx.Err() != nil || len(s.queue) > 0 || !s.begin() {
		return false
	}
	defer s.turn.Unlock()
	s.group(r)
	return true
}

// begin takes the turn to write, if nobody has it.
func (s *Store) begin() bool {
	s.closing.RLock()
	defer s.closing.RUnlock()
	return !s.closed && s.turn.TryLock()
}

func (s *Store) enqueue(ctx context.Context, r *request) error {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.closed {
		return ledger.ErrClosed
	}
	select {
	case s.queue <- r:
		driver.Tell(s.queued)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write writes what was queued while others wrote. It ends when the store is closed and the queue empty.
func (s *Store) write() {
	for range s.queued {
		s.turn.Lock()
		for len(s.queue) > 0 {
			s.group(<-s.queue)
		}
		s.turn.Unlock()
	}
}

// group writes a request and what else is queued. The caller has the turn.
func (s *Store) group(r *request) {
	w := &s.writer
	w.take(r)
	driver.Gather(s.queue)
	driver.Fill(s.queue, func(r *request) ledger.Batch { return r.batch }, w.take)
	w.commit()
	clear(w.group)
	w.group = w.group[:0]
	clear(w.quests)
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
	// relaxed says that commits of the connection are not flushed.
	relaxed bool
}

func newWriter(s *Store, conn *sq.Conn) writer {
	return writer{store: s, conn: conn, quests: map[string][]*request{}, rows: map[int64][]run{}}
}

func (w *writer) take(r *request) (have int) {
	if r.Take() {
		w.group = append(w.group, r)
		if r.do == nil {
			w.quests[r.batch.Quest] = append(w.quests[r.batch.Quest], r)
		}
	}
	return len(w.group)
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
		r.Answer(r.err)
	}
	if err != nil {
		return
	}
	w.store.recent.committed(before, w.last, w.rows)
	for quest := range w.quests {
		w.store.appended.Wake(quest)
	}
	w.store.index.added(wrote)
}

// transact returns the row after which the transaction's begin.
func (w *writer) transact() (before int64, err error) {
	clear(w.rows)
	lazy := !slices.ContainsFunc(w.group, func(r *request) bool { return !r.lazy })
	if err := w.relax(lazy); err != nil {
		return 0, err
	}
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
	if w.store.opts.BeforeFlush != nil && !lazy {
		w.store.opts.BeforeFlush()
	}
	return before, sqlitex.Execute(w.conn, "COMMIT", nil)
}

// relax has commits from now on be flushed, or not: those that are not are flushed with the next that is.
func (w *writer) relax(relaxed bool) error {
	if relaxed == w.relaxed {
		return nil
	}
	level := "PRAGMA synchronous=FULL"
	if relaxed {
		level = "PRAGMA synchronous=NORMAL"
	}
	if err := sqlitex.ExecuteTransient(w.conn, level, nil); err != nil {
		return err
	}
	w.relaxed = relaxed
	return nil
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
	if old.Seq == 0 {
		for _, c := range accepted[0].batch.Checkpoints {
			if err := putCheckpoint(w.conn, id, c); err != nil {
				return err
			}
		}
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
	p := pages{store: w.store, name: r.batch.Quest, quest: quest}
	lines, err := p.page(w.conn, last.Seq, 1, last.Seq)
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

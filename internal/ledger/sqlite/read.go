package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// pageEvents is how many events a reader takes before it gives its connection
// back: one unfinished read would keep the write-ahead log from being reused. It
// begins with firstEvents, for many want only one or two.
const (
	pageEvents  = 512
	firstEvents = 8
)

// pageBytes ends a page early, so that a page of large events stays small.
const pageBytes = 4 << 20

// scanAtOnce bounds how many rows of other quests a scan passes over before it
// gives its connection back.
const scanAtOnce = 65536

// Head implements ledger.Log.
func (s *Store) Head(ctx context.Context, quest string) (ledger.Head, error) {
	conn, err := s.reader(ctx)
	if err != nil {
		return ledger.Head{}, err
	}
	defer s.giveBack(conn)
	_, h, err := readHead(conn, quest)
	if err != nil {
		return ledger.Head{}, fmt.Errorf("head of quest %s: %w", quest, s.kind(err))
	}
	return h, nil
}

// Stray returns the first seq of a quest that has more than one row, or a row after the
// last event, 0 if there is none. No reader comes to such rows, so nothing else finds them.
// It reads the whole table.
func (s *Store) Stray(ctx context.Context, quest string) (seq uint64, err error) {
	conn, err := s.reader(ctx)
	if err != nil {
		return 0, err
	}
	defer s.giveBack(conn)
	err = sqlitex.Execute(conn, `SELECT ifnull(min(e.seq), 0) FROM
		(SELECT quest, seq, count(*) AS n FROM events WHERE quest = (SELECT id FROM quests WHERE name = ?1) GROUP BY seq) AS e
		JOIN quests ON quests.id = e.quest WHERE e.n > 1 OR e.seq > quests.head`, &sqlitex.ExecOptions{
		Args:       []any{quest},
		ResultFunc: func(stmt *sq.Stmt) error { seq = uint64(stmt.ColumnInt64(0)); return nil },
	})
	if err != nil {
		return 0, fmt.Errorf("look for stray rows of quest %s: %w", quest, s.kind(err))
	}
	return seq, nil
}

// Quests implements ledger.Log.
func (s *Store) Quests(ctx context.Context) ([]ledger.Head, error) {
	conn, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer s.giveBack(conn)
	var out []ledger.Head
	err = sqlitex.Execute(conn, "SELECT name, head, hash FROM quests ORDER BY name", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sq.Stmt) error {
			h := ledger.Head{Quest: stmt.ColumnText(0), Seq: uint64(stmt.ColumnInt64(1))}
			stmt.ColumnBytes(2, h.Hash[:])
			out = append(out, h)
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("list quests: %w", s.kind(err))
	}
	return out, nil
}

// Read implements ledger.Log.
func (s *Store) Read(ctx context.Context, quest string, seq uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		c := s.cursor(quest, seq)
		for {
			more, err := c.read(ctx, yield)
			if err != nil {
				yield(event.Event{}, fmt.Errorf("read quest %s: %w", quest, err))
			}
			if !more || err != nil {
				return
			}
		}
	}
}

// Lines implements ledger.Log.
func (s *Store) Lines(ctx context.Context, quest string, seq uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		c := s.cursor(quest, seq)
		c.primed = true // no hash is checked, so the event before is not needed
		for {
			lines, head, err := c.lines(ctx)
			if err != nil {
				yield(nil, fmt.Errorf("read quest %s: %w", quest, err))
				return
			}
			for _, line := range lines {
				c.next++
				if !yield(line, nil) {
					return
				}
			}
			if c.next > head.Seq {
				return
			}
		}
	}
}

// Follow implements ledger.Log.
func (s *Store) Follow(ctx context.Context, quest string, seq uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		changed, stop := s.appended.subscribe(quest)
		defer stop()
		c := s.cursor(quest, seq)
		for {
			more, err := c.read(ctx, yield)
			switch {
			case err != nil:
				yield(event.Event{}, fmt.Errorf("follow quest %s: %w", quest, err))
				return
			case c.stopped:
				return
			case more:
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(event.Event{}, fmt.Errorf("follow quest %s: %w", quest, ctx.Err()))
				return
			}
		}
	}
}

// A cursor stands between two events of a quest.
type cursor struct {
	store *Store
	name  string
	quest int64 // its number, 0 until known
	next  uint64
	prev  event.Hash
	size  int // of the next page, in events
	// after is a row that the next event does not stand before, once the index
	// has nothing more to say; 0 means to ask the index.
	after   int64
	row     int64 // that of the last event read
	scanned bool  // the index was wrong, and every row has been looked at
	primed  bool  // prev is known
	stopped bool  // the consumer has had enough
}

func (s *Store) cursor(quest string, seq uint64) *cursor {
	return &cursor{store: s, name: quest, next: max(seq, 1), size: firstEvents}
}

// read yields one page and reports whether there may be another at once.
func (c *cursor) read(ctx context.Context, yield func(event.Event, error) bool) (more bool, err error) {
	lines, head, err := c.lines(ctx)
	if err != nil {
		return false, err
	}
	for _, line := range lines {
		e, err := event.Parse(line)
		if err == nil && c.primed {
			err = e.Follows(c.next-1, c.prev)
		}
		if err != nil {
			return false, &ledger.DamageError{Quest: c.name, Seq: c.next, Err: err}
		}
		c.next, c.prev = e.Seq+1, e.Hash
		if !c.primed { // the event before the first one asked for
			c.primed = true
			continue
		}
		if !yield(e, nil) {
			c.stopped = true
			return false, nil
		}
	}
	return c.next <= head.Seq, c.checkHead(head)
}

// checkHead finds a ledger whose row and events do not agree.
func (c *cursor) checkHead(head ledger.Head) error {
	if c.primed && c.next == head.Seq+1 && head.Seq > 0 && c.prev != head.Hash {
		return &ledger.DamageError{Quest: c.name, Seq: head.Seq, Err: errors.New("the last event is not the one that was recorded as last")}
	}
	return nil
}

// lines fetches the next lines within one short read.
func (c *cursor) lines(ctx context.Context) (lines [][]byte, head ledger.Head, err error) {
	if err := ctx.Err(); err != nil {
		return nil, head, err
	}
	if c.store.isClosed() {
		return nil, head, ledger.ErrClosed
	}
	conn, err := c.store.reader(ctx)
	if err != nil {
		return nil, head, err
	}
	defer c.store.giveBack(conn)
	// One transaction, so that the head and the rows are of the same moment.
	if err := sqlitex.Execute(conn, "BEGIN", nil); err != nil {
		return nil, head, c.damaged(c.store.kind(err))
	}
	defer endRead(conn)
	quest, head, err := readHead(conn, c.name)
	if err != nil {
		return nil, head, c.store.kind(err)
	}
	if c.quest != 0 && c.quest != quest { // removed, and another made under its name
		return nil, head, &ledger.NoQuestError{Quest: c.name}
	}
	c.quest = quest
	if !c.primed {
		if c.next == 1 {
			c.primed = true
		} else if c.next <= head.Seq+1 {
			c.next--
		} else { // asked for what is not there yet
			return nil, ledger.Head{}, nil
		}
	}
	if c.next > head.Seq {
		return nil, head, nil
	}
	lines, err = c.page(conn, c.size, head.Seq)
	c.size = min(8*c.size, pageEvents)
	if err != nil {
		return nil, head, c.damaged(c.store.kind(err))
	}
	if len(lines) == 0 {
		return nil, head, &ledger.DamageError{Quest: c.name, Seq: c.next, Err: errors.New("the event is missing")}
	}
	return lines, head, nil
}

// endRead ends a transaction that wrote nothing. SQLite may have ended it itself
// when it met damage.
func endRead(conn *sq.Conn) {
	if !conn.AutocommitEnabled() {
		_ = sqlitex.Execute(conn, "ROLLBACK", nil)
	}
}

// damaged names the place where the storage itself could not be read.
func (c *cursor) damaged(err error) error {
	if errors.Is(err, ledger.ErrCorrupt) {
		return &ledger.DamageError{Quest: c.name, Seq: c.next, Err: err}
	}
	return err
}

// page returns up to most lines from c.next to seq last, contiguous. Should the
// index lead astray, it is made again and every row is looked at.
func (c *cursor) page(conn *sq.Conn, most int, last uint64) ([][]byte, error) {
	lines, err := c.pageFrom(conn, most, last)
	if err == nil && len(lines) > 0 || c.scanned {
		return lines, err
	}
	c.scanned, c.after, c.row = true, 1, 0
	c.store.index.rebuild()
	return c.pageFrom(conn, most, last)
}

func (c *cursor) pageFrom(conn *sq.Conn, most int, last uint64) ([][]byte, error) {
	p := &pager{cursor: c, conn: conn, most: most, want: c.next, until: last}
	if c.after == 0 {
		known, err := c.store.index.lookup(c.quest, c.next)
		if err != nil {
			return nil, err
		}
		if known.all { // the index has no more to say; maybe memory has
			known.runs = append(known.runs, c.store.recent.after(c.quest, known.covered)...)
		}
		for _, r := range known.runs {
			if err := p.scan(max(r.first, c.row+1), r.last, -1); err != nil || p.full() {
				return p.lines, err
			}
		}
		if len(p.lines) > 0 {
			return p.lines, nil
		}
		c.after = max(known.covered, 1)
	}
	// What follows is not known anywhere: look at every row.
	for !p.full() {
		before := c.after
		if err := p.scan(c.after, 1<<62, scanAtOnce); err != nil {
			return nil, err
		}
		if c.after == before || len(p.lines) > 0 {
			break
		}
	}
	return p.lines, nil
}

// A pager collects lines of one quest from ranges of rows.
type pager struct {
	*cursor
	conn  *sq.Conn
	most  int
	want  uint64
	until uint64
	bytes int
	lines [][]byte
}

func (p *pager) full() bool {
	return len(p.lines) >= p.most || p.bytes >= pageBytes || p.want > p.until
}

// scan takes the quest's rows between first and last. With a limit it is a scan
// of the end, and remembers how far it came.
func (p *pager) scan(first, last int64, limit int) error {
	stmt := p.conn.Prep("SELECT id, quest, seq, line FROM events WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?")
	defer stmt.Reset()
	stmt.BindInt64(1, first)
	stmt.BindInt64(2, last)
	stmt.BindInt64(3, int64(limit))
	for !p.full() {
		found, err := stmt.Step()
		if err != nil || !found {
			return err
		}
		if limit >= 0 {
			p.after = stmt.ColumnInt64(0)
		}
		seq := uint64(stmt.ColumnInt64(2))
		if stmt.ColumnInt64(1) != p.quest || seq < p.want {
			continue
		}
		if seq > p.want { // a gap: what was found so far still holds
			return nil
		}
		line := make([]byte, stmt.ColumnLen(3))
		stmt.ColumnBytes(3, line)
		p.lines = append(p.lines, line)
		p.bytes += len(line)
		p.want++
		p.row = stmt.ColumnInt64(0)
	}
	return nil
}

// Blob implements ledger.Store.
func (s *Store) Blob(ctx context.Context, h event.Hash) (data []byte, err error) {
	conn, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer s.giveBack(conn)
	stmt := conn.Prep("SELECT data FROM blobs WHERE hash = ?")
	defer stmt.Reset()
	stmt.BindBytes(1, h[:])
	found, err := stmt.Step()
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", h, s.kind(err))
	}
	if !found {
		return nil, fmt.Errorf("read blob %s: %w", h, ledger.ErrNoBlob)
	}
	data = make([]byte, stmt.ColumnLen(0))
	stmt.ColumnBytes(0, data)
	if event.HashOf(data) != h {
		return nil, fmt.Errorf("read blob %s: %w: its bytes were changed", h, ledger.ErrCorrupt)
	}
	return data, nil
}

func (s *Store) isClosed() bool {
	s.closing.RLock()
	defer s.closing.RUnlock()
	return s.closed
}

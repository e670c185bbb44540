package sqlite

import (
	"context"
	"fmt"
	"iter"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/driver"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
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
	return driver.Read(ctx, s.pages, quest, seq)
}

// Lines implements ledger.Log.
func (s *Store) Lines(ctx context.Context, quest string, seq uint64) iter.Seq2[[]byte, error] {
	return driver.Lines(ctx, s.pages, quest, seq)
}

// Follow implements ledger.Log.
func (s *Store) Follow(ctx context.Context, quest string, seq uint64) iter.Seq2[event.Event, error] {
	return driver.Follow(ctx, s.pages, s.appended, quest, seq)
}

// pages reads a quest, one page after the other.
type pages struct {
	store *Store
	name  string
	quest int64 // its number, 0 until known
	// after is a row that the next event does not stand before, once the index
	// has nothing more to say; 0 means to ask the index.
	after   int64
	row     int64 // that of the last event read
	scanned bool  // the index was wrong, and every row has been looked at
}

func (s *Store) pages(quest string) driver.Pages { return &pages{store: s, name: quest} }

// Page implements driver.Pages.
func (p *pages) Page(ctx context.Context, from uint64, most int) (out driver.Page, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if p.store.isClosed() {
		return out, ledger.ErrClosed
	}
	conn, err := p.store.reader(ctx)
	if err != nil {
		return out, err
	}
	defer p.store.giveBack(conn)
	// One transaction, so that the head and the rows are of the same moment.
	if err := sqlitex.Execute(conn, "BEGIN", nil); err != nil {
		return out, p.store.kind(err)
	}
	defer endRead(conn)
	if out.Quest, out.Head, err = readHead(conn, p.name); err != nil {
		return out, p.store.kind(err)
	}
	if p.quest == 0 {
		p.quest = out.Quest
	}
	if p.quest != out.Quest || from > out.Head.Seq {
		return out, nil
	}
	out.Lines, err = p.page(conn, from, most, out.Head.Seq)
	return out, p.store.kind(err)
}

// endRead ends a transaction that wrote nothing. SQLite may have ended it itself
// when it met damage.
func endRead(conn *sq.Conn) {
	if !conn.AutocommitEnabled() {
		_ = sqlitex.Execute(conn, "ROLLBACK", nil)
	}
}

// page returns up to most lines from one seq to another, contiguous. Should the
// index lead astray, it is made again and every row is looked at.
func (p *pages) page(conn *sq.Conn, from uint64, most int, last uint64) ([][]byte, error) {
	lines, err := p.pageFrom(conn, from, most, last)
	if err == nil && len(lines) > 0 || p.scanned {
		return lines, err
	}
	p.scanned, p.after, p.row = true, 1, 0
	p.store.index.rebuild()
	return p.pageFrom(conn, from, most, last)
}

func (p *pages) pageFrom(conn *sq.Conn, from uint64, most int, last uint64) ([][]byte, error) {
	g := &pager{pages: p, conn: conn, most: most, want: from, until: last}
	if p.after == 0 {
		known, err := p.store.index.lookup(p.quest, from)
		if err != nil {
			return nil, err
		}
		if known.all { // the index has no more to say; maybe memory has
			known.runs = append(known.runs, p.store.recent.after(p.quest, known.covered)...)
		}
		for _, r := range known.runs {
			if err := g.scan(max(r.first, p.row+1), r.last, -1); err != nil || g.full() {
				return g.lines, err
			}
		}
		if len(g.lines) > 0 {
			return g.lines, nil
		}
		p.after = max(known.covered, 1)
	}
	// What follows is not known anywhere: look at every row.
	for !g.full() {
		before := p.after
		if err := g.scan(p.after, 1<<62, scanAtOnce); err != nil {
			return nil, err
		}
		if p.after == before || len(g.lines) > 0 {
			break
		}
	}
	return g.lines, nil
}

// A pager collects lines of one quest from ranges of rows.
type pager struct {
	*pages
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
	// SQLite looks at what is bound to a bare LIMIT ?, and then prepares the statement anew with every value.
	stmt := p.conn.Prep("SELECT id, quest, seq, line FROM events WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ? + 0")
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

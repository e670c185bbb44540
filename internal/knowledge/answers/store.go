package answers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/search"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Store keeps entries in a file, for all quests of a home. Several processes may have it open.
// It is safe for use by several goroutines.
type Store struct {
	mu   sync.Mutex // one connection
	path string
	conn *sq.Conn
}

const schema = `
CREATE TABLE IF NOT EXISTS answers (
	quest TEXT NOT NULL, seq INTEGER NOT NULL, hash BLOB NOT NULL, time INTEGER NOT NULL,
	exact BLOB NOT NULL, setting BLOB NOT NULL, words BLOB NOT NULL, asked TEXT NOT NULL, embedder TEXT NOT NULL, direction BLOB NOT NULL,
	uses INTEGER NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (quest, seq)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_time ON answers (time);
CREATE INDEX IF NOT EXISTS answers_exact ON answers (exact);
CREATE INDEX IF NOT EXISTS answers_setting ON answers (setting, words);
`

// Open opens the file, and makes it if it is not there. One that is damaged is made anew.
func Open(path string) (*Store, error) {
	conn, err := search.OpenCacheFile(path, schema, "SELECT "+columns+", words, uses, used FROM answers LIMIT 1")
	if err == nil { // what is forgotten is to be gone from the disk, too
		if err = sqlitex.ExecuteTransient(conn, "PRAGMA secure_delete = ON", nil); err != nil {
			err = errors.Join(err, conn.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the cache of answers %s: %w", path, err)
	}
	return &Store{path: path, conn: conn}, nil
}

// Close closes the file.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn.Close()
}

const columns = "quest, seq, hash, time, exact, setting, asked, embedder, direction"

// Find are the entries that fit a question, the best first.
func (s *Store) Find(ctx context.Context, q *Question, now event.Time) ([]Match, error) {
	var all []Entry
	err := s.do(ctx, "read", func() error {
		query, args := "SELECT "+columns+" FROM answers WHERE exact = ?", []any{q.Exact[:]}
		if q.Setting != (event.Hash{}) {
			query, args = query+" OR setting = ? AND words = ?", append(args, q.Setting[:], bytesOf(sum(q.Asked)))
		}
		return sqlitex.Execute(s.conn, query, &sqlitex.ExecOptions{Args: args, ResultFunc: func(row *sq.Stmt) error {
			all = append(all, entryOf(row))
			return nil
		}})
	})
	return matches(q, all, now), err
}

func entryOf(row *sq.Stmt) (e Entry) {
	bytes := func(col int) []byte {
		data := make([]byte, row.ColumnLen(col))
		row.ColumnBytes(col, data)
		return data
	}
	e.Quest, e.Seq, e.Time = row.ColumnText(0), uint64(row.ColumnInt64(1)), event.Time(row.ColumnInt64(3))
	copy(e.Hash[:], bytes(2))
	copy(e.Exact[:], bytes(4))
	copy(e.Setting[:], bytes(5))
	e.Asked, e.Embedder, e.Direction = row.ColumnText(6), row.ColumnText(7), bytes(8)
	return e
}

// Put keeps an entry. What is too old goes, and if there are too many those that were used least;
// of these, the ones that were used longest ago.
func (s *Store) Put(ctx context.Context, e Entry) error {
	return s.write(ctx, func() error {
		err := s.exec("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
			e.Quest, int64(e.Seq), e.Hash[:], int64(e.Time), e.Exact[:], e.Setting[:], bytesOf(sum(e.Asked)), e.Asked, e.Embedder, e.Direction, int64(e.Time))
		if err == nil {
			err = s.exec("DELETE FROM answers WHERE time <= ?", int64(e.Time)-Limit)
		}
		n := 0
		if err == nil {
			n, err = s.count()
		}
		if err == nil && n > Most {
			err = s.exec(`DELETE FROM answers WHERE (quest, seq) IN (
				SELECT quest, seq FROM answers WHERE NOT (quest = ? AND seq = ?) ORDER BY uses DESC, used DESC, time DESC, quest, seq LIMIT -1 OFFSET ?)`, e.Quest, int64(e.Seq), Most-1)
		}
		return err
	})
}

// Used notes that an entry's answer was taken.
func (s *Store) Used(ctx context.Context, e *Entry, now event.Time) error {
	return s.write(ctx, func() error {
		return s.exec("UPDATE answers SET uses = uses + 1, used = ? WHERE quest = ? AND seq = ?", int64(now), e.Quest, int64(e.Seq))
	})
}

// Drop forgets an entry whose answer is not there any more.
func (s *Store) Drop(ctx context.Context, e *Entry) error {
	return s.write(ctx, func() error {
		return s.exec("DELETE FROM answers WHERE quest = ? AND seq = ? AND hash = ?", e.Quest, int64(e.Seq), e.Hash[:])
	})
}

// Forget forgets all that a quest has answered.
func (s *Store) Forget(ctx context.Context, quest string) error {
	return s.write(ctx, func() error { return s.exec("DELETE FROM answers WHERE quest = ?", quest) })
}

// Len is how many entries there are.
func (s *Store) Len(ctx context.Context) (n int, err error) {
	err = s.do(ctx, "read", func() (err error) {
		n, err = s.count()
		return err
	})
	return n, err
}

func (s *Store) count() (n int, err error) {
	err = sqlitex.Execute(s.conn, "SELECT count(*) FROM answers", &sqlitex.ExecOptions{ResultFunc: func(row *sq.Stmt) error {
		n = row.ColumnInt(0)
		return nil
	}})
	return n, err
}

func bytesOf(h event.Hash) []byte { return h[:] }

func (s *Store) exec(query string, args ...any) error {
	return sqlitex.Execute(s.conn, query, &sqlitex.ExecOptions{Args: args})
}

func (s *Store) write(ctx context.Context, change func() error) error {
	return s.do(ctx, "write", func() (err error) {
		end, err := sqlitex.ImmediateTransaction(s.conn)
		if err != nil {
			return err
		}
		defer end(&err)
		return change()
	})
}

// do has the connection to itself.
func (s *Store) do(ctx context.Context, what string, work func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn.SetInterrupt(ctx.Done())
	err := work()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s the cache of answers %s (it can be deleted): %w", what, s.path, err)
	}
	return nil
}

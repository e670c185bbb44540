package sqlite

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Post implements ledger.Inbox. The commands stay when they have been taken:
// the ledger knows which were, and a sender that tries again with the same key
// must find the first try.
func (s *Store) Post(ctx context.Context, quest string, c ledger.Command) (id int64, err error) {
	body, err := event.EncodeBody(c.Body)
	if err != nil {
		return 0, fmt.Errorf("post to quest %s: %w", quest, err)
	}
	err = s.submit(ctx, &request{do: func(conn *sq.Conn) error {
		if _, _, err := readHead(conn, quest); err != nil {
			return err
		}
		var key any
		if c.Key != "" {
			key = c.Key
		}
		number := func(query string, args ...any) error {
			return sqlitex.Execute(conn, query, &sqlitex.ExecOptions{
				Args: args, ResultFunc: func(stmt *sq.Stmt) error { id = stmt.ColumnInt64(0); return nil },
			})
		}
		if err := number("SELECT number FROM inbox WHERE quest = ? AND key = ?", quest, key); err != nil || id != 0 {
			return err // it has been posted before
		}
		err := number("SELECT 1 + max(inbox, (SELECT coalesce(max(number), 0) FROM inbox WHERE quest = ?1)) FROM quests WHERE name = ?1", quest)
		if err != nil {
			return err
		}
		return sqlitex.Execute(conn, "INSERT INTO inbox (quest, number, key, type, body) VALUES (?, ?, ?, ?, ?)",
			&sqlitex.ExecOptions{Args: []any{quest, id, key, string(c.Body.Type()), body}})
	}})
	if err != nil {
		return 0, fmt.Errorf("post to quest %s: %w", quest, err)
	}
	s.posted.Wake(quest)
	return id, nil
}

// Commands implements ledger.Inbox.
func (s *Store) Commands(ctx context.Context, quest string, after int64) (out []ledger.Command, err error) {
	conn, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer s.giveBack(conn)
	err = sqlitex.Execute(conn, "SELECT number, coalesce(key, ''), type, body FROM inbox WHERE quest = ? AND number > ? AND type <> '' ORDER BY number", &sqlitex.ExecOptions{
		Args: []any{quest, after},
		ResultFunc: func(stmt *sq.Stmt) error {
			data := make([]byte, stmt.ColumnLen(3))
			stmt.ColumnBytes(3, data)
			body, err := event.DecodeBody(event.Type(stmt.ColumnText(2)), data)
			out = append(out, ledger.Command{ID: stmt.ColumnInt64(0), Key: stmt.ColumnText(1), Body: body})
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("commands of quest %s: %w", quest, s.kind(err))
	}
	return out, nil
}

// Dismiss implements ledger.Inbox. The row stays, without a type.
func (s *Store) Dismiss(ctx context.Context, quest string, id int64) error {
	err := s.submit(ctx, &request{do: func(conn *sq.Conn) error {
		return sqlitex.Execute(conn, "UPDATE inbox SET type = '' WHERE quest = ? AND number = ?", &sqlitex.ExecOptions{Args: []any{quest, id}})
	}})
	if err != nil {
		return fmt.Errorf("dismiss command %d of quest %s: %w", id, quest, err)
	}
	return nil
}

// Remove implements ledger.Log. Ids of removed rows never come again.
func (s *Store) Remove(ctx context.Context, quest string) error {
	var id int64
	err := s.submit(ctx, &request{do: func(conn *sq.Conn) (err error) {
		if id, _, err = readHead(conn, quest); err != nil {
			return err
		}
		last, err := lastID(conn)
		if err != nil {
			return err
		}
		for _, step := range []struct {
			query string
			arg   any
		}{
			{"UPDATE meta SET floor = ?", last},
			{"DELETE FROM events WHERE quest = ?", id},
			{"DELETE FROM inbox WHERE quest = ?", quest},
			{"DELETE FROM checkpoints WHERE quest = ?", id},
			{"DELETE FROM wanted WHERE quest = ?", id},
			{"DELETE FROM quests WHERE id = ?", id},
		} {
			if err := sqlitex.Execute(conn, step.query, &sqlitex.ExecOptions{Args: []any{step.arg}}); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("remove quest %s: %w", quest, err)
	}
	s.appended.Wake(quest)
	if err := s.index.forget(id, quest); err != nil {
		return fmt.Errorf("remove quest %s from the index: %w", quest, err)
	}
	return nil
}

// Sweep removes every small blob that keep does not name. Nobody else may have
// the ledger open for writing: the caller sees to that.
func (s *Store) Sweep(ctx context.Context, keep map[event.Hash]bool) (removed int, err error) {
	err = s.submit(ctx, &request{do: func(conn *sq.Conn) error {
		removed = 0
		var drop []event.Hash
		err := sqlitex.Execute(conn, "SELECT hash FROM blobs", &sqlitex.ExecOptions{ResultFunc: func(stmt *sq.Stmt) error {
			var h event.Hash
			stmt.ColumnBytes(0, h[:])
			if !keep[h] {
				drop = append(drop, h)
			}
			return nil
		}})
		if err != nil {
			return err
		}
		// What is removed may have been redacted: no byte of it stays on a free page.
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA secure_delete=ON", nil); err != nil {
			return err
		}
		for _, h := range drop {
			if err := sqlitex.Execute(conn, "DELETE FROM blobs WHERE hash = ?", &sqlitex.ExecOptions{Args: []any{h[:]}}); err != nil {
				return err
			}
			removed++
		}
		return nil
	}})
	if err == nil && removed > 0 {
		err = s.emptyLog()
	}
	if err != nil {
		return 0, fmt.Errorf("remove blobs nobody refers to: %w", err)
	}
	return removed, nil
}

// emptyLog brings what was written into the database itself and cuts the write-ahead log to nothing: until
// then both have the bytes of what was removed. Where a reader is in the way for longer than a few seconds, they go
// with the store's closing.
func (s *Store) emptyLog() error {
	conn, err := sq.OpenConn(s.path, sq.OpenReadWrite)
	if err != nil {
		return err
	}
	for _, sql := range []string{"PRAGMA busy_timeout=5000", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		err = errors.Join(err, sqlitex.ExecuteTransient(conn, sql, nil))
	}
	return errors.Join(err, conn.Close())
}

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

// PutToken implements ledger.Tokens.
func (s *Store) PutToken(ctx context.Context, t ledger.Token) error {
	if t.ID == "" || t.Hash.IsZero() {
		return errors.New("put a token: it has no name or no hash")
	}
	err := s.submit(ctx, &request{do: func(conn *sq.Conn) error {
		err := sqlitex.Execute(conn, "INSERT INTO tokens (id, hash, scope, note, created, expires) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			&sqlitex.ExecOptions{Args: []any{t.ID, t.Hash[:], t.Scope, t.Note, int64(t.Created), int64(t.Expires)}})
		if err == nil && conn.Changes() == 0 {
			err = ledger.ErrToken
		}
		return err
	}})
	if err != nil {
		return fmt.Errorf("put token %s: %w", t.ID, err)
	}
	return nil
}

// Tokens implements ledger.Tokens.
func (s *Store) Tokens(ctx context.Context) (out []ledger.Token, err error) {
	conn, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer s.giveBack(conn)
	err = sqlitex.Execute(conn, "SELECT id, hash, scope, note, created, expires FROM tokens ORDER BY created, number", &sqlitex.ExecOptions{
		ResultFunc: func(stmt *sq.Stmt) error {
			t := ledger.Token{
				ID: stmt.ColumnText(0), Scope: stmt.ColumnText(2), Note: stmt.ColumnText(3),
				Created: event.Time(stmt.ColumnInt64(4)), Expires: event.Time(stmt.ColumnInt64(5)),
			}
			stmt.ColumnBytes(1, t.Hash[:])
			out = append(out, t)
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", s.kind(err))
	}
	return out, nil
}

// DropToken implements ledger.Tokens.
func (s *Store) DropToken(ctx context.Context, id string) error {
	err := s.submit(ctx, &request{do: func(conn *sq.Conn) error {
		err := sqlitex.Execute(conn, "DELETE FROM tokens WHERE id = ?", &sqlitex.ExecOptions{Args: []any{id}})
		if err == nil && conn.Changes() == 0 {
			err = ledger.ErrNoToken
		}
		return err
	}})
	if err != nil {
		return fmt.Errorf("drop token %s: %w", id, err)
	}
	return nil
}

package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

const noteColumns = "SELECT number, kind, key, due, body FROM notes "

func readNote(stmt *sq.Stmt) ledger.Note {
	n := ledger.Note{Number: stmt.ColumnInt64(0), Kind: stmt.ColumnText(1), Key: stmt.ColumnText(2), Due: event.Time(stmt.ColumnInt64(3)), Body: make([]byte, stmt.ColumnLen(4))}
	stmt.ColumnBytes(4, n.Body)
	return n
}

// SwapNote implements ledger.Notes.
func (s *Store) SwapNote(ctx context.Context, n ledger.Note, old []byte) (swapped bool, err error) {
	if n.Kind == "" || n.Key == "" {
		return false, errors.New("put a note: it has no kind or no key")
	}
	err = s.submit(ctx, &request{do: func(conn *sq.Conn) error {
		swapped = false
		has, err := noteOf(conn, n.Kind, n.Key)
		if err != nil || (has.Body == nil) != (old == nil) || !bytes.Equal(has.Body, old) {
			return err
		}
		switch swapped = true; {
		case n.Body == nil:
			return sqlitex.Execute(conn, "DELETE FROM notes WHERE number = ?", &sqlitex.ExecOptions{Args: []any{has.Number}})
		case old == nil:
			return sqlitex.Execute(conn, "INSERT INTO notes (kind, key, due, body) VALUES (?, ?, ?, ?)", &sqlitex.ExecOptions{Args: []any{n.Kind, n.Key, int64(n.Due), n.Body}})
		}
		return sqlitex.Execute(conn, "UPDATE notes SET due = ?, body = ? WHERE number = ?", &sqlitex.ExecOptions{Args: []any{int64(n.Due), n.Body, has.Number}})
	}})
	if err != nil {
		return false, fmt.Errorf("put the note %s of %s: %w", n.Key, n.Kind, err)
	}
	return swapped, nil
}

func noteOf(conn *sq.Conn, kind, key string) (n ledger.Note, err error) {
	err = sqlitex.Execute(conn, noteColumns+"WHERE kind = ? AND key = ?", &sqlitex.ExecOptions{
		Args: []any{kind, key}, ResultFunc: func(stmt *sq.Stmt) error { n = readNote(stmt); return nil },
	})
	return n, err
}

// Note implements ledger.Notes.
func (s *Store) Note(ctx context.Context, kind, key string) (n ledger.Note, err error) {
	conn, err := s.reader(ctx)
	if err != nil {
		return n, err
	}
	defer s.giveBack(conn)
	if n, err = noteOf(conn, kind, key); err != nil {
		return n, fmt.Errorf("read the note %s of %s: %w", key, kind, s.kind(err))
	}
	return n, nil
}

// Notes implements ledger.Notes.
func (s *Store) Notes(ctx context.Context, kind string, due event.Time, most int) (out []ledger.Note, err error) {
	conn, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer s.giveBack(conn)
	err = sqlitex.Execute(conn, noteColumns+"WHERE kind = ? AND due <= ? ORDER BY due, number LIMIT ?", &sqlitex.ExecOptions{
		Args: []any{kind, int64(due), most}, ResultFunc: func(stmt *sq.Stmt) error { out = append(out, readNote(stmt)); return nil },
	})
	if err != nil {
		return nil, fmt.Errorf("read the notes of %s: %w", kind, s.kind(err))
	}
	return out, nil
}

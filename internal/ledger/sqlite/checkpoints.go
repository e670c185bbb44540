package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/ledger"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// PutCheckpoint implements ledger.Checkpoints.
func (s *Store) PutCheckpoint(ctx context.Context, quest string, c ledger.Checkpoint) error {
	err := s.submit(ctx, &request{do: func(conn *sq.Conn) error {
		id, head, err := readHead(conn, quest)
		if err != nil {
			return err
		}
		if c.Origin == "" || c.Own && c.Size > head.Seq {
			return fmt.Errorf("a checkpoint of %d events, and the quest has %d", c.Size, head.Seq)
		}
		return putCheckpoint(conn, id, c)
	}})
	if err != nil {
		return fmt.Errorf("keep a checkpoint of quest %s: %w", quest, err)
	}
	return nil
}

func putCheckpoint(conn *sq.Conn, quest int64, c ledger.Checkpoint) error {
	return sqlitex.Execute(conn, "INSERT OR REPLACE INTO checkpoints (quest, size, origin, own, edge, body) VALUES (?, ?, ?, ?, ?, ?)", &sqlitex.ExecOptions{
		Args: []any{quest, int64(c.Size), c.Origin, c.Own, nonNil(c.Edge), nonNil(c.Body)},
	})
}

// nonNil keeps an empty value from being NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Checkpoints implements ledger.Checkpoints.
func (s *Store) Checkpoints(ctx context.Context, quest string, most int) (out []ledger.Checkpoint, err error) {
	conn, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer s.giveBack(conn)
	id, _, err := readHead(conn, quest)
	if errors.Is(err, ledger.ErrNoQuest) {
		return nil, nil
	}
	if most <= 0 {
		most = -1
	}
	if err == nil {
		err = sqlitex.Execute(conn, "SELECT size, origin, own, edge, body FROM checkpoints WHERE quest = ? ORDER BY size DESC, origin DESC LIMIT ?", &sqlitex.ExecOptions{
			Args: []any{id, most}, ResultFunc: func(stmt *sq.Stmt) error {
				c := ledger.Checkpoint{Size: uint64(stmt.ColumnInt64(0)), Origin: stmt.ColumnText(1), Own: stmt.ColumnBool(2), Edge: make([]byte, stmt.ColumnLen(3)), Body: make([]byte, stmt.ColumnLen(4))}
				stmt.ColumnBytes(3, c.Edge)
				stmt.ColumnBytes(4, c.Body)
				out = append(out, c)
				return nil
			},
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read the checkpoints of quest %s: %w", quest, s.kind(err))
	}
	slices.Reverse(out)
	return out, nil
}

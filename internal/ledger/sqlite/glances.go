package sqlite

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/ledger"
	"lyceum/internal/ledger/driver"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Glances are in the index's file, whose commits wait for no flush: they can be made again as it can. They are
// written soon, those of many quests together.

// kept is a glance that waits to be written.
type kept struct {
	ledger.Glance
	form, version string
}

// maxKept is how many glances wait at most.
const maxKept = 256

// PutGlances implements ledger.Glances.
func (s *Store) PutGlances(_ context.Context, form, version string, list []ledger.Glance) error {
	x := s.index
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, g := range list {
		x.waiting = append(x.waiting, kept{g, form, version})
	}
	if len(x.waiting) < maxKept {
		driver.Tell(x.noted)
		return nil
	}
	return s.kind(x.writeGlances())
}

// writeGlances writes those that wait. The caller holds mu.
func (x *index) writeGlances() (err error) {
	if len(x.waiting) == 0 {
		return nil
	}
	list := x.waiting
	x.waiting = nil // what cannot be written is made again
	end, err := sqlitex.ImmediateTransaction(x.conn)
	if err != nil {
		return fmt.Errorf("keep what is said of quests: %w", err)
	}
	defer end(&err)
	stmt := x.conn.Prep("INSERT OR REPLACE INTO glances (quest, form, version, hash, body) VALUES (?, ?, ?, ?, ?)")
	for _, k := range list {
		stmt.BindText(1, k.Quest)
		stmt.BindText(2, k.form)
		stmt.BindText(3, k.version)
		stmt.BindBytes(4, k.Hash[:])
		stmt.BindBytes(5, k.Body)
		if _, err := stmt.Step(); err != nil {
			return fmt.Errorf("keep what is said of quest %s: %w", k.Quest, errors.Join(err, stmt.Reset()))
		}
		if err := stmt.Reset(); err != nil {
			return err
		}
	}
	return nil
}

// Glances implements ledger.Glances.
func (s *Store) Glances(_ context.Context, form, version string) (out []ledger.Glance, err error) {
	x := s.index
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.writeGlances(); err != nil {
		return nil, s.kind(err)
	}
	err = sqlitex.Execute(x.conn, "SELECT quest, hash, body FROM glances WHERE form = ? AND version = ?", &sqlitex.ExecOptions{
		Args: []any{form, version},
		ResultFunc: func(stmt *sq.Stmt) error {
			g := ledger.Glance{Quest: stmt.ColumnText(0), Body: make([]byte, stmt.ColumnLen(2))}
			stmt.ColumnBytes(1, g.Hash[:])
			stmt.ColumnBytes(2, g.Body)
			out = append(out, g)
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read what is said of quests: %w", s.kind(err))
	}
	return out, nil
}

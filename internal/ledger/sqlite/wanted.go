package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// What is wanted is written without a flush of its own, as the files were that were here before: a
// run begins with it. The next batch's flush is for it, too.

// wantedFormat is the first that has the table.
const wantedFormat = 5

const wantedColumns = "SELECT q.name, w.seq, w.hash, w.inbox, w.due FROM wanted w JOIN quests q ON q.id = w.quest "

func readWanted(stmt *sq.Stmt) ledger.Wanted {
	w := ledger.Wanted{Quest: stmt.ColumnText(0)}
	if seq := stmt.ColumnInt64(1); seq > 0 {
		w.Rest = &ledger.Rest{Seq: uint64(seq), Inbox: stmt.ColumnInt64(3), Due: event.Time(stmt.ColumnInt64(4))}
		stmt.ColumnBytes(2, w.Rest.Hash[:])
	}
	return w
}

// Want implements ledger.Wants.
func (s *Store) Want(ctx context.Context, w ledger.Wanted) error {
	err := s.submit(ctx, &request{lazy: true, do: func(conn *sq.Conn) error {
		id, _, err := readHead(conn, w.Quest)
		if err != nil {
			return err
		}
		var r ledger.Rest
		if w.Rest != nil {
			r = *w.Rest
		}
		return sqlitex.Execute(conn, "INSERT OR REPLACE INTO wanted (quest, seq, hash, inbox, due) VALUES (?, ?, ?, ?, ?)",
			&sqlitex.ExecOptions{Args: []any{id, int64(r.Seq), r.Hash[:], r.Inbox, int64(r.Due)}})
	}})
	if err != nil {
		return fmt.Errorf("note that quest %s is to run: %w", w.Quest, err)
	}
	return nil
}

// Unwant implements ledger.Wants. Most runs in a terminal find nothing to take back.
func (s *Store) Unwant(ctx context.Context, quest string) error {
	w, err := s.Wanted(ctx, quest)
	if err != nil || w == nil {
		return err
	}
	err = s.submit(ctx, &request{lazy: true, do: func(conn *sq.Conn) error {
		return sqlitex.Execute(conn, "DELETE FROM wanted WHERE quest = (SELECT id FROM quests WHERE name = ?)", &sqlitex.ExecOptions{Args: []any{quest}})
	}})
	if err != nil {
		return fmt.Errorf("note that quest %s is not to run: %w", quest, err)
	}
	return nil
}

// Wanted implements ledger.Wants.
func (s *Store) Wanted(ctx context.Context, quest string) (*ledger.Wanted, error) {
	list, err := s.wanted(ctx, wantedColumns+"WHERE q.name = ?", quest)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// AllWanted implements ledger.Wants.
func (s *Store) AllWanted(ctx context.Context) ([]ledger.Wanted, error) {
	return s.wanted(ctx, wantedColumns+"ORDER BY q.name")
}

func (s *Store) wanted(ctx context.Context, query string, args ...any) (out []ledger.Wanted, err error) {
	conn, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	defer s.giveBack(conn)
	err = sqlitex.Execute(conn, query, &sqlitex.ExecOptions{
		Args: args, ResultFunc: func(stmt *sq.Stmt) error { out = append(out, readWanted(stmt)); return nil },
	})
	if err != nil {
		return nil, fmt.Errorf("read which quests are to run: %w", s.kind(err))
	}
	return out, nil
}

// takeMarks takes over what stood in files of the folder serving before format 5: the hash of the
// quest's first event, and how it stands. A server of the version before may still write some.
func (s *Store) takeMarks(ctx context.Context) error {
	dir := filepath.Join(filepath.Dir(s.path), "serving")
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range list {
		if err == nil {
			err = s.takeMark(ctx, filepath.Join(dir, f.Name()), f.Name())
		}
	}
	if err != nil {
		return fmt.Errorf("take over which quests the last server ran: %w", err)
	}
	_ = os.Remove(dir) // unless another mark has come: then the next to open takes it over
	return nil
}

func (s *Store) takeMark(ctx context.Context, path, quest string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has taken it
	}
	if err != nil {
		return err
	}
	first, more, _ := strings.Cut(string(data), "\n")
	for e, err := range s.Read(ctx, quest, 1) {
		if err == nil && e.Hash.String() == first {
			if err := s.Want(ctx, ledger.Wanted{Quest: quest, Rest: readMark(more)}); err != nil {
				return err
			}
		}
		break // a mark of a quest that cannot be read, or that is another, is of no use
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// readMark reads how a quest stands, nil if that is not there.
func readMark(line string) *ledger.Rest {
	var rest ledger.Rest
	var hash string
	if n, err := fmt.Sscanf(line, "waits %d %s %d %d\n", &rest.Seq, &hash, &rest.Inbox, &rest.Due); n != 4 || err != nil {
		return nil
	}
	var err error
	if rest.Hash, err = event.ParseHash(hash); err != nil {
		return nil
	}
	return &rest
}

package postgres

import (
	"context"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	"github.com/jackc/pgx/v5"
)

// Want implements ledger.Wants.
func (s *Store) Want(ctx context.Context, w ledger.Wanted) error {
	var r ledger.Rest
	if w.Rest != nil {
		r = *w.Rest
	}
	err := s.write(ctx, func(tx pgx.Tx, _ bool) error {
		var id int64
		// The row is held, so that the quest is not removed meanwhile.
		err := tx.QueryRow(ctx, "SELECT id FROM lyceum.quests WHERE name = $1 AND head > 0 FOR KEY SHARE", w.Quest).Scan(&id)
		if err != nil {
			return noQuest(err, w.Quest)
		}
		_, err = tx.Exec(ctx, `INSERT INTO lyceum.wanted (quest, seq, hash, inbox, due) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (quest) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, inbox = excluded.inbox, due = excluded.due`,
			id, int64(r.Seq), r.Hash[:], r.Inbox, int64(r.Due))
		return err
	})
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
	err = s.write(ctx, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, "DELETE FROM lyceum.wanted WHERE quest = (SELECT id FROM lyceum.quests WHERE name = $1)", quest)
		return err
	})
	if err != nil {
		return fmt.Errorf("note that quest %s is not to run: %w", quest, err)
	}
	return nil
}

const wantedColumns = "SELECT q.name, w.seq, w.hash, w.inbox, w.due FROM lyceum.wanted w JOIN lyceum.quests q ON q.id = w.quest "

// Wanted implements ledger.Wants.
func (s *Store) Wanted(ctx context.Context, quest string) (*ledger.Wanted, error) {
	list, err := s.wanted(ctx, wantedColumns+"WHERE q.name = $1", quest)
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
	err = s.read(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (w ledger.Wanted, err error) {
			var r ledger.Rest
			var hash []byte
			var due int64
			err = row.Scan(&w.Quest, &r.Seq, &hash, &r.Inbox, &due)
			if r.Seq > 0 {
				copy(r.Hash[:], hash)
				r.Due, w.Rest = event.Time(due), &r
			}
			return w, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read which quests are to run: %w", err)
	}
	return out, nil
}

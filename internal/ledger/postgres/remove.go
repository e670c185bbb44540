package postgres

import (
	"context"
	"fmt"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/driver"

	"github.com/jackc/pgx/v5"
)

// Remove implements ledger.Log. The quest's row goes at once, and with it everything that can be
// found; its events, which may be many, go later. An id never comes again, so that they are nobody
// else's.
func (s *Store) Remove(ctx context.Context, quest string) error {
	err := s.write(ctx, func(tx pgx.Tx, again bool) error {
		var id, epoch int64
		var node *int64
		err := tx.QueryRow(ctx, "DELETE FROM lyceum.quests WHERE name = $1 AND head > 0 RETURNING id, epoch, node", quest).Scan(&id, &epoch, &node)
		if err = noQuest(err, quest); err != nil {
			if _, none := err.(*ledger.NoQuestError); none && again {
				return nil // the first try
			}
			return err
		}
		for _, query := range []string{
			"DELETE FROM lyceum.inbox WHERE quest = $1",
			"DELETE FROM lyceum.inboxes WHERE quest = $1",
			"DELETE FROM lyceum.checkpoints WHERE quest = $1",
			"DELETE FROM lyceum.wanted WHERE quest = $1",
			"DELETE FROM lyceum.refused WHERE quest = $1",
			"INSERT INTO lyceum.gone (quest) VALUES ($1)",
		} {
			if _, err := tx.Exec(ctx, query, id); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM lyceum.glances WHERE quest = $1", quest); err != nil || node == nil {
			return err
		}
		// The claim outlasts the quest, as on a name that has none yet.
		_, err = tx.Exec(ctx, "INSERT INTO lyceum.quests (name, head, hash, epoch, node) VALUES ($1, 0, $2, $3, $4)", quest, noHash[:], epoch, node)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove quest %s: %w", quest, err)
	}
	s.appended.Wake(quest)
	s.news.appended(quest)
	driver.Tell(s.tidy)
	return nil
}

// goneEvents is how many events of a removed quest one statement deletes.
const goneEvents = 5000

// deleteGone deletes the events of removed quests, a few at a time. Several nodes do so at once,
// each another quest's.
func (s *Store) deleteGone(ctx context.Context) {
	for {
		more, err := s.deleteSome(ctx)
		if err == nil && more {
			continue
		}
		select {
		case <-s.tidy:
		case <-time.After(time.Minute): // what a node left that died
		case <-ctx.Done():
			return
		}
	}
}

func (s *Store) deleteSome(ctx context.Context) (more bool, err error) {
	err = s.write(ctx, func(tx pgx.Tx, _ bool) error {
		var quest int64
		err := tx.QueryRow(ctx, "SELECT quest FROM lyceum.gone LIMIT 1 FOR UPDATE SKIP LOCKED").Scan(&quest)
		if err != nil {
			return err
		}
		more = true
		tag, err := tx.Exec(ctx, "DELETE FROM lyceum.events WHERE quest = $1 AND seq <= (SELECT max(seq) FROM (SELECT seq FROM lyceum.events WHERE quest = $1 ORDER BY seq LIMIT $2) AS few)", quest, goneEvents)
		if err == nil && tag.RowsAffected() < goneEvents {
			_, err = tx.Exec(ctx, "DELETE FROM lyceum.gone WHERE quest = $1", quest)
		}
		return err
	})
	return more, err
}

// Spares is how long a small blob stays that nobody has put again.
func (s *Store) Spares() time.Duration { return s.opts.Grace }

// Sweep removes every small blob that keep does not name and that nobody has put for the store's
// grace, by the database's clock. Others may write meanwhile: what they put again is spared.
func (s *Store) Sweep(ctx context.Context, keep map[event.Hash]bool) (removed int, err error) {
	var old []event.Hash
	err = s.read(ctx, func(c *pgx.Conn) error {
		old = nil
		rows, err := c.Query(ctx, "SELECT hash FROM lyceum.blobs WHERE put < now() - $1::interval", s.opts.Grace)
		if err != nil {
			return err
		}
		var hash []byte
		_, err = pgx.ForEachRow(rows, []any{&hash}, func() error {
			var h event.Hash
			copy(h[:], hash)
			if !keep[h] {
				old = append(old, h)
			}
			return nil
		})
		return err
	})
	for len(old) > 0 && err == nil {
		n := min(len(old), 1000)
		var some [][]byte
		for i := range old[:n] {
			some = append(some, old[i][:])
		}
		old = old[n:]
		err = s.write(ctx, func(tx pgx.Tx, _ bool) error {
			tag, err := tx.Exec(ctx, "DELETE FROM lyceum.blobs WHERE hash = ANY($1) AND put < now() - $2::interval", some, s.opts.Grace)
			removed += int(tag.RowsAffected())
			return err
		})
	}
	if err != nil {
		return removed, fmt.Errorf("remove blobs nobody refers to: %w", err)
	}
	return removed, nil
}

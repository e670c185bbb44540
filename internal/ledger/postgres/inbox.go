package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	"github.com/jackc/pgx/v5"
)

// Post implements ledger.Inbox. The commands stay when they have been taken: the ledger knows
// which were, and a sender that tries again with the same key must find the first try.
func (s *Store) Post(ctx context.Context, quest string, c ledger.Command) (id int64, err error) {
	body, err := event.EncodeBody(c.Body)
	if err != nil {
		return 0, fmt.Errorf("post to quest %s: %w", quest, err)
	}
	// By attempt a command without a key is known again whose first try may have happened.
	attempt := make([]byte, 16)
	rand.Read(attempt) // never fails
	var key []byte
	if c.Key != "" {
		key = []byte(c.Key)
	}
	err = s.write(ctx, func(tx pgx.Tx, _ bool) error {
		// Whoever posts to the quest waits here for whoever does so now.
		var number int64
		err := tx.QueryRow(ctx, "UPDATE lyceum.inboxes i SET last = last + 1 FROM lyceum.quests q WHERE q.name = $1 AND q.head > 0 AND i.quest = q.id RETURNING i.quest, i.last", quest).Scan(&number, &id)
		if err != nil {
			return noQuest(err, quest)
		}
		var had int64
		err = tx.QueryRow(ctx, "SELECT number FROM lyceum.inbox WHERE quest = $1 AND (key = $2 OR attempt = $3)", number, key, attempt).Scan(&had)
		switch {
		case err == nil:
			id = had
			_, err = tx.Exec(ctx, "UPDATE lyceum.inboxes SET last = last - 1 WHERE quest = $1", number)
			return err
		case !errors.Is(err, pgx.ErrNoRows):
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO lyceum.inbox (quest, number, key, attempt, type, body) VALUES ($1, $2, $3, $4, $5, $6)", number, id, key, attempt, string(c.Body.Type()), body)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("post to quest %s: %w", quest, err)
	}
	s.posted.Wake(quest)
	s.news.posted(quest)
	return id, nil
}

// Commands implements ledger.Inbox.
func (s *Store) Commands(ctx context.Context, quest string, after int64) (out []ledger.Command, err error) {
	err = s.read(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, "SELECT i.number, i.key, i.type, i.body FROM lyceum.inbox i JOIN lyceum.quests q ON q.id = i.quest WHERE q.name = $1 AND i.number > $2 AND i.type <> '' ORDER BY i.number", quest, after)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c ledger.Command, err error) {
			var key, data []byte
			var kind string
			if err := row.Scan(&c.ID, &key, &kind, &data); err != nil {
				return c, err
			}
			c.Key = string(key)
			c.Body, err = event.DecodeBody(event.Type(kind), data)
			return c, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("commands of quest %s: %w", quest, err)
	}
	return out, nil
}

// Dismiss implements ledger.Inbox. The row stays, without a type.
func (s *Store) Dismiss(ctx context.Context, quest string, id int64) error {
	err := s.write(ctx, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, "UPDATE lyceum.inbox SET type = '' WHERE number = $2 AND quest = (SELECT id FROM lyceum.quests WHERE name = $1)", quest, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("dismiss command %d of quest %s: %w", id, quest, err)
	}
	return nil
}

// Posted implements ledger.Inbox.
func (s *Store) Posted(quest string) (<-chan struct{}, func()) { return s.posted.Subscribe(quest) }

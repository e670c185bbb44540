package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	"github.com/jackc/pgx/v5"
)

// What is kept beside the events: tokens, notes, checkpoints, glances.

// PutToken implements ledger.Tokens.
func (s *Store) PutToken(ctx context.Context, t ledger.Token) error {
	if t.ID == "" || t.Hash.IsZero() {
		return errors.New("put a token: it has no name or no hash")
	}
	err := s.write(ctx, func(tx pgx.Tx, again bool) error {
		tag, err := tx.Exec(ctx, "INSERT INTO lyceum.tokens (id, hash, scope, note, created, expires) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
			[]byte(t.ID), t.Hash[:], []byte(t.Scope), []byte(t.Note), int64(t.Created), int64(t.Expires))
		if err != nil || tag.RowsAffected() == 1 {
			return err
		}
		var hash []byte
		err = tx.QueryRow(ctx, "SELECT hash FROM lyceum.tokens WHERE id = $1", []byte(t.ID)).Scan(&hash)
		if again && err == nil && bytes.Equal(hash, t.Hash[:]) {
			return nil // the first try
		}
		return ledger.ErrToken
	})
	if err != nil {
		return fmt.Errorf("put token %s: %w", t.ID, err)
	}
	return nil
}

// Tokens implements ledger.Tokens.
func (s *Store) Tokens(ctx context.Context) (out []ledger.Token, err error) {
	err = s.read(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, "SELECT id, hash, scope, note, created, expires FROM lyceum.tokens ORDER BY created, number")
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t ledger.Token, err error) {
			var id, hash, scope, note []byte
			var created, expires int64
			err = row.Scan(&id, &hash, &scope, &note, &created, &expires)
			copy(t.Hash[:], hash)
			t.ID, t.Scope, t.Note, t.Created, t.Expires = string(id), string(scope), string(note), event.Time(created), event.Time(expires)
			return t, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	return out, nil
}

// DropToken implements ledger.Tokens.
func (s *Store) DropToken(ctx context.Context, id string) error {
	err := s.write(ctx, func(tx pgx.Tx, again bool) error {
		tag, err := tx.Exec(ctx, "DELETE FROM lyceum.tokens WHERE id = $1", []byte(id))
		if err == nil && tag.RowsAffected() == 0 && !again {
			err = ledger.ErrNoToken
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("drop token %s: %w", id, err)
	}
	return nil
}

const noteColumns = "SELECT number, kind, key, due, body FROM lyceum.notes "

func readNote(row pgx.CollectableRow) (n ledger.Note, err error) {
	var kind, key []byte
	var due int64
	err = row.Scan(&n.Number, &kind, &key, &due, &n.Body)
	n.Kind, n.Key, n.Due = string(kind), string(key), event.Time(due)
	return n, err
}

// SwapNote implements ledger.Notes.
func (s *Store) SwapNote(ctx context.Context, n ledger.Note, old []byte) (swapped bool, err error) {
	if n.Kind == "" || n.Key == "" {
		return false, errors.New("put a note: it has no kind or no key")
	}
	kind, key := []byte(n.Kind), []byte(n.Key)
	err = s.write(ctx, func(tx pgx.Tx, again bool) error {
		query, args := "UPDATE lyceum.notes SET due = $3, body = $4 WHERE kind = $1 AND key = $2 AND body = $5", []any{kind, key, int64(n.Due), n.Body, old}
		switch {
		case n.Body == nil && old == nil:
			var there bool
			err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM lyceum.notes WHERE kind = $1 AND key = $2)", kind, key).Scan(&there)
			swapped = !there
			return err
		case n.Body == nil:
			query, args = "DELETE FROM lyceum.notes WHERE kind = $1 AND key = $2 AND body = $3", []any{kind, key, old}
		case old == nil:
			query, args = "INSERT INTO lyceum.notes (kind, key, due, body) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING", args[:4]
		}
		tag, err := tx.Exec(ctx, query, args...)
		if swapped = tag.RowsAffected() == 1; err != nil || swapped || !again {
			return err
		}
		// Perhaps the first try was not in vain.
		has, err := noteOf(ctx, tx, n.Kind, n.Key)
		swapped = err == nil && (has.Body == nil) == (n.Body == nil) && bytes.Equal(has.Body, n.Body) && (n.Body == nil || has.Due == n.Due)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("put the note %s of %s: %w", n.Key, n.Kind, err)
	}
	return swapped, nil
}

func noteOf(ctx context.Context, via sender, kind, key string) (ledger.Note, error) {
	rows, err := via.Query(ctx, noteColumns+"WHERE kind = $1 AND key = $2", []byte(kind), []byte(key))
	if err != nil {
		return ledger.Note{}, err
	}
	n, err := pgx.CollectExactlyOneRow(rows, readNote)
	if errors.Is(err, pgx.ErrNoRows) {
		return ledger.Note{}, nil
	}
	return n, err
}

// Note implements ledger.Notes.
func (s *Store) Note(ctx context.Context, kind, key string) (n ledger.Note, err error) {
	err = s.read(ctx, func(c *pgx.Conn) (err error) {
		n, err = noteOf(ctx, c, kind, key)
		return err
	})
	if err != nil {
		return ledger.Note{}, fmt.Errorf("read the note %s of %s: %w", key, kind, err)
	}
	return n, nil
}

// Notes implements ledger.Notes.
func (s *Store) Notes(ctx context.Context, kind string, due event.Time, most int) (out []ledger.Note, err error) {
	err = s.read(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, noteColumns+"WHERE kind = $1 AND due <= $2 ORDER BY due, number LIMIT $3", []byte(kind), int64(due), most)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, readNote)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the notes of %s: %w", kind, err)
	}
	return out, nil
}

// PutCheckpoint implements ledger.Checkpoints.
func (s *Store) PutCheckpoint(ctx context.Context, quest string, c ledger.Checkpoint) error {
	err := s.write(ctx, func(tx pgx.Tx, _ bool) error {
		var head int64
		// The row is held, so that the quest is not removed meanwhile.
		err := tx.QueryRow(ctx, "SELECT head FROM lyceum.quests WHERE name = $1 AND head > 0 FOR KEY SHARE", quest).Scan(&head)
		if err != nil {
			return noQuest(err, quest)
		}
		if c.Origin == "" || c.Own && c.Size > uint64(head) {
			return fmt.Errorf("a checkpoint of %d events, and the quest has %d", c.Size, head)
		}
		return putCheckpoint(ctx, tx, quest, c)
	})
	if err != nil {
		return fmt.Errorf("keep a checkpoint of quest %s: %w", quest, err)
	}
	return nil
}

func putCheckpoint(ctx context.Context, tx pgx.Tx, quest string, c ledger.Checkpoint) error {
	_, err := tx.Exec(ctx, `INSERT INTO lyceum.checkpoints (quest, size, origin, own, edge, body) SELECT id, $2, $3, $4, $5, $6 FROM lyceum.quests WHERE name = $1
		ON CONFLICT (quest, size, origin) DO UPDATE SET own = excluded.own, edge = excluded.edge, body = excluded.body`,
		quest, int64(c.Size), []byte(c.Origin), c.Own, append([]byte{}, c.Edge...), append([]byte{}, c.Body...))
	return err
}

// Checkpoints implements ledger.Checkpoints.
func (s *Store) Checkpoints(ctx context.Context, quest string, most int) (out []ledger.Checkpoint, err error) {
	var limit *int // none
	if most > 0 {
		limit = &most
	}
	err = s.read(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT c.size, c.origin, c.own, c.edge, c.body FROM lyceum.checkpoints c JOIN lyceum.quests q ON q.id = c.quest
			WHERE q.name = $1 ORDER BY c.size DESC, c.origin DESC LIMIT $2`, quest, limit)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c ledger.Checkpoint, err error) {
			var origin []byte
			err = row.Scan(&c.Size, &origin, &c.Own, &c.Edge, &c.Body)
			c.Origin = string(origin)
			return c, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the checkpoints of quest %s: %w", quest, err)
	}
	slices.Reverse(out)
	return out, nil
}

// PutGlances implements ledger.Glances. Their table is written without the log, so nothing waits.
func (s *Store) PutGlances(ctx context.Context, form, version string, list []ledger.Glance) error {
	slices.SortFunc(list, func(a, b ledger.Glance) int { return bytes.Compare([]byte(a.Quest), []byte(b.Quest)) })
	var names []string
	var hashes, bodies [][]byte
	for i, g := range list {
		if i+1 < len(list) && list[i+1].Quest == g.Quest {
			continue
		}
		names, hashes, bodies = append(names, g.Quest), append(hashes, g.Hash[:]), append(bodies, append([]byte{}, g.Body...))
	}
	err := s.read(ctx, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO lyceum.glances (form, quest, version, hash, body) SELECT $1, * FROM (SELECT quest, $2::text, hash, body FROM unnest($3::text[], $4::bytea[], $5::bytea[]) AS g(quest, hash, body)) AS g
			ON CONFLICT (form, quest) DO UPDATE SET version = excluded.version, hash = excluded.hash, body = excluded.body`, form, version, names, hashes, bodies)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep what is said of quests: %w", err)
	}
	return nil
}

// Glances implements ledger.Glances.
func (s *Store) Glances(ctx context.Context, form, version string) (out []ledger.Glance, err error) {
	err = s.read(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, "SELECT quest, hash, body FROM lyceum.glances WHERE form = $1 AND version = $2", form, version)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (g ledger.Glance, err error) {
			var hash []byte
			err = row.Scan(&g.Quest, &hash, &g.Body)
			copy(g.Hash[:], hash)
			return g, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what is said of quests: %w", err)
	}
	return out, nil
}

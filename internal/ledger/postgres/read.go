package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/driver"

	"github.com/jackc/pgx/v5"
)

// read runs a short read. One that the server's going down cut off is tried again on another connection.
func (s *Store) read(ctx context.Context, query func(*pgx.Conn) error) error {
	for {
		if s.isClosed() {
			return ledger.ErrClosed
		}
		passing, err := s.with(ctx, query)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case s.isClosed():
			return ledger.ErrClosed
		case !passing:
			return kind(err)
		case !pause(ctx, retryEvery):
			return ctx.Err()
		}
	}
}

// Head implements ledger.Log.
func (s *Store) Head(ctx context.Context, quest string) (ledger.Head, error) {
	h := ledger.Head{Quest: quest}
	err := s.read(ctx, func(c *pgx.Conn) error {
		var hash []byte
		err := c.QueryRow(ctx, "SELECT head, hash FROM lyceum.quests WHERE name = $1 AND head > 0", quest).Scan(&h.Seq, &hash)
		copy(h.Hash[:], hash)
		return noQuest(err, quest)
	})
	if err != nil {
		return ledger.Head{}, fmt.Errorf("head of quest %s: %w", quest, err)
	}
	return h, nil
}

// noQuest makes of "no row" that there is no such quest.
func noQuest(err error, quest string) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return &ledger.NoQuestError{Quest: quest}
	}
	return err
}

// questsAtOnce is how many heads one statement lists.
const questsAtOnce = 1000

// Quests implements ledger.Log.
func (s *Store) Quests(ctx context.Context) (out []ledger.Head, err error) {
	for name, more := "", true; more; {
		var page []ledger.Head
		err := s.read(ctx, func(c *pgx.Conn) error {
			rows, err := c.Query(ctx, "SELECT name, head, hash FROM lyceum.quests WHERE name > $1 AND head > 0 ORDER BY name LIMIT $2", name, questsAtOnce)
			if err != nil {
				return err
			}
			page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (h ledger.Head, err error) {
				var hash []byte
				err = row.Scan(&h.Quest, &h.Seq, &hash)
				copy(h.Hash[:], hash)
				return h, err
			})
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("list quests: %w", err)
		}
		out = append(out, page...)
		if more = len(page) == questsAtOnce; more {
			name = page[len(page)-1].Quest
		}
	}
	return out, nil
}

// Read implements ledger.Log.
func (s *Store) Read(ctx context.Context, quest string, seq uint64) iter.Seq2[event.Event, error] {
	return driver.Read(ctx, s.pages, quest, seq)
}

// Lines implements ledger.Log.
func (s *Store) Lines(ctx context.Context, quest string, seq uint64) iter.Seq2[[]byte, error] {
	return driver.Lines(ctx, s.pages, quest, seq)
}

// Follow implements ledger.Log.
func (s *Store) Follow(ctx context.Context, quest string, seq uint64) iter.Seq2[event.Event, error] {
	return driver.Follow(ctx, s.pages, s.appended, quest, seq)
}

// pages reads a quest.
type pages struct {
	store *Store
	name  string
}

func (s *Store) pages(quest string) driver.Pages { return &pages{s, quest} }

// page is one statement, so that the head and the events are of the same moment.
const page = `SELECT q.id, q.head, q.hash, e.seq, e.line FROM lyceum.quests q
LEFT JOIN LATERAL (SELECT seq, line FROM lyceum.events WHERE quest = q.id AND seq >= $2 AND seq <= q.head ORDER BY seq LIMIT $3) e ON true
WHERE q.name = $1 AND q.head > 0 ORDER BY e.seq`

// Page implements driver.Pages.
func (p *pages) Page(ctx context.Context, from uint64, most int) (out driver.Page, err error) {
	err = p.store.read(ctx, func(conn *pgx.Conn) error {
		out = driver.Page{}
		rows, err := conn.Query(ctx, page, p.name, int64(from), most)
		if err != nil {
			return err
		}
		defer rows.Close()
		for want := from; rows.Next(); {
			var hash, line []byte
			var seq *int64
			if err := rows.Scan(&out.Quest, &out.Head.Seq, &hash, &seq, &line); err != nil {
				return err
			}
			copy(out.Head.Hash[:], hash)
			if seq != nil && uint64(*seq) == want { // beyond a gap nothing counts
				out.Lines, want = append(out.Lines, line), want+1
			}
		}
		return rows.Err()
	})
	if err == nil && out.Quest == 0 {
		err = &ledger.NoQuestError{Quest: p.name}
	}
	return out, err
}

// Blob implements ledger.Store.
func (s *Store) Blob(ctx context.Context, h event.Hash) (data []byte, err error) {
	err = s.read(ctx, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT data FROM lyceum.blobs WHERE hash = $1", h[:]).Scan(&data)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fmt.Errorf("read blob %s: %w", h, ledger.ErrNoBlob)
	case err != nil:
		return nil, fmt.Errorf("read blob %s: %w", h, err)
	case event.HashOf(data) != h:
		return nil, fmt.Errorf("read blob %s: %w: its bytes were changed", h, ledger.ErrCorrupt)
	}
	return data, nil
}

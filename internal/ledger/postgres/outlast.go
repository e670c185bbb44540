package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Outlast waits until it is known whether the owner of a quest lives. It returns true once nobody owns the quest: the
// owner has let go, or stood still until it was given up. It returns false once the owner has beaten, or is another. Whoever asks
// must be a node, by a claim that it has tried to take, for nodes are what gives others up.
func (s *Store) Outlast(ctx context.Context, quest string) (free bool, err error) {
	var first stillOwner
	for try := 0; ; try++ {
		now, err := s.ownerOf(ctx, quest)
		switch {
		case err != nil:
			return false, fmt.Errorf("ask for the owner of quest %s: %w", quest, err)
		case now.node == 0:
			return true, nil
		case try == 0:
			first = now
		case now != first:
			return false, nil
		}
		if !pause(ctx, s.opts.Beat/4+time.Millisecond) {
			return false, ctx.Err()
		}
	}
}

// stillOwner is a node that owns a quest, and its last beat.
type stillOwner struct{ node, beat int64 }

func (s *Store) ownerOf(ctx context.Context, quest string) (o stillOwner, err error) {
	err = s.read(ctx, func(c *pgx.Conn) error {
		err := c.QueryRow(ctx, "SELECT n.id, n.beat FROM lyceum.quests q JOIN lyceum.nodes n ON n.id = q.node WHERE q.name = $1", quest).Scan(&o.node, &o.beat)
		if errors.Is(err, pgx.ErrNoRows) {
			o, err = stillOwner{}, nil
		}
		return err
	})
	return o, err
}

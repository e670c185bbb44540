package postgres

import (
	"context"
	"fmt"
	"time"

	"lyceum/internal/ledger"

	"github.com/jackc/pgx/v5"
)

var (
	_ ledger.Pool   = (*Store)(nil)
	_ ledger.Fenced = (*claim)(nil)
)

// Join implements ledger.Pool.
func (s *Store) Join(ctx context.Context, about ledger.Node) error {
	n := s.node
	n.mu.Lock()
	n.about = about
	n.mu.Unlock()
	id, err := n.join(ctx)
	if err == nil {
		err = s.write(ctx, func(tx pgx.Tx, _ bool) error {
			_, err := tx.Exec(ctx, "UPDATE lyceum.nodes SET address = $2, version = $3, rules = $4, drivers = $5, room = $6 WHERE id = $1",
				id, about.Address, about.Version, list(about.Rules), list(about.Drivers), about.Room)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("say that this node is there: %w", err)
	}
	return nil
}

// list is never nil, which would be no value.
func list(l []string) []string { return append([]string{}, l...) }

// Nodes implements ledger.Pool.
func (s *Store) Nodes(ctx context.Context) (out []ledger.Node, err error) {
	err = s.read(ctx, func(c *pgx.Conn) error {
		out, err = nodesOf(ctx, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return out, nil
}

func nodesOf(ctx context.Context, c *pgx.Conn) ([]ledger.Node, error) {
	rows, err := c.Query(ctx, `SELECT n.id, n.address, n.version, n.rules, n.drivers, n.room, (SELECT count(*) FROM lyceum.quests q WHERE q.node = n.id),
		greatest(extract(epoch FROM clock_timestamp() - n.at) * 1000000, 0)::bigint, n.ahead FROM lyceum.nodes n ORDER BY n.id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (n ledger.Node, err error) {
		var silent, ahead int64
		err = row.Scan(&n.ID, &n.Address, &n.Version, &n.Rules, &n.Drivers, &n.Room, &n.Quests, &silent, &ahead)
		n.Silent, n.Ahead = time.Duration(silent)*time.Microsecond, time.Duration(ahead)*time.Microsecond
		return n, err
	})
}

// Waiting implements ledger.Pool.
func (s *Store) Waiting(ctx context.Context) (n int, err error) {
	err = s.read(ctx, func(c *pgx.Conn) (err error) {
		n, err = waitingOf(ctx, c)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("count the quests that wait for a node: %w", err)
	}
	return n, nil
}

func waitingOf(ctx context.Context, c *pgx.Conn) (n int, err error) {
	err = c.QueryRow(ctx, "SELECT count(*) FROM "+free).Scan(&n)
	return n, err
}

// free are the quests that are to run and that nobody owns; of one that waits for a person, only if
// something was said to it, or its time is up by the database's clock.
const free = `lyceum.wanted w JOIN lyceum.quests q ON q.id = w.quest
WHERE q.head > 0 AND (q.node IS NULL OR NOT EXISTS (SELECT FROM lyceum.nodes n WHERE n.id = q.node))
AND NOT (w.seq = q.head AND w.hash = q.hash AND (w.due = 0 OR w.due > extract(epoch FROM clock_timestamp()) * 1000000)
	AND NOT EXISTS (SELECT FROM lyceum.inbox i WHERE i.quest = q.id AND i.number > w.inbox AND i.type <> ''))`

// pull claims some of those. Rows that another node is taking are left to it.
const pull = `WITH few AS (SELECT q.id FROM ` + free + `
	AND NOT EXISTS (SELECT FROM lyceum.refused r WHERE r.quest = q.id AND r.node = $1 AND r.at > clock_timestamp() - $3::interval)
	AND NOT q.name = ANY($4)
	ORDER BY q.id LIMIT $2 FOR UPDATE OF q SKIP LOCKED)
UPDATE lyceum.quests q SET before = q.epoch, epoch = nextval('lyceum.epochs'), node = $1 FROM few WHERE q.id = few.id
RETURNING q.name, q.epoch, q.before`

// Pull implements ledger.Pool. What a pull has claimed whose outcome was open is this node's without its
// knowing: nobody else gets it, and the next pull does.
func (s *Store) Pull(ctx context.Context, most int) (out []ledger.Pulled, err error) {
	id, err := s.node.join(ctx)
	var taken []*claim
	if err == nil {
		err = s.write(ctx, func(tx pgx.Tx, again bool) error {
			if again {
				_, err := tx.Exec(ctx, "UPDATE lyceum.quests SET node = NULL WHERE node = $1 AND NOT name = ANY($2)", id, s.node.holds())
				if err != nil {
					return err
				}
			}
			taken = nil
			rows, err := tx.Query(ctx, pull, id, most, ledger.RefusedFor, s.node.holds())
			if err != nil {
				return err
			}
			taken, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (*claim, error) {
				c := &claim{node: s.node, id: id, lost: make(chan struct{})}
				return c, row.Scan(&c.quest, &c.epoch, &c.before)
			})
			return err
		})
	}
	if err != nil {
		return nil, fmt.Errorf("take quests that are to run: %w", err)
	}
	for _, c := range taken {
		if epoch := c.epoch; s.node.reserve(c) {
			s.node.took(c, epoch)
			out = append(out, ledger.Pulled{Quest: c.quest, Claim: c})
		}
	}
	return out, nil
}

// holds are the quests that this node has claimed or is about to.
func (n *node) holds() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := []string{}
	for quest, c := range n.claims {
		if !c.isLost() {
			out = append(out, quest)
		}
	}
	return out
}

// Refuse implements ledger.Pool.
func (s *Store) Refuse(ctx context.Context, quest, why string) error {
	id, err := s.node.join(ctx)
	if err == nil {
		err = s.write(ctx, func(tx pgx.Tx, _ bool) error {
			_, err := tx.Exec(ctx, `INSERT INTO lyceum.refused (quest, node, at, why) SELECT q.id, $2, clock_timestamp(), $3 FROM lyceum.quests q WHERE q.name = $1 AND q.head > 0
				ON CONFLICT (quest, node) DO UPDATE SET at = excluded.at, why = excluded.why`, quest, id, []byte(why))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("note why quest %s does not run here: %w", quest, err)
	}
	return nil
}

// Stranded implements ledger.Pool.
func (s *Store) Stranded(ctx context.Context) (out []ledger.Stranded, err error) {
	err = s.read(ctx, func(c *pgx.Conn) (err error) {
		out, err = strandedOf(ctx, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look which quests no node can run: %w", err)
	}
	return out, nil
}

func strandedOf(ctx context.Context, c *pgx.Conn) ([]ledger.Stranded, error) {
	rows, err := c.Query(ctx, `SELECT q.name, (SELECT array_agg(r.why ORDER BY n.id) FROM lyceum.refused r JOIN lyceum.nodes n ON n.id = r.node WHERE r.quest = q.id) FROM `+free+`
			AND EXISTS (SELECT FROM lyceum.refused r JOIN lyceum.nodes n ON n.id = r.node WHERE r.quest = q.id)
			AND NOT EXISTS (SELECT FROM lyceum.nodes n WHERE n.room > 0 AND NOT EXISTS (SELECT FROM lyceum.refused r WHERE r.quest = q.id AND r.node = n.id))
			ORDER BY q.name`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (x ledger.Stranded, err error) {
		var why [][]byte
		err = row.Scan(&x.Quest, &why)
		for _, w := range why {
			x.Why = append(x.Why, string(w))
		}
		return x, err
	})
}

// Epoch implements ledger.Fenced.
func (c *claim) Epoch() int64 { return c.epoch }

// Before implements ledger.Fenced.
func (c *claim) Before() int64 { return c.before }

// Sure implements ledger.Fenced.
func (c *claim) Sure(ctx context.Context) error {
	for !c.node.heard(c.id) {
		select {
		case <-c.lost:
			return ledger.ErrLost
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(c.node.store.opts.Beat / 20):
		}
	}
	if c.isLost() {
		return ledger.ErrLost
	}
	return nil
}

// heard reports whether a beat of the node that this Store is was sent lately and acknowledged since.
func (n *node) heard(id int64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id == id && now().Sub(n.acknowledged) < ledger.Silence*n.store.opts.Beat
}

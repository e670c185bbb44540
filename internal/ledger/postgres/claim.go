package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	"github.com/jackc/pgx/v5"
)

// A claim is a node and an epoch in the quest's row. Each taking has an epoch above all before it,
// and a commit moves the row only if it still has the epoch of the committer's claim.
//
// A node is a Store that has claimed something, with a row in which it counts beats. Another node
// that has seen the count stand still for five beats of its own, each acknowledged, takes the row
// away, if the count is still the same: from then on whatever that node had claimed is free. So no
// two machines' clocks are compared, and a database that is away for a minute costs nobody
// anything. An advisory lock would be kept by a connection that has fallen silent, and lost by a
// pooler.

// stillBeats is for how many acknowledged beats of its own a node sees another stand still before
// it gives the other up.
const stillBeats = 5

// node is this Store among those that have claims.
type node struct {
	store *Store

	joining sync.Mutex // held while the node's row is made

	mu     sync.Mutex // guards what follows
	id     int64      // 0 before the first claim, and after the node was given up
	claims map[string]*claim
	about  ledger.Node
	// acknowledged is when the last beat was sent that was acknowledged since.
	acknowledged time.Time
	// others are the nodes that were seen, and since how many beats they stand still. Only the
	// goroutine that beats uses it.
	others map[int64]still
	beats  bool
}

type still struct {
	beat  int64
	beats int
}

func newNode(s *Store) *node {
	return &node{store: s, claims: map[string]*claim{}, others: map[int64]still{}}
}

type claim struct {
	node  *node
	quest string
	id    int64 // of the node that took it
	epoch int64
	// before is the epoch of the taking before this one.
	before int64
	lost   chan struct{}
	once   sync.Once // loses it
	given  sync.Once // releases it
}

// Lost implements ledger.Claim.
func (c *claim) Lost() <-chan struct{} { return c.lost }

func (c *claim) lose() { c.once.Do(func() { close(c.lost) }) }

func (c *claim) isLost() bool {
	select {
	case <-c.lost:
		return true
	default:
		return false
	}
}

const take = `INSERT INTO lyceum.quests AS q (name, head, hash, epoch, node) VALUES ($1, 0, $2, nextval('lyceum.epochs'), $3)
ON CONFLICT (name) DO UPDATE SET before = q.epoch, epoch = nextval('lyceum.epochs'), node = excluded.node
WHERE q.node IS NULL OR NOT EXISTS (SELECT FROM lyceum.nodes n WHERE n.id = q.node) OR q.node = excluded.node
RETURNING q.epoch, q.before`

// Claim implements ledger.Store.
func (s *Store) Claim(ctx context.Context, quest string) (ledger.Claim, error) {
	if !event.ValidName(quest) {
		return nil, fmt.Errorf("claim quest %q: want %s", quest, event.NameRule)
	}
	id, err := s.node.join(ctx)
	if err != nil {
		return nil, fmt.Errorf("claim quest %s: %w", quest, err)
	}
	c := &claim{node: s.node, quest: quest, id: id, lost: make(chan struct{})}
	if !s.node.reserve(c) {
		return nil, fmt.Errorf("claim quest %s: %w", quest, ledger.ErrClaimed)
	}
	var epoch, before int64
	err = s.write(ctx, func(tx pgx.Tx, _ bool) error {
		// A row that names this node without a claim here is left from a try whose outcome was open.
		err := tx.QueryRow(ctx, take, quest, noHash[:], id).Scan(&epoch, &before)
		if errors.Is(err, pgx.ErrNoRows) {
			return ledger.ErrClaimed
		}
		return err
	})
	if err != nil {
		s.node.forget(c)
		return nil, fmt.Errorf("claim quest %s: %w", quest, err)
	}
	c.before = before // nobody has it before it is returned
	s.node.took(c, epoch)
	return c, nil
}

// Claimed implements ledger.Store.
func (s *Store) Claimed(quest string) (claimed bool, err error) {
	if !event.ValidName(quest) {
		return false, fmt.Errorf("ask for the owner of quest %q: want %s", quest, event.NameRule)
	}
	err = s.read(s.ctx, func(c *pgx.Conn) error {
		return c.QueryRow(s.ctx, "SELECT EXISTS (SELECT FROM lyceum.quests q JOIN lyceum.nodes n ON n.id = q.node WHERE q.name = $1)", quest).Scan(&claimed)
	})
	if err != nil {
		return false, fmt.Errorf("ask for the owner of quest %s: %w", quest, err)
	}
	return claimed, nil
}

// Release implements ledger.Claim. Until the database knows, appends stay fenced. Where it is away
// that goes on in the background, and ends with the store, whose row then goes.
func (c *claim) Release() {
	c.given.Do(func() {
		s := c.node.store
		give := func(ctx context.Context) error {
			return s.write(ctx, func(tx pgx.Tx, _ bool) error {
				tag, err := tx.Exec(ctx, "DELETE FROM lyceum.quests WHERE name = $1 AND epoch = $2 AND node = $3 AND head = 0", c.quest, c.epoch, c.id)
				if err == nil && tag.RowsAffected() == 0 {
					_, err = tx.Exec(ctx, "UPDATE lyceum.quests SET node = NULL WHERE name = $1 AND epoch = $2 AND node = $3", c.quest, c.epoch, c.id)
				}
				return err
			})
		}
		ctx, cancel := context.WithTimeout(s.ctx, time.Second)
		defer cancel()
		if give(ctx) == nil || s.isClosed() {
			c.node.forget(c)
			return
		}
		s.background(func(ctx context.Context) {
			_ = give(ctx) // it fails when the store is closed, and then the node's row goes
			c.node.forget(c)
		})
	})
}

// join makes this Store a node, and returns its number.
func (n *node) join(ctx context.Context) (int64, error) {
	n.joining.Lock()
	defer n.joining.Unlock()
	n.mu.Lock()
	id := n.id
	n.mu.Unlock()
	if id != 0 {
		return id, nil
	}
	n.mu.Lock()
	a := n.about
	n.mu.Unlock()
	begun := now()
	err := n.store.write(ctx, func(tx pgx.Tx, _ bool) error {
		// One that an unknown outcome leaves behind has no claims, and is given up in time.
		return tx.QueryRow(ctx, "INSERT INTO lyceum.nodes (beat, address, version, rules, drivers, room) VALUES (0, $1, $2, $3, $4, $5) RETURNING id",
			a.Address, a.Version, list(a.Rules), list(a.Drivers), a.Room).Scan(&id)
	})
	if err != nil {
		return 0, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.id, n.acknowledged = id, begun
	if !n.beats {
		n.beats = true
		n.store.background(n.run)
	}
	return id, nil
}

// background starts work that ends with the store, unless the store has been closed.
func (s *Store) background(work func(context.Context)) {
	s.closing.RLock()
	defer s.closing.RUnlock()
	if !s.closed {
		s.done.Go(func() { work(s.ctx) })
	}
}

// reserve notes that a quest is being claimed: appends are refused until its epoch is known.
func (n *node) reserve(c *claim) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if had := n.claims[c.quest]; had != nil && !had.isLost() {
		return false
	}
	n.claims[c.quest] = c
	return true
}

// took notes the epoch; a node that was given up meanwhile has lost the claim again.
func (n *node) took(c *claim, epoch int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c.epoch = epoch
	if n.id != c.id {
		c.lose()
	}
}

func (n *node) forget(c *claim) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.claims[c.quest] == c {
		delete(n.claims, c.quest)
	}
}

// nobody is the epoch of no row.
const nobody = -1

// epochOf is what the quest's row must have for this Store to append, 0 for anything.
func (n *node) epochOf(quest string) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch c := n.claims[quest]; {
	case c == nil:
		return 0
	case c.isLost() || c.epoch == 0:
		return nobody
	default:
		return c.epoch
	}
}

// refused has the node look soon whether a claim was lost, for an append under it was.
func (n *node) refused(quest string) {
	n.mu.Lock()
	c, epoch := n.claims[quest], int64(0)
	if c != nil {
		epoch = c.epoch
	}
	n.mu.Unlock()
	if epoch == 0 || c.isLost() {
		return
	}
	n.store.background(func(ctx context.Context) {
		var mine bool
		err := n.store.read(ctx, func(conn *pgx.Conn) error {
			return conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM lyceum.quests WHERE name = $1 AND epoch = $2)", quest, epoch).Scan(&mine)
		})
		if err == nil && !mine {
			c.lose()
		}
	})
}

// run beats until ctx ends.
func (n *node) run(ctx context.Context) {
	for pause(ctx, n.store.opts.Beat) {
		n.beat(ctx)
	}
}

// beat counts on, learns the database's time, and looks at the others.
func (n *node) beat(ctx context.Context) {
	n.mu.Lock()
	id := n.id
	n.mu.Unlock()
	if id == 0 {
		return
	}
	var here bool
	var told, asked time.Time
	begun := now()
	err := n.store.write(ctx, func(tx pgx.Tx, _ bool) error {
		tag, err := tx.Exec(ctx, "UPDATE lyceum.nodes SET beat = beat + 1, at = clock_timestamp(), ahead = $2 WHERE id = $1", id, n.store.Offset().Microseconds())
		if err != nil {
			return err
		}
		here, asked = tag.RowsAffected() == 1, now()
		return tx.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&told)
	})
	if now().Sub(begun) > n.store.opts.Beat {
		clear(n.others) // the database was away, for others too: that is held against nobody
	}
	if err != nil {
		return
	}
	n.store.clock.learn(asked, told)
	if !here {
		n.givenUp(id)
		return
	}
	n.mu.Lock()
	n.acknowledged = begun
	n.mu.Unlock()
	if err := n.look(ctx, id); err != nil {
		clear(n.others)
	}
}

// look counts for how long other nodes stand still, and gives up those that do for too long.
func (n *node) look(ctx context.Context, mine int64) error {
	var seen map[int64]int64
	err := n.store.read(ctx, func(c *pgx.Conn) error {
		seen = map[int64]int64{}
		rows, err := c.Query(ctx, "SELECT id, beat FROM lyceum.nodes WHERE id <> $1", mine)
		if err != nil {
			return err
		}
		var id, beat int64
		_, err = pgx.ForEachRow(rows, []any{&id, &beat}, func() error { seen[id] = beat; return nil })
		return err
	})
	if err != nil {
		return err
	}
	for id, beat := range seen {
		if o, known := n.others[id]; !known || o.beat != beat {
			n.others[id] = still{beat: beat}
			continue
		}
		n.others[id] = still{beat, n.others[id].beats + 1}
		if n.others[id].beats < stillBeats {
			continue
		}
		err := n.store.write(ctx, func(tx pgx.Tx, _ bool) error {
			// One that is beating just now, or was stopped as it did, is not waited for: this node's own beats would be late.
			tag, err := tx.Exec(ctx, "DELETE FROM lyceum.nodes WHERE id = (SELECT id FROM lyceum.nodes WHERE id = $1 AND beat = $2 FOR UPDATE SKIP LOCKED)", id, beat)
			if err == nil && tag.RowsAffected() == 1 {
				_, err = tx.Exec(ctx, "DELETE FROM lyceum.refused WHERE node = $1", id)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for id := range n.others {
		if _, there := seen[id]; !there {
			delete(n.others, id)
		}
	}
	return nil
}

// givenUp loses all claims of a node whose row is gone.
func (n *node) givenUp(id int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.id != id {
		return
	}
	n.id = 0
	for _, c := range n.claims {
		if c.id == id {
			c.lose()
		}
	}
}

// leave takes the node's row away, and with it all claims.
func (n *node) leave(ctx context.Context) {
	n.mu.Lock()
	id := n.id
	n.id = 0
	for _, c := range n.claims {
		c.lose()
	}
	n.mu.Unlock()
	if id == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, parting)
	defer cancel()
	// If that fails the row stands still, and is given up.
	_, _ = n.store.pool.Exec(ctx, "WITH said AS (DELETE FROM lyceum.refused WHERE node = $1) DELETE FROM lyceum.nodes WHERE id = $1", id)
}

package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lyceum/internal/ledger"

	"github.com/jackc/pgx/v5"
)

// A line has a row, which whoever asks for a share locks, and each node that uses the line has one, with
// what it holds. Rows of nodes that are gone count for nothing. A node gets more only of what nobody
// holds: that others hold more than their part they learn when they ask, several times a second.

var _ ledger.Lines = (*Store)(nil)

// restored is after how long without anybody who uses it a line is taken to bear all again.
const restored = 10 * time.Minute

// sharer is what a node has of a line.
type sharer struct {
	node              int64
	most, held, wants int
	// turn is when it last got something, having had nothing: of those for whom there is not enough, the
	// others come first.
	turn int64
}

// lined is a line: bears is how much at once the provider bears by what it has shown.
type lined struct {
	bears       float64
	cuts, turns int64
}

// Share implements ledger.Lines.
func (s *Store) Share(ctx context.Context, line string, a ledger.Asked) (out ledger.Share, err error) {
	id, err := s.node.join(ctx)
	if err == nil {
		err = s.write(ctx, func(tx pgx.Tx, _ bool) error {
			out, err = share(ctx, tx, line, id, a)
			return err
		})
	}
	if errors.Is(err, ledger.ErrLost) {
		s.node.givenUp(id)
	}
	if err != nil {
		return ledger.Share{}, fmt.Errorf("ask for a share of the line of %s: %w", line, err)
	}
	out.Until = s.node.until(id)
	return out, nil
}

// until is when the node must begin nothing, if it is not heard of before.
func (n *node) until(id int64) time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.id != id {
		return time.Time{}
	}
	return n.acknowledged.Add(ledger.Silence * n.store.opts.Beat)
}

// share asks in a transaction. Doing it again does no harm: what the node held it still holds.
func share(ctx context.Context, tx pgx.Tx, line string, id int64, a ledger.Asked) (out ledger.Share, err error) {
	_, err = tx.Exec(ctx, "INSERT INTO lyceum.lines (line, bears) VALUES ($1, $2) ON CONFLICT DO NOTHING", line, a.Most)
	if err != nil {
		return out, err
	}
	var l lined
	var here, unused bool
	err = tx.QueryRow(ctx, "SELECT bears, cuts, turns, at < clock_timestamp() - $2::interval FROM lyceum.lines WHERE line = $1 FOR UPDATE", line, restored).Scan(&l.bears, &l.cuts, &l.turns, &unused)
	if err != nil {
		return out, err
	}
	// What follows sees all that those have done who had the row before.
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM lyceum.nodes WHERE id = $1)", id).Scan(&here); err != nil {
		return out, err
	}
	if !here {
		return out, ledger.ErrLost
	}
	all, err := sharers(ctx, tx, line)
	if err != nil {
		return out, err
	}
	if unused && len(all) == 0 {
		l.bears = float64(a.Most)
	}
	mine, may := l.give(all, id, a)
	if err := keepShare(ctx, tx, line, mine); err != nil {
		return out, err
	}
	var pause int64
	err = tx.QueryRow(ctx, `UPDATE lyceum.lines SET bears = $2, cuts = $3, turns = $4, at = clock_timestamp(), until = greatest(until, clock_timestamp() + $5::interval) WHERE line = $1
		RETURNING greatest(extract(epoch FROM until - clock_timestamp()) * 1000000, 0)::bigint`, line, l.bears, l.cuts, l.turns, a.Pause).Scan(&pause)
	return ledger.Share{Held: mine.held, May: may, Cuts: l.cuts, Pause: time.Duration(pause) * time.Microsecond}, err
}

// sharers are the nodes that use a line, and are not gone.
func sharers(ctx context.Context, tx pgx.Tx, line string) ([]sharer, error) {
	if _, err := tx.Exec(ctx, "DELETE FROM lyceum.shares WHERE line = $1 AND NOT EXISTS (SELECT FROM lyceum.nodes n WHERE n.id = node)", line); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, "SELECT node, most, held, wants, turn FROM lyceum.shares WHERE line = $1", line)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (s sharer, err error) {
		err = row.Scan(&s.node, &s.most, &s.held, &s.wants, &s.turn)
		return s, err
	})
}

func keepShare(ctx context.Context, tx pgx.Tx, line string, s sharer) error {
	if s.held == 0 && s.wants == 0 {
		_, err := tx.Exec(ctx, "DELETE FROM lyceum.shares WHERE line = $1 AND node = $2", line, s.node)
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO lyceum.shares (line, node, most, held, wants, turn) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (line, node) DO UPDATE SET most = excluded.most, held = excluded.held, wants = excluded.wants, turn = excluded.turn`, line, s.node, s.most, s.held, s.wants, s.turn)
	return err
}

// give changes the share of a node, which is returned with how much it may use.
func (l *lined) give(all []sharer, id int64, a ledger.Asked) (mine sharer, may int) {
	at := slices.IndexFunc(all, func(s sharer) bool { return s.node == id })
	if at < 0 {
		all, at = append(all, sharer{node: id}), len(all)
	}
	mine = all[at]
	had := mine.held
	mine.most, mine.held, mine.wants = max(a.Most, 1), max(0, min(a.Held, had)), max(a.Wants, 0)
	all[at] = mine
	most, others := mine.most, -mine.held
	for _, s := range all {
		most, others = min(most, s.most), others+s.held
	}
	l.bears = min(l.bears, float64(most))
	switch {
	case a.Crowded && a.Began == l.cuts:
		// Until now what was sent away had its place: nobody else could begin anything there.
		l.bears, l.cuts = max(1, min(l.bears, float64(others+had))/2), l.cuts+1
	case a.Answered > 0 && a.Known == l.cuts:
		l.bears = min(float64(most), l.bears+float64(a.Answered)/l.bears)
	}
	may = min(parts(all, int(l.bears))[id], max(0, int(l.bears)-others))
	if mine.held == 0 && may > 0 {
		l.turns++
		mine.turn = l.turns
	}
	mine.held = max(mine.held, may)
	return mine, may
}

// parts divides a limit: nobody gets more than it wants, and nobody who wants more gets less than another,
// but for the one by which it does not come out even.
func parts(all []sharer, limit int) map[int64]int {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b sharer) int { return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.node, b.node)) })
	out := map[int64]int{}
	for given := true; given && limit > 0; {
		given = false
		for _, s := range all {
			if limit > 0 && out[s.node] < s.wants {
				out[s.node]++
				limit--
				given = true
			}
		}
	}
	return out
}

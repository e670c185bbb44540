package postgres

import (
	"context"

	"lyceum/internal/event"

	"github.com/jackc/pgx/v5"
)

// create makes rows for quests that begin with this statement, before any row is locked. They are
// there in vain if the move then fails, and nobody sees them: their head is 0.
const create = `INSERT INTO lyceum.quests (name, head, hash, epoch) SELECT name, 0, $2, 0 FROM unnest($1::text[]) AS n(name) ORDER BY name ON CONFLICT DO NOTHING`

const createInboxes = `INSERT INTO lyceum.inboxes (quest, last) SELECT q.id, n.last FROM unnest($1::text[], $2::bigint[]) AS n(name, last) JOIN lyceum.quests q ON q.name = n.name AND q.head > 0 ON CONFLICT DO NOTHING`

// advance moves the rows that are as expected, and adds the events and blobs of those alone. Rows are
// locked in the order of their ids, so that two committers never wait for each other; what is
// compared is what the row holds once it is locked. A blob that is there already and was not put
// for long is marked anew, so that a sweep spares it.
const advance = `
WITH want AS (
	SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[], $4::bigint[], $5::bytea[], $6::bigint[]) WITH ORDINALITY AS w(name, old, oldhash, new, newhash, fence, n)
), locked AS (
	SELECT q.id, q.head, q.hash, q.epoch, w.* FROM lyceum.quests q JOIN want w ON w.name = q.name ORDER BY q.id FOR NO KEY UPDATE OF q
), moved AS (
	UPDATE lyceum.quests q SET head = l.new, hash = l.newhash FROM locked l
	WHERE q.id = l.id AND l.head = l.old AND l.hash = l.oldhash AND (l.fence = 0 OR l.epoch = l.fence) RETURNING q.id, l.n
), added AS (
	INSERT INTO lyceum.events (quest, seq, line) SELECT m.id, e.seq, e.line FROM unnest($7::bigint[], $8::bigint[], $9::bytea[]) AS e(n, seq, line) JOIN moved m ON m.n = e.n
), kept AS (
	INSERT INTO lyceum.blobs AS b (hash, put, data)
	SELECT DISTINCT ON (k.hash) k.hash, now(), k.data FROM unnest($10::bigint[], $11::bytea[], $12::bytea[]) AS k(n, hash, data) JOIN moved m ON m.n = k.n ORDER BY k.hash
	ON CONFLICT (hash) DO UPDATE SET put = excluded.put WHERE b.put < now() - $13::interval
)
SELECT n - 1 FROM moved`

// noHash is that of a quest without events.
var noHash event.Hash

// columns are the moves as the statement takes them.
type columns struct {
	names            []string
	old, next, epoch []int64
	oldHash, newHash [][]byte
	event, seq       []int64
	line             [][]byte
	blob             []int64
	hash, data       [][]byte
	// Those that begin.
	made  []string
	inbox []int64
}

func columnsOf(moves []*move) *columns {
	// Where there is nothing a column is empty, and not null.
	c := &columns{event: []int64{}, seq: []int64{}, line: [][]byte{}, blob: []int64{}, hash: [][]byte{}, data: [][]byte{}}
	for i, m := range moves {
		n, first, last := int64(i)+1, m.first(), m.last()
		prev := first.Prev()
		c.names, c.epoch = append(c.names, m.quest), append(c.epoch, m.epoch)
		c.old, c.next = append(c.old, int64(first.Seq)-1), append(c.next, int64(last.Seq))
		c.oldHash, c.newHash = append(c.oldHash, prev[:]), append(c.newHash, last.Hash[:])
		if first.Seq == 1 {
			c.made, c.inbox = append(c.made, m.quest), append(c.inbox, m.requests[0].batch.Inbox)
		}
		for _, r := range m.requests {
			for _, e := range r.batch.Events {
				c.event, c.seq, c.line = append(c.event, n), append(c.seq, int64(e.Seq)), append(c.line, e.Line())
			}
			for _, data := range r.batch.Blobs {
				h := event.HashOf(data)
				if data == nil {
					data = []byte{}
				}
				c.blob, c.hash, c.data = append(c.blob, n), append(c.hash, h[:]), append(c.data, data)
			}
		}
	}
	return c
}

// send commits the moves, and returns which were made. It has no deadline, and nobody cancels it:
// a commit that was cancelled while it waits for the standby is called done.
func (c *committer) send(moves []*move) (map[int64]bool, error) {
	ctx := context.WithoutCancel(c.store.dial)
	defer hangUp(c.store.dial, c.conn)()
	cols := columnsOf(moves)
	unsure(c.conn)
	var moved map[int64]bool
	var err error
	if len(cols.made) == 0 {
		moved, err = c.advance(ctx, c.conn, cols)
	} else {
		err = pgx.BeginTxFunc(ctx, c.conn, begin, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, create, cols.made, noHash[:]); err != nil {
				return err
			}
			if moved, err = c.advance(ctx, tx, cols); err != nil {
				return err
			}
			if _, err = tx.Exec(ctx, createInboxes, cols.made, cols.inbox); err != nil {
				return err
			}
			return keepWords(ctx, tx, moves, moved)
		})
	}
	if err != nil {
		return nil, err
	}
	if unsure(c.conn) {
		// It is on this disk, and perhaps on no other. A write that the standby has acknowledged
		// settles that for everything before it.
		return moved, barrier(c.store.dial, c.conn)
	}
	return moved, nil
}

// keepWords keeps the checkpoints that quests which begin with these moves brought along.
func keepWords(ctx context.Context, tx pgx.Tx, moves []*move, moved map[int64]bool) error {
	for i, m := range moves {
		if m.first().Seq > 1 || !moved[int64(i)] {
			continue
		}
		for _, c := range m.requests[0].batch.Checkpoints {
			if err := putCheckpoint(ctx, tx, m.quest, c); err != nil {
				return err
			}
		}
	}
	return nil
}

type sender interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func (c *committer) advance(ctx context.Context, via sender, cols *columns) (map[int64]bool, error) {
	rows, err := via.Query(ctx, advance, cols.names, cols.old, cols.oldHash, cols.next, cols.newHash, cols.epoch,
		cols.event, cols.seq, cols.line, cols.blob, cols.hash, cols.data, c.store.opts.Grace/2)
	if err != nil {
		return nil, err
	}
	if c.store.opts.Sent != nil {
		c.store.opts.Sent()
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	moved := make(map[int64]bool, len(list))
	for _, n := range list {
		moved[n] = true
	}
	return moved, err
}

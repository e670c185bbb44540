package postgres

import (
	"context"
	"strings"
	"sync"
	"time"

	"lyceum/internal/ledger/driver"

	"github.com/jackc/pgx/v5"
)

// pollEvery is how often the heads are looked at that anybody follows: for what no notification
// told of.
const pollEvery = 250 * time.Millisecond

// notifyEvery is how long a notification waits for others at least: a notification takes a lock
// of the whole server.
const notifyEvery = 2 * time.Millisecond

// channel is that of all notifications. A word of one is "a" or "p" and a quest's name.
const channel = "lyceum"

// maxPayload is below what PostgreSQL takes in one notification.
const maxPayload = 7000

// news tells other processes what this one has written, after the commit, and hears what they
// have.
type news struct {
	store *Store
	wake  chan struct{}
	mu    sync.Mutex // guards words
	words map[string]bool
}

func newNews(s *Store) *news {
	return &news{store: s, wake: make(chan struct{}, 1), words: map[string]bool{}}
}

func (n *news) appended(quest string) { n.add("a" + quest) }

func (n *news) posted(quest string) { n.add("p" + quest) }

func (n *news) add(word string) {
	if n.store.opts.Silent {
		return
	}
	n.mu.Lock()
	n.words[word] = true
	n.mu.Unlock()
	driver.Tell(n.wake)
}

// send is the one that notifies. What it cannot send the others find by themselves.
func (n *news) send(ctx context.Context) {
	for {
		select {
		case <-n.wake:
		case <-ctx.Done():
			return
		}
		for _, payload := range n.payloads() {
			_, _ = n.store.pool.Exec(ctx, "SELECT pg_notify($1, $2)", channel, payload)
		}
		if !pause(ctx, notifyEvery) {
			return
		}
	}
}

func (n *news) payloads() (out []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var b strings.Builder
	for word := range n.words {
		if b.Len()+len(word) > maxPayload {
			out = append(out, b.String())
			b.Reset()
		}
		b.WriteString(word + " ")
	}
	clear(n.words)
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}

// listen hears notifications. Whatever was said while there was no connection, the poller finds.
func (n *news) listen(ctx context.Context) {
	for {
		conn, err := pgx.ConnectConfig(ctx, n.store.config)
		if err == nil {
			n.hear(ctx, conn)
			closeSoon(ctx, conn)
		}
		if !pause(ctx, time.Second) {
			return
		}
	}
}

func (n *news) hear(ctx context.Context, conn *pgx.Conn) {
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return
	}
	for {
		told, err := conn.WaitForNotification(ctx)
		if err != nil {
			return
		}
		for word := range strings.FieldsSeq(told.Payload) {
			switch word[0] {
			case 'a':
				n.store.appended.Wake(word[1:])
			case 'p':
				n.store.posted.Wake(word[1:])
			}
		}
	}
}

// stand is what a look saw of a quest.
type stand struct{ id, head, inbox int64 }

// A poller looks for what other processes wrote, as long as anybody waits for it.
type poller struct {
	store *Store
	seen  map[string]stand
}

func (p *poller) run(ctx context.Context) {
	defer func() {
		p.store.appended.WakeAll()
		p.store.posted.WakeAll()
	}()
	for pause(ctx, pollEvery) {
		if !p.store.appended.Any() && !p.store.posted.Any() {
			clear(p.seen)
			select {
			case <-p.store.some:
			case <-ctx.Done():
				return
			}
		}
		p.look(ctx)
	}
}

// look wakes whom a change may concern. Who has just begun to wait is woken once for nothing: what
// was seen before that is not known.
func (p *poller) look(ctx context.Context) {
	names := append(p.store.appended.Waited(), p.store.posted.Waited()...)
	now := map[string]stand{}
	err := p.store.read(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, "SELECT q.name, q.id, q.head, coalesce(i.last, 0) FROM lyceum.quests q LEFT JOIN lyceum.inboxes i ON i.quest = q.id WHERE q.name = ANY($1)", names)
		if err != nil {
			return err
		}
		var name string
		var s stand
		_, err = pgx.ForEachRow(rows, []any{&name, &s.id, &s.head, &s.inbox}, func() error { now[name] = s; return nil })
		return err
	})
	if err != nil {
		p.store.appended.WakeAll()
		p.store.posted.WakeAll()
		return
	}
	for _, name := range names {
		was, known := p.seen[name]
		is := now[name]
		if !known || was.id != is.id || was.head != is.head {
			p.store.appended.Wake(name)
		}
		if !known || was.id != is.id || was.inbox != is.inbox {
			p.store.posted.Wake(name)
		}
	}
	p.seen = map[string]stand{}
	for _, name := range names {
		p.seen[name] = now[name]
	}
}

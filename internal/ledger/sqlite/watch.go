package sqlite

import (
	"context"
	"path/filepath"
	"time"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// pollEvery is how often the file is looked at for other processes' writes. Where the
// kernel tells of them, it is looked at when it does, not more often than that, and
// besides every pollRarely: not every file system tells.
const (
	pollEvery  = 20 * time.Millisecond
	pollRarely = time.Second
)

// Posted implements ledger.Inbox.
func (s *Store) Posted(quest string) (<-chan struct{}, func()) { return s.posted.Subscribe(quest) }

// A poller looks at the file for what other processes wrote, as long as anybody
// waits. It has a connection of its own, from when somebody first does: data_version counts the
// commits of all others, and means nothing between two connections.
type poller struct {
	store   *Store
	conn    *sq.Conn
	version int64
	inbox   int64
}

func (p *poller) run(ctx context.Context) {
	defer func() {
		p.store.appended.WakeAll()
		p.store.posted.WakeAll()
		if p.conn != nil {
			_ = p.conn.Close()
		}
	}()
	every, changed := pollRarely, (<-chan struct{})(nil)
	if !p.store.opts.Unwatched {
		told, unwatch := watchFolder(filepath.Dir(p.store.path))
		defer unwatch()
		if changed = told; told == nil {
			every = pollEvery
		}
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-changed:
		}
		if !p.store.appended.Any() && !p.store.posted.Any() {
			select {
			case <-p.store.some:
			case <-ctx.Done():
				return
			}
		}
		p.look()
	}
}

// look wakes whom a change may concern. When it cannot look it wakes everybody:
// a look too many does no harm, one too few would.
func (p *poller) look() {
	version, err := p.dataVersion()
	if err == nil && version == p.version {
		return
	}
	p.version = version
	p.store.appended.WakeAll()
	if p.conn == nil {
		p.store.posted.WakeAll()
		return
	}
	err = sqlitex.Execute(p.conn, "SELECT id, quest FROM inbox WHERE id > ? ORDER BY id", &sqlitex.ExecOptions{
		Args: []any{p.inbox},
		ResultFunc: func(stmt *sq.Stmt) error {
			p.inbox = stmt.ColumnInt64(0)
			p.store.posted.Wake(stmt.ColumnText(1))
			return nil
		},
	})
	if err != nil {
		p.store.posted.WakeAll()
	}
}

// dataVersion changes when another connection commits.
func (p *poller) dataVersion() (_ int64, err error) {
	if p.conn == nil {
		if p.conn, err = p.store.connect(); err != nil {
			p.conn = nil
			return 0, err
		}
	}
	return sqlitex.ResultInt64(p.conn.Prep("PRAGMA data_version"))
}

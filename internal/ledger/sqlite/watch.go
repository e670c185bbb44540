package sqlite

import (
	"context"
	"path/filepath"
	"sync"
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

// signals tell those who wait for a quest that there may be something new. One
// that has been told and has not looked yet is not told twice.
type signals struct {
	mu sync.Mutex
	of map[string]map[chan struct{}]struct{}
	// some is sent to when anybody begins to wait.
	some chan struct{}
}

func newSignals(some chan struct{}) *signals {
	return &signals{of: map[string]map[chan struct{}]struct{}{}, some: some}
}

func (s *signals) subscribe(quest string) (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[quest] == nil {
		s.of[quest] = map[chan struct{}]struct{}{}
	}
	s.of[quest][ch] = struct{}{}
	tell(s.some)
	return ch, func() { s.drop(quest, ch) }
}

func (s *signals) drop(quest string, ch chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of[quest], ch)
	if len(s.of[quest]) == 0 {
		delete(s.of, quest)
	}
}

func (s *signals) wake(quest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ch := range s.of[quest] {
		tell(ch)
	}
}

// wakeAll reports whether anybody waits.
func (s *signals) wakeAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, chans := range s.of {
		for ch := range chans {
			tell(ch)
		}
	}
	return len(s.of) > 0
}

func (s *signals) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.of) > 0
}

func tell(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// Posted implements ledger.Inbox.
func (s *Store) Posted(quest string) (<-chan struct{}, func()) { return s.posted.subscribe(quest) }

// A poller looks at the file for what other processes wrote, as long as anybody
// waits. It has a connection of its own: data_version counts the commits of
// all others, and means nothing between two connections.
type poller struct {
	store   *Store
	conn    *sq.Conn
	version int64
	inbox   int64
}

func (p *poller) run(ctx context.Context) {
	defer func() {
		p.store.appended.wakeAll()
		p.store.posted.wakeAll()
		_ = p.conn.Close()
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
		if !p.store.appended.any() && !p.store.posted.any() {
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
	version, err := sqlitex.ResultInt64(p.conn.Prep("PRAGMA data_version"))
	if err == nil && version == p.version {
		return
	}
	p.version = version
	p.store.appended.wakeAll()
	err = sqlitex.Execute(p.conn, "SELECT id, quest FROM inbox WHERE id > ? ORDER BY id", &sqlitex.ExecOptions{
		Args: []any{p.inbox},
		ResultFunc: func(stmt *sq.Stmt) error {
			p.inbox = stmt.ColumnInt64(0)
			p.store.posted.wake(stmt.ColumnText(1))
			return nil
		},
	})
	if err != nil {
		p.store.posted.wakeAll()
	}
}

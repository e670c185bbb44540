package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds on subscriptions: how many a session has, and the least time between two words about
// one of them.
const (
	maxWatched = 32
	watchPause = 250 * time.Millisecond
)

// subscribe has a session told of every new head of a quest, by any of its resources.
func (s *Server) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	p, err := parse(uri)
	if err != nil {
		return mcp.ResourceNotFoundError(uri)
	}
	var q summaryJSON
	if err := s.ask(ctx, questPath(p.quest), maxWord, &q); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return errors.New("the session ends")
	case s.watched[uri] != nil:
		return nil
	case len(s.watched) >= maxWatched:
		return fmt.Errorf("a session has at most %d subscriptions: unsubscribe from another first", maxWatched)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.watched[uri] = cancel
	s.work.Go(func() { s.watch(ctx, uri, p.quest, q.Events) })
	return nil
}

func (s *Server) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.watched[req.Params.URI]; cancel != nil {
		cancel()
		delete(s.watched, req.Params.URI)
	}
	return nil
}

// lookAgain is when a quest that rests is looked at: its stream ends with its run.
const lookAgain = 2 * time.Second

// watch tells of new heads until the subscription ends, the quest is gone, or the caller may not
// see it any more. A home that is away is waited for. Of heads that come faster than they are
// told, the last is.
func (s *Server) watch(ctx context.Context, uri, quest string, head uint64) {
	heads := make(chan uint64, 1)
	defer close(heads)
	s.work.Go(func() {
		for head := range heads {
			s.updated(ctx, uri, head)
			pause(ctx, watchPause)
		}
	})
	for ctx.Err() == nil {
		was := head
		err := s.follow(ctx, quest, head, func(n *news) (bool, error) {
			if n.seq > head {
				head = n.seq
				select {
				case <-heads: // nobody has heard of that one, and need not
				default:
				}
				heads <- head
			}
			return true, nil
		})
		if refusal, ok := errors.AsType[*refused](err); ok && refusal.status != http.StatusTooManyRequests && refusal.status < 500 {
			return
		}
		if head == was && !pause(ctx, lookAgain) {
			return
		}
	}
}

// updated tells the session of a new head.
func (s *Server) updated(ctx context.Context, uri string, head uint64) {
	_ = s.mcp.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri, Meta: mcp.Meta{"lyceum/head": head}})
}

// pause waits, and reports whether there is reason to go on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

package api

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"
)

// A blob's name is a hash, and whoever knows a text knows its hash. So a hash proves nothing
// about who asks: to the holder of a token for one quest a blob is there only if that quest's
// ledger refers to it. The others are not there, whether they exist or not.

// reach is what the events of one quest refer to, up to one of them.
//
// Blobs and folders are kept apart. An agent decides what is in a file, and could write a
// file that reads like the list of a folder and names any hash. What stands in a blob counts
// only where an event, or a folder that an event reaches, says that the blob is a folder.
type reach struct {
	// turn is a lock that a caller who has gone no longer waits for; it owns all of it.
	turn  chan struct{}
	head  ledger.Head
	blobs map[event.Hash]bool
	trees map[event.TreeRef]bool
	roots map[event.Hash]bool // the hashes of trees
}

func newReach() *reach { return &reach{turn: make(chan struct{}, 1)} }

// holds reports whether the quest refers to a blob, the lists of its folders included.
func (c *reach) holds(h event.Hash) bool { return c.blobs[h] || c.roots[h] }

// lists reports whether the quest has a folder of that hash.
func (c *reach) lists(h event.Hash) bool { return c.roots[h] }

// catchUp takes in what is new. A ledger is only ever added to; one that does not follow
// what was read is another quest's of the same name.
func (c *reach) catchUp(ctx context.Context, rt *runtime.Runtime, quest string) error {
	head, err := rt.Ledger.Head(ctx, quest)
	if err != nil || head == c.head {
		return err
	}
	if c.blobs == nil || head.Seq <= c.head.Seq {
		c.clear()
	}
	for e, err := range rt.Ledger.Read(ctx, quest, c.head.Seq+1) {
		if err != nil {
			return err
		}
		if c.head.Seq > 0 && e.Prev() != c.head.Hash {
			c.clear()
			return c.catchUp(ctx, rt, quest)
		}
		if err := c.take(ctx, rt.Blobs, e); err != nil {
			return err
		}
		c.head = ledger.Head{Quest: quest, Seq: e.Seq, Hash: e.Hash}
	}
	return nil
}

func (c *reach) clear() {
	c.head, c.blobs, c.trees, c.roots = ledger.Head{}, map[event.Hash]bool{}, map[event.TreeRef]bool{}, map[event.Hash]bool{}
}

func (c *reach) take(ctx context.Context, store blob.Store, e event.Event) error {
	refs, trees := event.Refs(e.Body)
	for _, r := range refs {
		c.blobs[r.Hash] = true
	}
	for len(trees) > 0 {
		t := trees[len(trees)-1]
		trees = trees[:len(trees)-1]
		if c.trees[t] {
			continue
		}
		list, err := blob.ReadTree(ctx, store, t)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.trees[t] = true
		if err != nil {
			continue // a folder that is damaged leads nowhere, and hides nothing else
		}
		c.roots[t.Hash] = true
		for _, f := range list {
			switch f.Kind {
			case blob.Dir:
				trees = append(trees, event.TreeRef{Hash: f.Hash, Size: f.Size})
			case blob.File:
				c.blobs[f.Hash] = true
			}
		}
	}
	return nil
}

// reaches are those of the quests that somebody looks at with a token for that quest.
type reaches struct {
	mu  sync.Mutex
	all map[string]*reach
}

// maxReaches is how many are kept.
const maxReaches = 16

func (s *reaches) of(quest string) *reach {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.all[quest]
	if c == nil {
		if s.all == nil || len(s.all) >= maxReaches {
			s.all = map[string]*reach{} // forgetting is better than growing
		}
		c = newReach()
		s.all[quest] = c
	}
	return c
}

// within refuses a hash to a caller who may see one quest and not this, in the words for one
// that is not there at all.
func (s *Server) within(r *http.Request, h event.Hash, has func(*reach, event.Hash) bool) error {
	quest := callerOf(r).Quest()
	if quest == "" {
		return nil
	}
	c := s.reaches.of(quest)
	select {
	case c.turn <- struct{}{}:
	case <-r.Context().Done():
		return r.Context().Err()
	}
	defer func() { <-c.turn }()
	err := c.catchUp(r.Context(), s.rt, quest)
	if err != nil && !errors.Is(err, ledger.ErrNoQuest) {
		return err
	}
	if err != nil || !has(c, h) {
		return missing("blob %s is not there", h)
	}
	return nil
}

package api

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// hub hands what happens in quests to those who watch. A quest that is watched has one
// feed, however many watch it.
type hub struct {
	ctx    context.Context
	rt     *runtime.Runtime
	buffer int
	work   sync.WaitGroup

	mu      sync.Mutex
	feeds   map[string]*feed
	closing chan struct{}
	closed  bool
	readers int
	by      map[string]int // how many of them are of each caller
	cuts    int64
}

func newHub(ctx context.Context, rt *runtime.Runtime, buffer int) *hub {
	return &hub{ctx: ctx, rt: rt, buffer: buffer, feeds: map[string]*feed{}, by: map[string]int{}, closing: make(chan struct{})}
}

// watch joins the feed of a quest, or begins one. A caller who has as many streams as it may
// is told so: each holds a connection, and memory for what its reader is behind.
func (h *hub) watch(ctx context.Context, name string, s *feedStart) (*feed, func(), error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, nil, err // nobody would leave
	}
	if h.closed {
		return nil, nil, errClosing
	}
	if h.by[s.who] >= s.streams {
		return nil, nil, problemf(http.StatusTooManyRequests, "", "%d live streams are open with these credentials, and no more can be: close one", s.streams)
	}
	f := h.feeds[name]
	if f == nil {
		run, cancel := context.WithCancel(h.ctx)
		f = &feed{
			hub: h, name: name, cancel: cancel, dirty: make(chan struct{}, 1), wake: make(chan struct{}),
			pending: &chunk{}, read: s.from() - 1, low: s.from(), high: s.from() - 1, status: s.status, reason: s.reason, warned: s.warned, rested: s.rested,
		}
		h.feeds[name] = f
		h.work.Go(func() { f.follow(run, s.from()) })
		h.work.Go(func() { f.pump(run) })
		f.touch()
	}
	f.count++
	h.readers++
	h.by[s.who]++
	var once sync.Once
	return f, func() { once.Do(func() { h.leave(f, s.who) }) }, nil
}

// feedStart is how a quest stands when its feed begins, and where its first reader does.
type feedStart struct {
	head   uint64
	after  uint64
	status quest.Status
	reason string
	warned bool
	rested bool
	// who reads, and how many streams they may have.
	who     string
	streams int
}

// maxBack is how many old events a feed begins with at most, and leeway how many of
// them stand before the one that its first reader wants.
const (
	maxBack = 20_000
	leeway  = 5_000
)

// from is the event that a feed begins with. When a server has been started again all
// readers come back at about the same place, and what they have missed is then read once,
// not once for each of them.
func (s *feedStart) from() uint64 {
	back := func(from, by uint64) uint64 { return from - min(from, by) }
	return max(back(s.after, leeway), back(s.head, maxBack)) + 1
}

func (h *hub) leave(f *feed, who string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readers--
	if h.by[who]--; h.by[who] == 0 {
		delete(h.by, who)
	}
	if f.count--; f.count == 0 {
		f.cancel()
		h.drop(f)
	}
}

func (h *hub) drop(f *feed) {
	if h.feeds[f.name] == f {
		delete(h.feeds, f.name)
	}
}

// close ends all streams; nobody can join any more.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
}

// wait returns when all feeds have ended, which the end of the hub's context makes
// them.
func (h *hub) wait() { h.work.Wait() }

func (h *hub) figures() (readers int, cuts int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.readers, h.cuts
}

func (h *hub) wasCut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cuts++
}

// delta hands on what a model says.
func (h *hub) delta(name string, d runtime.Delta) {
	h.mu.Lock()
	f := h.feeds[name]
	h.mu.Unlock()
	if f == nil {
		return
	}
	data, err := json.Marshal(d)
	if err != nil {
		return // texts and numbers always encode
	}
	f.hear(d, data)
}

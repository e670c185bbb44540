package runtime

import (
	"context"
	"errors"
	"slices"
	"sync"

	"lyceum/internal/computer"
	"lyceum/internal/mcp"
)

// link is the one connection of a quest to a server by its address: all agents that use the server
// share it, and it is made when the first of them needs it. A program inside a computer is an
// agent's own and has no link.
type link struct {
	turn chan struct{} // held by whoever connects

	mu      sync.Mutex
	client  *mcp.Client
	members []*served
	gone    bool // the run is over, or the server was removed
}

// join adds an agent.
func (k *link) join(s *served) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.members = append(k.members, s)
}

func (k *link) all() []*served {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.members)
}

// connect is the connection, made with dial if there is none.
func (k *link) connect(ctx context.Context, dial func(mcp.Options) (*mcp.Client, error)) (*mcp.Client, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	k.mu.Lock()
	c, gone := k.client, k.gone
	k.mu.Unlock()
	switch {
	case gone:
		return nil, computer.ErrStopped
	case c != nil && !c.Lost():
		return c, nil
	case c != nil:
		c.Close()
	}
	c, err := dial(k.options())
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gone {
		go c.Close()
		return nil, computer.ErrStopped
	}
	k.client = c
	return c, nil
}

// options are what the server may ask for and tell: all agents hear what is another, and a question
// is about the oldest call.
func (k *link) options() (o mcp.Options) {
	o.Changed = func() {
		for _, s := range k.all() {
			s.heard()
		}
	}
	o.Updated = func(uri string) {
		for _, s := range k.all() {
			s.updated(uri)
		}
	}
	o.Ask = func(ctx context.Context, f *mcp.Form) (*mcp.Reply, error) {
		if s := k.oldest(); s != nil {
			return s.ask(ctx, f)
		}
		return nil, nil
	}
	if slices.ContainsFunc(k.all(), func(s *served) bool { return s.sampler() != nil }) {
		o.Sample = func(ctx context.Context, wants *mcp.Sample) (*mcp.Sampled, error) {
			if s := k.oldest(); s != nil && s.sampler() != nil {
				return s.sample(ctx, wants)
			}
			return nil, errUnsampled
		}
	}
	return o
}

// oldest is the agent whose call the server has worked on for longest, nil if it works on none.
func (k *link) oldest() (out *served) {
	first := uint64(0)
	for _, s := range k.all() {
		if call := s.working(); call != 0 && (first == 0 || call < first) {
			first, out = call, s
		}
	}
	return out
}

// working is the oldest call that the server works on for the agent, 0 for none.
func (s *served) working() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 {
		return 0
	}
	return s.calls[0].call
}

// forget ends a connection that did not serve one of the agents, unless another has a call under
// way by it.
func (k *link) forget(by *served, c *mcp.Client) {
	busy := slices.ContainsFunc(k.all(), func(s *served) bool { return s != by && s.working() != 0 })
	k.mu.Lock()
	if k.client != c || busy && !c.Lost() {
		k.mu.Unlock()
		return
	}
	k.client = nil
	k.mu.Unlock()
	c.Close()
}

// close ends the connection for good.
func (k *link) close() {
	k.mu.Lock()
	c := k.client
	k.client, k.gone = nil, true
	k.mu.Unlock()
	if c != nil {
		c.Close()
	}
}

// errRemoved is what calls of a server are told that a person has removed.
var errRemoved = errors.New("a person has removed this server from the quest: its tools cannot be called any more")

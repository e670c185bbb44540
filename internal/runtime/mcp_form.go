package runtime

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/mcp"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
)

// A server that wants to know something of a person asks while it works on a call. What it
// asks is an input; what it is told the rules say (mcp.replied), from what a person answers.

// maxAsks is how often a server may ask for one call: while a person thinks, its time does not
// run.
const maxAsks = 3

// begin notes a call that a server works on, so that the server may ask for it.
func (s *served) begin(id string) (done func()) {
	seq, err := strconv.ParseUint(id[min(1, len(id)):], 10, 64)
	if err != nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, &asking{call: seq})
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = slices.DeleteFunc(s.calls, func(a *asking) bool { return a.call == seq })
	}
}

// asking is a call that a server works on, and how often the server has asked for it.
type asking struct {
	call  uint64
	asked int
}

// next is the call that a server asks for, the oldest, 0 if it may not ask.
func (s *served) next() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) == 0 || s.calls[0].asked >= maxAsks {
		return 0
	}
	s.calls[0].asked++
	return s.calls[0].call
}

// ask asks a person what the server wants to know, and waits for what the rules make of the
// answer. Whatever is in the way means no.
func (s *served) ask(ctx context.Context, f *mcp.Form) (*mcp.Reply, error) {
	call := s.next()
	if call == 0 {
		return nil, nil
	}
	clean := func(text string) string { return Clean(s.l.rt.Redact(text)) }
	b := &event.McpAsked{Call: call, Server: s.server, Message: clean(f.Message), Address: f.Address}
	if clean(f.Address) != f.Address {
		return nil, nil // nobody could visit it
	}
	for _, field := range f.Fields {
		named := event.FormField{Name: field.Name, Kind: field.Kind, Options: field.Options, Required: field.Required, Title: clean(field.Title), Description: clean(field.Description)}
		if clean(field.Name) != field.Name {
			return nil, nil
		}
		b.Fields = append(b.Fields, named)
	}
	id, done := s.l.servers.forms.wait(s.l.began)
	b.ID = id
	defer s.l.servers.forms.leave(id)
	s.l.mail.put(s.draft(call, b, nil))
	select {
	case r := <-done:
		return r, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.l.work.Done():
		return nil, s.l.work.Err()
	}
}

// forms are the servers that wait for what a person says. mu guards all of it.
type forms struct {
	mu      sync.Mutex
	next    int
	waiting map[string]chan *mcp.Reply // by id
	asked   map[uint64]string          // ids by the seq of what was asked
}

func (f *forms) wait(run uint64) (id string, done <-chan *mcp.Reply) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting == nil {
		f.waiting, f.asked = map[string]chan *mcp.Reply{}, map[uint64]string{}
	}
	f.next++
	id = fmt.Sprintf("%d-%d", run, f.next)
	c := make(chan *mcp.Reply, 1)
	f.waiting[id] = c
	return id, c
}

func (f *forms) leave(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.waiting, id)
}

// tell tells a server, once.
func (f *forms) tell(id string, r *mcp.Reply) {
	if c := f.waiting[id]; c != nil {
		c <- r
		delete(f.waiting, id)
	}
}

// hear tells servers what the rules have decided. A question that did not become an event is
// not asked, and a quest that does not run asks nobody.
func (f *forms) hear(inputs []event.Draft, done []event.Event, s *quest.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) == 0 {
		return
	}
	taken := map[string]bool{}
	for _, e := range done {
		switch b := e.Body.(type) {
		case *event.McpAsked:
			f.asked[e.Seq], taken[b.ID] = b.ID, true
		case *event.McpReplied:
			r := &mcp.Reply{Accepted: b.Accepted}
			if b.Values != "" && json.Unmarshal([]byte(b.Values), &r.Values) != nil {
				r.Accepted = false
			}
			f.tell(f.asked[b.Asked], r)
			delete(f.asked, b.Asked)
		}
	}
	for _, in := range inputs {
		if b, ok := in.Body.(*event.McpAsked); ok && !taken[b.ID] {
			f.tell(b.ID, nil)
		}
	}
	if s.Status != quest.Running {
		for id := range f.waiting {
			f.tell(id, nil)
		}
	}
}

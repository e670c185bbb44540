package runtime

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// permits are what an executor has asked to be allowed in its prompt. mu guards all.
type permits struct {
	mu sync.Mutex
	// asked are by the ids of requests, calls by the permission.asked.
	asked map[string]*permit
	calls map[uint64]*permit
}

// permit is one of them. waiting is told once it is decided.
type permit struct {
	seq     uint64 // its permission.asked, 0 until that is durable
	decided bool
	option  string
	err     error
	waiting []chan struct{}
}

// begin takes over what the ledger knows of a prompt.
func (ps *permits) begin(before recalled) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.asked {
		p.end("", errPromptOver) // nobody should wait any more
	}
	ps.asked, ps.calls = map[string]*permit{}, map[uint64]*permit{}
	for id, p := range before.asked {
		ps.asked[id] = p
		if !p.decided {
			ps.calls[p.seq] = p
		}
	}
}

// end decides. mu is held.
func (p *permit) end(option string, err error) {
	if p.decided {
		return
	}
	p.decided, p.option, p.err = true, option, err
	for _, w := range p.waiting {
		close(w)
	}
	p.waiting = nil
}

// ask notes that something is asked. It reports whether that is news, which has to be told;
// done is closed when it is decided.
func (ps *permits) ask(id string) (p *permit, done <-chan struct{}, news bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p = ps.asked[id]; p == nil {
		p, news = &permit{}, true
		ps.asked[id] = p
	}
	c := make(chan struct{})
	if p.decided {
		close(c)
	} else {
		p.waiting = append(p.waiting, c)
	}
	return p, c, news
}

// answer is what was decided.
func (ps *permits) answer(p *permit) (string, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return p.option, p.err
}

// hear tells executors what was decided. It runs on the owner's goroutine, once the events are
// durable.
func (x *executors) hear(inputs []event.Draft, done []event.Event, s *quest.State) {
	if x == nil || len(x.all) == 0 {
		return
	}
	for _, e := range done {
		o := x.all[e.Actor]
		if o == nil {
			continue
		}
		switch b := e.Body.(type) {
		case *event.PromptBegun:
			o.mu.Lock()
			o.told = b.Process
			o.mu.Unlock()
		case *event.CliRun:
			o.mu.Lock()
			o.ran = b.Command
			o.mu.Unlock()
		case *event.PromptStopped:
			o.mu.Lock()
			if o.halted = true; o.cancel != nil {
				o.cancel()
			}
			o.mu.Unlock()
		case *event.PermissionAsked:
			o.permits.taken(e.Seq, b)
		case *event.PermissionDecided:
			o.permits.decided(b)
		case *event.ToolsShown:
			if err := o.shown(o.l.work); err != nil {
				o.l.failed(0, err)
			}
		}
	}
	for _, in := range inputs {
		o := x.all[in.Actor]
		if o == nil {
			continue
		}
		switch b := in.Body.(type) {
		case *event.PermissionAsked:
			o.permits.untaken(s, in.Actor, b)
		case *event.CliRun:
			o.refuse(s, b)
		}
	}
}

func (ps *permits) taken(seq uint64, b *event.PermissionAsked) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p := ps.asked[b.ID]; p != nil && p.seq == 0 {
		p.seq = seq
		ps.calls[seq] = p
	}
}

func (ps *permits) decided(b *event.PermissionDecided) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p := ps.calls[b.Asked]; p != nil {
		p.end(b.Option, nil)
	}
}

// untaken ends the wait for an answer to what is no event: it could not come.
func (ps *permits) untaken(s *quest.State, name string, b *event.PermissionAsked) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p := ps.asked[b.ID]; p != nil && p.seq == 0 {
		p.end("", fmt.Errorf("the request is not taken: %w", cmp.Or(s.Check(name, b), errPromptOver)))
	}
}

// wait waits until it is decided.
func (o *outsider) wait(ctx context.Context, p *permit, done <-chan struct{}) (string, error) {
	select {
	case <-done:
		return o.permits.answer(p)
	case <-ctx.Done():
		return "", ctx.Err()
	case <-o.l.work.Done():
		return "", o.l.work.Err()
	}
}

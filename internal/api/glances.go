package api

import (
	"context"
	"encoding/json"
	"errors"

	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// glanced is what the list says of a quest, as of a head.
type glanced struct {
	Head    ledger.Head
	Summary Summary
	// Is is empty of a quest that cannot be read.
	Is            quest.Status
	Warned, Waits bool
	// Past is what the quest says of the cost of others, nil for nothing.
	Past *view.Past `json:",omitempty"`
}

// form is under which name it is kept.
var form = runtime.FormOf("server-3", glanced{})

// Glancer makes what the list of a server says of a quest, when the quest is made and when it comes to rest, in
// whatever process that is.
var Glancer = runtime.Glancer{Form: form, Of: func(name string, s *quest.State) ([]byte, error) {
	return json.Marshal(glanceOf(name, s))
}}

func glanceOf(name string, s *quest.State) glanced {
	head := ledger.Head{Quest: name, Seq: s.Seq, Hash: s.Hash}
	return glanced{head, outline(name, s), s.Status, len(s.Warnings) > 0, s.Waiting(), view.PastOf(name, s)}
}

// lookAtAll says of each quest that is wanted what the list says. One that cannot be read does not hide the
// others.
func (s *Server) lookAtAll(ctx context.Context, wanted func(name string) bool) ([]Summary, error) {
	heads, err := s.rt.Ledger.Quests(ctx)
	if err != nil {
		return nil, err
	}
	s.recall(ctx, heads)
	out, fresh := []Summary{}, []ledger.Glance{}
	for _, h := range heads {
		if !wanted(h.Quest) {
			continue
		}
		q, err := s.glance(ctx, h, &fresh)
		switch {
		case errors.Is(err, ledger.ErrNoQuest): // it was removed just now
		case err != nil:
			return nil, err
		default:
			out = append(out, q)
		}
	}
	s.rt.KeepGlances(ctx, Glancer.Form, fresh)
	return out, nil
}

// fewMoved is how many quests are read one by one, by a server that has looked through what is kept of all before.
const fewMoved = 8

// recall takes up what is kept of quests that this server does not know as of their heads: all of them when
// it has just begun, many when another process has run them.
func (s *Server) recall(ctx context.Context, heads []ledger.Head) {
	moved := 0
	for _, h := range heads {
		if _, ok := s.seen(h); !ok {
			moved++
		}
	}
	if begun := s.recalled.Swap(true); moved == 0 || begun && moved <= fewMoved {
		return
	}
	all, err := s.rt.Glances(ctx, Glancer.Form)
	if err != nil {
		return // the ledgers are read instead
	}
	for _, kept := range all {
		var g glanced
		if _, ok := s.seen(kept.Head); !ok && kept.Body != nil && json.Unmarshal(kept.Body, &g) == nil && g.Head == kept.Head {
			s.glances.Store(g.Head.Quest, g)
		}
	}
}

// seen is what was said of a quest as of this head, if anything was.
func (s *Server) seen(h ledger.Head) (glanced, bool) {
	v, _ := s.glances.Load(h.Quest)
	g, ok := v.(glanced)
	return g, ok && g.Head == h
}

// noted takes up the state of a quest that was made here, or whose run here has begun or ended: it need not be
// read again to be listed.
func (s *Server) noted(name string, st *quest.State) {
	if st != nil {
		s.glances.Store(name, glanceOf(name, st))
	}
}

// glance is a quest in the list. What was said of it holds until its head moves: with
// many quests the list must not read every ledger again each time somebody looks.
// What had to be read for it is noted in fresh, if that is not nil.
func (s *Server) glance(ctx context.Context, h ledger.Head, fresh *[]ledger.Glance) (Summary, error) {
	g, ok := s.seen(h)
	if ok && g.Is == "" { // it cannot be read
		return g.Summary, nil
	}
	if !ok {
		st, done, err := s.borrow(ctx, h.Quest)
		if err != nil {
			return s.unreadable(ctx, h, err)
		}
		g = glanceOf(h.Quest, st)
		done()
		s.glances.Store(h.Quest, g)
		if body, err := json.Marshal(g); err == nil && fresh != nil {
			*fresh = append(*fresh, ledger.Glance{Quest: h.Quest, Hash: g.Head.Hash, Body: body})
		}
	}
	err := s.stand(&g.Summary, g.Is, g.Warned, g.Waits)
	return g.Summary, err
}

// started says of a quest that a person has started what its first events made of it, or what it is by now.
func (s *Server) started(ctx context.Context, name string) (Summary, error) {
	if v, ok := s.glances.Load(name); ok && s.keeper.Begun(name) {
		g := v.(glanced)
		err := s.stand(&g.Summary, g.Is, g.Warned, g.Waits)
		return g.Summary, err
	}
	head, err := s.rt.Ledger.Head(ctx, name)
	if err != nil {
		return Summary{}, err
	}
	return s.glance(ctx, head, nil)
}

// borrow lends the state of a quest until done is called: from its book, if somebody looks at the quest, or
// else from its snapshot and the events since.
func (s *Server) borrow(ctx context.Context, name string) (*quest.State, func(), error) {
	if s.shelf.has(name) {
		b, done, err := s.shelf.open(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		return b.state, done, nil
	}
	st, err := s.rt.Load(ctx, name)
	return st, func() {}, err
}

// unreadable is a quest that cannot be read, which does not hide the others.
func (s *Server) unreadable(ctx context.Context, h ledger.Head, err error) (Summary, error) {
	if ctx.Err() != nil || errors.Is(err, ledger.ErrNoQuest) {
		return Summary{}, err
	}
	status := "damaged"
	if isForeign(err) {
		status = "other_rules"
	}
	sum := Summary{Name: h.Quest, Status: status, Reason: err.Error(), Models: []string{}, Events: h.Seq, Hash: h.Hash.String()}
	s.glances.Store(h.Quest, glanced{Head: h, Summary: sum})
	return sum, nil
}

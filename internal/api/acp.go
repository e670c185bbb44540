package api

import (
	"context"
	"encoding/json"
	"fmt"

	"lyceum/internal/acp"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// acpUpdate is a notification and the event it came of.
type acpUpdate struct {
	Seq          uint64          `json:"seq"`
	Notification json.RawMessage `json:"notification"`
}

type acpPageJSON struct {
	Updates  []acpUpdate `json:"updates"`
	Head     uint64      `json:"head"`
	Next     *uint64     `json:"next,omitempty"`
	Previous *uint64     `json:"previous,omitempty"`
}

func (s *Server) acpPage(ctx context.Context, name string, sp *span, next, previous *uint64) acpPageJSON {
	out := acpPageJSON{Updates: []acpUpdate{}, Head: sp.head, Next: next, Previous: previous}
	for _, e := range sp.events {
		for _, n := range acp.Translate(ctx, name, shown{s, name}, e) {
			out.Updates = append(out.Updates, acpUpdate{e.Seq, acp.Line(n)})
		}
	}
	return out
}

// shown is what the translation to the Agent Client Protocol reads of a quest: what the
// page shows of it.
type shown struct {
	server *Server
	name   string
}

func (r shown) Text(ctx context.Context, t event.Text) (string, error) {
	text, _, err := r.server.show(ctx, t)
	return text, err
}

func (r shown) Event(ctx context.Context, seq uint64) (event.Event, error) {
	e, _, err := r.server.one(ctx, r.name, seq)
	return e, err
}

func (r shown) Blob(ctx context.Context, ref event.Ref) ([]byte, error) {
	return r.server.rt.Blob(ctx, ref)
}

func (r shown) Nodes(ctx context.Context) ([]view.Node, error) {
	b, done, err := r.server.shelf.open(ctx, r.name)
	if err != nil {
		return nil, err
	}
	defer done()
	nodes, _, _ := b.Canvas.Graph(0, maxNodes)
	return nodes, nil
}

// acpVoice is the live stream of one reader in the Agent Client Protocol.
type acpVoice struct {
	ctx   context.Context
	voice *acp.Voice
}

func (s *Server) acpVoice(ctx context.Context, name string) *acpVoice {
	return &acpVoice{ctx, acp.NewVoice(name, shown{s, name})}
}

// event gives the notifications of an event. The seq comes with the last of them, so that
// a reader who goes on from it misses none.
func (v *acpVoice) event(line []byte) (out []byte) {
	e, err := event.Parse(line)
	if err != nil {
		return nil // it was read before
	}
	list := v.voice.Event(v.ctx, e)
	for i, n := range list {
		if i == len(list)-1 {
			out = fmt.Appendf(out, "id: %d\n", e.Seq)
		}
		out = append(append(append(out, "data: "...), acp.Line(n)...), "\n\n"...)
	}
	return out
}

// delta gives what a model says right now, nothing if that is no part of an answer.
func (v *acpVoice) delta(data []byte) []byte {
	var d runtime.Delta
	if json.Unmarshal(data, &d) != nil {
		return nil
	}
	n, ok := v.voice.Delta(d)
	if !ok {
		return nil
	}
	return append(append([]byte("data: "), acp.Line(n)...), "\n\n"...)
}

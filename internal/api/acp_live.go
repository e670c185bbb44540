package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"

	acp "github.com/coder/acp-go-sdk"
)

// acpVoice says a quest's live stream in the Agent Client Protocol: events become their
// notifications, and what a model says right now becomes chunks of a message or a thought.
//
// A client joins chunks to a message, so what it has had live must not come again with the
// answer: of that only the rest is sent. Chunks that came live say so in their _meta, and
// have no seq. If what came live is not how the answer begins (the model began anew, or
// somebody redacted it), the answer is sent whole: better twice than not at all.
type acpVoice struct {
	ctx    context.Context
	server *Server
	name   string
	// heard is what each agent has said live of the answer that is under way.
	heard map[string]*utterance
	// head is the last event before the stream began.
	head uint64
}

// utterance is what was sent of an answer before it was there.
type utterance struct {
	said map[string]string // by kind of part
	// mute says that the beginning is missing, or void: nothing more of the answer is sent
	// before it is there.
	mute bool
}

// maxHeard is how much of an answer is sent before it is there.
const maxHeard = 1 << 20

// acpVoice is for a stream of an open book that begins now. An agent that is in the middle
// of an answer is not heard before the next: nobody knows how this one began.
func (s *Server) acpVoice(ctx context.Context, b *book) *acpVoice {
	v := &acpVoice{ctx: ctx, server: s, name: b.name, heard: map[string]*utterance{}, head: b.state.Seq}
	for _, a := range b.state.Agents {
		if a.Phase() == agent.Thinking {
			v.of(a.Name).mute = true
		}
	}
	return v
}

// event gives the notifications of an event. The seq comes with the last of them, so that
// a reader who goes on from it misses none.
func (v *acpVoice) event(line []byte) (out []byte) {
	e, err := event.Parse(line)
	if err != nil {
		return nil // it was read before
	}
	t := &translator{server: v.server, ctx: v.ctx, name: v.name, event: e}
	if _, ok := e.Body.(*event.ModelResult); ok {
		if u := v.of(e.Actor); !u.mute {
			t.heard = u.said
		}
		if e.Seq > v.head {
			delete(v.heard, e.Actor) // the next answer begins from nothing
		}
	}
	list := t.notifications()
	for i, n := range list {
		if i == len(list)-1 {
			out = fmt.Appendf(out, "id: %d\n", e.Seq)
		}
		out = append(append(append(out, "data: "...), n...), "\n\n"...)
	}
	return out
}

// delta gives what a model says right now, nothing if that is no part of an answer.
func (v *acpVoice) delta(data []byte) []byte {
	var d struct{ Agent, Kind, Text string }
	if json.Unmarshal(data, &d) != nil {
		return nil
	}
	u := v.of(d.Agent)
	if d.Kind == model.Restart || len(u.said[d.Kind])+len(d.Text) > maxHeard {
		u.mute = true
	}
	update := acp.UpdateAgentMessageText(d.Text)
	switch {
	case u.mute || d.Kind != event.PartText && d.Kind != event.PartThinking:
		return nil
	case d.Kind == event.PartThinking:
		update = acp.UpdateAgentThoughtText(d.Text)
	}
	u.said[d.Kind] += d.Text
	n := notification(v.name, update, map[string]any{"actor": d.Agent, "live": true})
	if n == nil {
		return nil
	}
	return append(append([]byte("data: "), n...), "\n\n"...)
}

func (v *acpVoice) of(name string) *utterance {
	u := v.heard[name]
	if u == nil {
		u = &utterance{said: map[string]string{}}
		v.heard[name] = u
	}
	return u
}

// unheard is what of a part of an answer was not sent live.
func unheard(said map[string]string, kind, text string) string {
	had := said[kind]
	switch {
	case had == "":
		return text
	case strings.HasPrefix(had, text): // the part is said, and of the next one perhaps some
		said[kind] = had[len(text):]
		return ""
	case strings.HasPrefix(text, had):
		delete(said, kind)
		return text[len(had):]
	}
	delete(said, kind)
	return text
}

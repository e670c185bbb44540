package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/runtime"

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
	// heard is what was sent of the answer that an agent is giving. One whose beginning is
	// missing, or void, is not among them: nothing of it is sent before it is there.
	heard map[string]utterance
}

// utterance is what was sent of the answer to a call, by kind of part.
type utterance struct {
	call uint64
	said map[string]string
}

// maxHeard is how much of an answer is sent before it is there.
const maxHeard = 1 << 20

func (s *Server) acpVoice(ctx context.Context, name string) *acpVoice {
	return &acpVoice{ctx: ctx, server: s, name: name, heard: map[string]utterance{}}
}

// event gives the notifications of an event. The seq comes with the last of them, so that
// a reader who goes on from it misses none.
func (v *acpVoice) event(line []byte) (out []byte) {
	e, err := event.Parse(line)
	if err != nil {
		return nil // it was read before
	}
	t := &translator{server: v.server, ctx: v.ctx, name: v.name, event: e}
	if r, ok := e.Body.(*event.ModelResult); ok {
		if u := v.heard[e.Actor]; u.call == r.Call {
			t.heard = u.said
			delete(v.heard, e.Actor)
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
	var d runtime.Delta
	if json.Unmarshal(data, &d) != nil {
		return nil
	}
	if d.First {
		v.heard[d.Agent] = utterance{d.Call, map[string]string{}}
	}
	said := v.heard[d.Agent].said
	if d.Kind == model.Restart || v.heard[d.Agent].call != d.Call || len(said[d.Kind])+len(d.Text) > maxHeard {
		delete(v.heard, d.Agent)
		return nil
	}
	update := acp.UpdateAgentMessageText(d.Text)
	switch {
	case d.Kind != event.PartText && d.Kind != event.PartThinking:
		return nil
	case d.Kind == event.PartThinking:
		update = acp.UpdateAgentThoughtText(d.Text)
	}
	said[d.Kind] += d.Text
	n := notification(v.name, update, map[string]any{"actor": d.Agent, "live": true})
	if n == nil {
		return nil
	}
	return append(append([]byte("data: "), n...), "\n\n"...)
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

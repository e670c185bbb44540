package acp

import (
	"context"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/runtime"

	sdk "github.com/coder/acp-go-sdk"
)

// Voice says a quest's live stream in the Agent Client Protocol: events become their
// notifications, and what a model says right now becomes chunks of a message or a thought.
//
// A client joins chunks to a message, so what it has had live must not come again with the
// answer: of that only the rest is sent. Chunks that came live say so in their _meta, and
// have no seq. If what came live is not how the answer begins (the model began anew, or
// somebody redacted it), the answer is sent whole: better twice than not at all.
//
// A Voice belongs to one reader, and to one goroutine at a time.
type Voice struct {
	// Folder is where the reader has the files that homes begin with, empty if there is no such
	// place: then nothing is said of where files are, for a path of a home means nothing outside.
	// It is set before the first event is told.
	Folder string

	name   string
	reader Reader
	// heard is what was sent of the answer that an agent is giving. One whose beginning is
	// missing, or void, is not among them: nothing of it is sent before it is there.
	heard map[string]utterance
	// diffs are what calls changed that have no result yet.
	diffs map[uint64][]sdk.ToolCallContent
	// beside are agents that work beside the sittings of a study: whoever reviews its papers. speaker is
	// who said the last word since one of them spoke.
	beside  map[string]bool
	speaker string
}

// named is what goes before the words of an agent, so that nobody takes a reviewer's for those of the
// researcher, to whose message a client joins them: the name, where another spoke before.
func (v *Voice) named(agent string) string {
	if agent == v.speaker || v.speaker == "" && !v.beside[agent] {
		return ""
	}
	v.speaker = agent
	return "\n\n**" + agent + ":** "
}

// utterance is what was sent of the answer to a call, by kind of part.
type utterance struct {
	call uint64
	said map[string]string
}

// maxHeard is how much of an answer is sent before it is there.
const maxHeard = 1 << 20

// NewVoice returns one of a quest that nobody has heard yet.
func NewVoice(name string, r Reader) *Voice {
	return &Voice{name: name, reader: r, heard: map[string]utterance{}, diffs: map[uint64][]sdk.ToolCallContent{}, beside: map[string]bool{}}
}

// Event gives the notifications of an event.
func (v *Voice) Event(ctx context.Context, e event.Event) []sdk.SessionNotification {
	t := &translator{reader: v.reader, ctx: ctx, name: v.name, event: e, folder: v.Folder, diffs: v.diffs, voice: v}
	u := v.heard[e.Actor]
	switch r := e.Body.(type) {
	case *event.ReviewBegun:
		v.beside[e.Actor] = true
	case *event.ModelResult, *event.PromptResult:
		if u.call == r.(event.Result).Answers() {
			t.heard = u.said
			delete(v.heard, e.Actor)
		}
	case *event.SaidReported: // and more may be said in the same turn
		if u.call == r.Prompt {
			t.heard = u.said
		}
	}
	out := t.notifications()
	switch b := e.Body.(type) {
	case *event.ToolResult:
		delete(v.diffs, b.Call)
	case *event.QuestStarted:
		clear(v.diffs) // what has no result by now gets none
	}
	return out
}

// Delta gives what a model says right now, nothing if that is no part of an answer.
func (v *Voice) Delta(d runtime.Delta) (n sdk.SessionNotification, ok bool) {
	if d.First {
		v.heard[d.Agent] = utterance{d.Call, map[string]string{}}
	}
	said := v.heard[d.Agent].said
	if d.Kind == model.Restart || v.heard[d.Agent].call != d.Call || len(said[d.Kind])+len(d.Text) > maxHeard {
		delete(v.heard, d.Agent)
		return n, false
	}
	if d.Kind != event.PartText && d.Kind != event.PartThinking {
		return n, false
	}
	said[d.Kind] += d.Text
	update := sdk.UpdateAgentThoughtText(d.Text)
	if d.Kind == event.PartText {
		update = sdk.UpdateAgentMessageText(v.named(d.Agent) + d.Text)
	}
	return notification(v.name, update, map[string]any{"actor": d.Agent, "live": true}), true
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

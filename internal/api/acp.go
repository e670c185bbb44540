package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lyceum/internal/event"

	acp "github.com/coder/acp-go-sdk"
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
		for _, n := range s.translate(ctx, name, e) {
			out.Updates = append(out.Updates, acpUpdate{e.Seq, n})
		}
	}
	return out
}

// translate says an event in the Agent Client Protocol, as the whole session/update
// notifications that an agent would send. Most events of the ledger have no counterpart
// there, and give none.
func (s *Server) translate(ctx context.Context, name string, e event.Event) (out []json.RawMessage) {
	return (&translator{server: s, ctx: ctx, name: name, event: e}).notifications()
}

// notification is one of a session, as it goes over the wire. What Lyceum knows besides
// stands in its _meta.
func notification(name string, u acp.SessionUpdate, more map[string]any) json.RawMessage {
	data, err := json.Marshal(struct {
		Version string                  `json:"jsonrpc"`
		Method  string                  `json:"method"`
		Params  acp.SessionNotification `json:"params"`
	}{"2.0", acp.ClientMethodSessionUpdate, acp.SessionNotification{SessionId: acp.SessionId(name), Update: u, Meta: map[string]any{"lyceum": more}}})
	if err != nil {
		return nil // texts and numbers always encode
	}
	return data
}

// translator is about one event.
type translator struct {
	server *Server
	ctx    context.Context
	name   string
	event  event.Event
	// heard is what a reader has had live of the answer that the event is, by kind of part.
	heard map[string]string
}

func (t *translator) notifications() (out []json.RawMessage) {
	for _, u := range t.updates() {
		if n := notification(t.name, u, map[string]any{"seq": t.event.Seq, "actor": t.event.Actor, "type": t.event.Type}); n != nil {
			out = append(out, n)
		}
	}
	return out
}

// text reads what is shown of a text; what cannot be read is said so in its place.
func (t *translator) text(x event.Text) string {
	text, _, err := t.server.show(t.ctx, x)
	if err != nil {
		return "[this text cannot be read: " + err.Error() + "]"
	}
	return text
}

func (t *translator) updates() []acp.SessionUpdate {
	switch b := t.event.Body.(type) {
	case *event.QuestCreated:
		return []acp.SessionUpdate{acp.UpdateUserMessageText(t.text(b.Problem))}
	case *event.UserMessage:
		return []acp.SessionUpdate{acp.UpdateUserMessageText(t.text(b.Text))}
	case *event.MessageSent:
		if !b.Quiet {
			return []acp.SessionUpdate{acp.UpdateUserMessageText(t.text(b.Text))}
		}
	case *event.AdvisorySent:
		return []acp.SessionUpdate{acp.UpdateUserMessageText(t.text(b.Text))}
	case *event.ModelResult:
		return t.said(b)
	case *event.QuestFinished:
		return t.finished(b)
	case *event.PlanMade, *event.ContractAwarded, *event.TaskCompleted, *event.TaskFailed:
		return t.plan()
	default:
		return t.called()
	}
	return nil
}

// said are the parts of an answer.
func (t *translator) said(b *event.ModelResult) (out []acp.SessionUpdate) {
	for i, p := range b.Parts {
		switch {
		case p.Kind == event.PartText && p.Text != nil:
			if text := unheard(t.heard, p.Kind, t.text(*p.Text)); text != "" {
				out = append(out, acp.UpdateAgentMessageText(text))
			}
		case p.Kind == event.PartThinking && p.Text != nil:
			if text := unheard(t.heard, p.Kind, t.text(*p.Text)); text != "" {
				out = append(out, acp.UpdateAgentThoughtText(text))
			}
		case p.Kind == event.PartToolCall:
			out = append(out, acp.StartToolCall(toolID(t.event.Seq, int64(i)), p.Name, acp.WithStartKind(toolKind(p.Name)),
				acp.WithStartStatus(acp.ToolCallStatusPending), acp.WithStartRawInput(t.input(p.Args))))
		}
	}
	return out
}

// input are the arguments of a tool: JSON, if the model kept to it.
func (t *translator) input(args *event.Text) any {
	if args == nil {
		return map[string]any{}
	}
	text := t.text(*args)
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return map[string]any{"text": text}
	}
	return v
}

// finished is the answer, unless an agent has just said it.
func (t *translator) finished(b *event.QuestFinished) []acp.SessionUpdate {
	if t.event.Parent > 0 {
		if cause, _, err := t.server.one(t.ctx, t.name, t.event.Parent); err == nil && cause.Type == "model.result" {
			return nil
		}
	}
	return []acp.SessionUpdate{acp.UpdateAgentMessageText(t.text(b.Answer))}
}

// called are the steps of calls, of tools and of the rules' own.
func (t *translator) called() []acp.SessionUpdate {
	one := func(u acp.SessionUpdate) []acp.SessionUpdate { return []acp.SessionUpdate{u} }
	switch b := t.event.Body.(type) {
	case *event.ToolCall:
		return one(acp.UpdateToolCall(toolID(b.Answer, b.Part), acp.WithUpdateStatus(acp.ToolCallStatusInProgress)))
	case *event.PolicyBlocked:
		if b.Answer != 0 {
			return one(outcome(toolID(b.Answer, b.Part), true, lineOf(t.event)))
		}
	case *event.ToolResult:
		return t.result(b.Call, b.Error, t.text(b.Output))
	case *event.ToolAnswered:
		return t.result(b.Call, b.Error, t.text(b.Output))
	case *event.SearchCall:
		return one(acp.StartToolCall(callID(t.event.Seq), lineOf(t.event), acp.WithStartKind(acp.ToolKindSearch), acp.WithStartStatus(acp.ToolCallStatusInProgress)))
	case *event.ComputeCall:
		return one(acp.StartToolCall(callID(t.event.Seq), lineOf(t.event), acp.WithStartKind(acp.ToolKindExecute), acp.WithStartStatus(acp.ToolCallStatusInProgress)))
	case *event.SearchResult:
		text := b.Error
		for _, a := range b.Anchors {
			text += fmt.Sprintf("%s, paragraph %d: %s\n", a.Doc, a.Paragraph, a.Snippet)
		}
		return one(outcome(callID(b.Call), b.Error != "", text))
	case *event.ComputeResult:
		return one(outcome(callID(b.Call), b.Error != "", b.Error+t.text(b.Output)))
	}
	return nil
}

// result is that of a tool. Which part of which answer called for it stands in the call.
func (t *translator) result(call uint64, failed bool, text string) []acp.SessionUpdate {
	e, _, err := t.server.one(t.ctx, t.name, call)
	if err != nil {
		return nil
	}
	switch b := e.Body.(type) {
	case *event.ToolCall:
		return []acp.SessionUpdate{outcome(toolID(b.Answer, b.Part), failed, text)}
	case *event.PolicyBlocked:
		return []acp.SessionUpdate{outcome(toolID(b.Answer, b.Part), failed, text)}
	}
	return nil
}

func outcome(id acp.ToolCallId, failed bool, text string) acp.SessionUpdate {
	status := acp.ToolCallStatusCompleted
	if failed {
		status = acp.ToolCallStatusFailed
	}
	return acp.UpdateToolCall(id, acp.WithUpdateStatus(status), acp.WithUpdateContent([]acp.ToolCallContent{acp.ToolContent(acp.TextBlock(text))}))
}

func toolID(answer uint64, part int64) acp.ToolCallId {
	return acp.ToolCallId(fmt.Sprintf("%d-%d", answer, part))
}

func callID(seq uint64) acp.ToolCallId { return acp.ToolCallId(fmt.Sprintf("call-%d", seq)) }

// toolKind is what a client draws a tool as.
func toolKind(name string) acp.ToolKind {
	switch {
	case strings.HasPrefix(name, "read"), strings.HasPrefix(name, "list"), strings.HasPrefix(name, "get"):
		return acp.ToolKindRead
	case strings.HasPrefix(name, "write"), strings.HasPrefix(name, "edit"):
		return acp.ToolKindEdit
	case strings.Contains(name, "search"), strings.HasPrefix(name, "grep"), strings.HasPrefix(name, "find"), strings.HasPrefix(name, "glob"):
		return acp.ToolKindSearch
	case strings.HasPrefix(name, "exec"), strings.HasPrefix(name, "run"), name == "calculate":
		return acp.ToolKindExecute
	}
	return acp.ToolKindOther
}

// plan is how the work stands after an event: all parts of it, as the protocol wants it
// each time, with those that a later round has added.
func (t *translator) plan() []acp.SessionUpdate {
	b, done, err := t.server.shelf.open(t.ctx, t.name)
	if err != nil {
		return nil
	}
	nodes, _, _ := b.Canvas.Graph(0, maxNodes)
	done()
	entries := []acp.PlanEntry{}
	for _, n := range nodes {
		if n.Kind != "task" || n.Seq > t.event.Seq {
			continue
		}
		stands := ""
		for _, c := range n.Changes {
			if c.Seq <= t.event.Seq {
				stands = c.Status
			}
		}
		text, status := n.Label, acp.PlanEntryStatusPending
		if n.Detail != "" {
			text += ": " + n.Detail
		}
		switch stands {
		case "awarded":
			status = acp.PlanEntryStatusInProgress
		case "completed":
			status = acp.PlanEntryStatusCompleted
		case "failed": // the protocol has no word for it
			text, status = text+" (could not be done)", acp.PlanEntryStatusCompleted
		}
		entries = append(entries, acp.PlanEntry{Content: text, Priority: acp.PlanEntryPriorityMedium, Status: status})
	}
	return []acp.SessionUpdate{acp.UpdatePlan(entries...)}
}

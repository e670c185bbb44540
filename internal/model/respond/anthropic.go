package respond

import (
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json/jsontext"
)

// Anthropic is the Messages API.
type Anthropic struct{}

// Redacted begins the opaque part of a thought that only the provider can read.
const Redacted = "redacted:"

var anthropicStops = map[string]string{model.StopEnd: "end_turn", model.StopTools: "tool_use", model.StopLength: "max_tokens", model.StopRefusal: "refusal"}

// Stream implements Format.
func (Anthropic) Stream(send Send, a *Answer) {
	u := a.Usage
	input := map[string]any{
		"input_tokens": u.Input - u.Cached - u.CacheWrites, "cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": u.CacheWrites,
	}
	start := map[string]any{"output_tokens": min(u.Output, 1), "service_tier": "standard"}
	end := map[string]any{"output_tokens": u.Output, "output_tokens_details": map[string]any{"thinking_tokens": u.Thinking}}
	for k, v := range input {
		start[k] = v
		if u.Cached > 0 {
			end[k] = v // newer servers repeat it
		}
	}
	put := func(kind string, fields map[string]any) bool {
		fields["type"] = kind
		return send(kind, string(Write(fields)))
	}
	ok := put("message_start", map[string]any{"message": map[string]any{
		"id": "msg_" + a.ID, "type": "message", "role": "assistant", "model": a.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": start,
	}}) && put("ping", map[string]any{})
	for i, p := range a.Parts {
		ok = ok && anthropicBlock(a, put, i, p)
	}
	_ = ok && put("message_delta", map[string]any{"delta": map[string]any{"stop_reason": anthropicStops[a.Stop], "stop_sequence": nil}, "usage": end}) && put("message_stop", map[string]any{})
}

// anthropicBlock streams a part, in pieces.
func anthropicBlock(a *Answer, put func(string, map[string]any) bool, i int, p model.Part) bool {
	start := map[string]any{"type": "text", "text": ""}
	kind, field, whole := "text_delta", "text", p.Text
	switch data, sealed := strings.CutPrefix(p.Opaque, Redacted); {
	case p.Kind == event.PartThinking && sealed:
		start, whole = map[string]any{"type": "redacted_thinking", "data": data}, ""
	case p.Kind == event.PartThinking:
		start, kind, field = map[string]any{"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", "thinking"
	case p.Kind == event.PartToolCall:
		start, kind, field, whole = map[string]any{"type": "tool_use", "id": p.ID, "name": p.Name, "input": map[string]any{}}, "input_json_delta", "partial_json", p.Args
	}
	ok := put("content_block_start", map[string]any{"index": i, "content_block": start})
	delta := func(kind, field, text string) bool {
		return put("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": kind, field: text}})
	}
	if p.Kind == event.PartToolCall {
		ok = ok && delta(kind, field, "")
	}
	for _, piece := range pieces(whole, 3) {
		ok = ok && delta(kind, field, piece)
	}
	if start["type"] == "thinking" {
		ok = ok && delta("signature_delta", "signature", a.seal(p, ""))
	}
	return ok && put("content_block_stop", map[string]any{"index": i})
}

// Whole implements Format.
func (Anthropic) Whole(a *Answer) []byte {
	content := []any{}
	for _, p := range a.Parts {
		switch data, sealed := strings.CutPrefix(p.Opaque, Redacted); {
		case p.Kind == event.PartThinking && sealed:
			content = append(content, map[string]any{"type": "redacted_thinking", "data": data})
		case p.Kind == event.PartThinking:
			content = append(content, map[string]any{"type": "thinking", "thinking": p.Text, "signature": a.seal(p, "")})
		case p.Kind == event.PartToolCall:
			content = append(content, map[string]any{"type": "tool_use", "id": p.ID, "name": p.Name, "input": jsontext.Value(args(p))})
		default:
			content = append(content, map[string]any{"type": "text", "text": p.Text})
		}
	}
	u := a.Usage
	return Write(map[string]any{
		"id": "msg_" + a.ID, "type": "message", "role": "assistant", "model": a.Model, "content": content, "stop_reason": anthropicStops[a.Stop], "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens": u.Input - u.Cached - u.CacheWrites, "cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": u.CacheWrites, "output_tokens": u.Output,
		},
	})
}

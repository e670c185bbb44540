package respond

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// Responses is the Responses API.
type Responses struct{}

// Stream implements Format: an item for each part, and then all of them once more.
func (Responses) Stream(send Send, a *Answer) {
	s := &responsesSender{send: send, answer: a}
	s.event("response.created", map[string]any{"response": s.response("in_progress")})
	s.event("response.in_progress", map[string]any{"response": s.response("in_progress")})
	end := s.say()
	s.event("response."+end, map[string]any{"response": s.response(end)})
}

// Whole implements Format.
func (Responses) Whole(a *Answer) []byte {
	s := &responsesSender{answer: a, gone: true}
	return Write(s.response(s.say()))
}

// say sends the items, and returns how it ends.
func (s *responsesSender) say() string {
	for _, p := range s.answer.Parts {
		switch p.Kind {
		case event.PartThinking:
			s.thought(p)
		case event.PartText:
			s.text(p, s.answer.Stop == model.StopRefusal)
		case event.PartToolCall:
			s.call(p)
		}
	}
	if s.answer.Stop == model.StopLength {
		return "incomplete"
	}
	return "completed"
}

// Began is the first event of a response.
func (Responses) Began(send Send, a *Answer) {
	s := &responsesSender{send: send, answer: a}
	s.event("response.created", map[string]any{"response": s.response("in_progress")})
}

// responsesSender sends events until nobody listens.
type responsesSender struct {
	send   Send
	answer *Answer
	gone   bool
	count  int
	items  []any
}

func (s *responsesSender) event(name string, fields map[string]any) {
	if s.gone {
		return
	}
	fields["type"], fields["sequence_number"] = name, s.count
	s.count++
	s.gone = !s.send(name, string(Write(fields)))
}

func (s *responsesSender) response(status string) map[string]any {
	out := map[string]any{
		"id": "resp_" + s.answer.ID, "object": "response", "created_at": s.answer.Created, "status": status,
		"error": nil, "incomplete_details": nil, "model": s.answer.Model, "output": []any{}, "store": false, "usage": nil,
	}
	if status == "in_progress" {
		return out
	}
	if status == "incomplete" {
		out["incomplete_details"] = map[string]any{"reason": "max_output_tokens"}
	}
	u := s.answer.Usage
	input := map[string]any{"cached_tokens": u.Cached}
	if u.CacheWrites > 0 {
		input["cache_write_tokens"] = u.CacheWrites
	}
	out["output"] = slices.Concat([]any{}, s.items)
	out["usage"] = map[string]any{
		"input_tokens": u.Input, "input_tokens_details": input, "output_tokens": u.Output,
		"output_tokens_details": map[string]any{"reasoning_tokens": u.Thinking}, "total_tokens": u.Input + u.Output,
	}
	return out
}

// item sends one, with what comes between its beginning and its end.
func (s *responsesSender) item(begun, done map[string]any, between func(at func(name string, fields map[string]any))) {
	place := len(s.items)
	s.event("response.output_item.added", map[string]any{"output_index": place, "item": begun})
	between(func(name string, fields map[string]any) {
		fields["output_index"], fields["item_id"] = place, done["id"]
		s.event(name, fields)
	})
	s.event("response.output_item.done", map[string]any{"output_index": place, "item": done})
	s.items = append(s.items, done)
}

func (s *responsesSender) id(kind string) string { return fmt.Sprintf("%s_%048d", kind, len(s.items)) }

func (s *responsesSender) thought(p model.Part) {
	id := s.id("rs")
	done := map[string]any{"id": id, "type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": p.Text}}}
	if p.Opaque != "" {
		done["encrypted_content"] = s.answer.seal(p, id)
	}
	s.item(map[string]any{"id": id, "type": "reasoning", "summary": []any{}}, done, func(at func(string, map[string]any)) {
		at("response.reasoning_summary_part.added", map[string]any{"summary_index": 0, "part": map[string]any{"type": "summary_text", "text": ""}})
		for _, piece := range pieces(p.Text, 4) {
			at("response.reasoning_summary_text.delta", map[string]any{"summary_index": 0, "delta": piece, "obfuscation": "xyz"})
		}
		at("response.reasoning_summary_text.done", map[string]any{"summary_index": 0, "text": p.Text})
		at("response.reasoning_summary_part.done", map[string]any{"summary_index": 0, "part": map[string]any{"type": "summary_text", "text": p.Text}})
	})
}

func (s *responsesSender) text(p model.Part, refuses bool) {
	id := s.id("msg")
	kind, field, word := "output_text", "text", map[string]any{"type": "output_text", "annotations": []any{}, "logprobs": []any{}, "text": p.Text}
	if refuses {
		kind, field, word = "refusal", "refusal", map[string]any{"type": "refusal", "refusal": p.Text}
	}
	message := func(status string, content ...any) map[string]any {
		return map[string]any{"id": id, "type": "message", "status": status, "role": "assistant", "content": slices.Concat([]any{}, content)}
	}
	s.item(message("in_progress"), message("completed", word), func(at func(string, map[string]any)) {
		at("response.content_part.added", map[string]any{"content_index": 0, "part": map[string]any{"type": kind, field: ""}})
		for _, piece := range pieces(p.Text, 4) {
			at("response."+kind+".delta", map[string]any{"content_index": 0, "delta": piece, "logprobs": []any{}})
		}
		at("response."+kind+".done", map[string]any{"content_index": 0, field: p.Text})
		at("response.content_part.done", map[string]any{"content_index": 0, "part": word})
	})
}

func (s *responsesSender) call(p model.Part) {
	id := s.id("fc")
	call := func(status, args string) map[string]any {
		return map[string]any{"id": id, "type": "function_call", "status": status, "arguments": args, "call_id": p.ID, "name": p.Name}
	}
	s.item(call("in_progress", ""), call("completed", p.Args), func(at func(string, map[string]any)) {
		for _, piece := range pieces(p.Args, 4) {
			at("response.function_call_arguments.delta", map[string]any{"delta": piece, "obfuscation": "xyz"})
		}
		at("response.function_call_arguments.done", map[string]any{"arguments": p.Args})
	})
}

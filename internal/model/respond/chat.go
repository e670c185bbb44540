package respond

import (
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// Chat is Chat Completions.
type Chat struct {
	// Details says that opaque parts are sent, as reasoning_details.
	Details bool
}

var chatStops = map[string]string{model.StopEnd: "stop", model.StopTools: "tool_calls", model.StopLength: "length", model.StopRefusal: "content_filter"}

// Stream implements Format: what is thought, what is said, and the calls.
func (c Chat) Stream(send Send, a *Answer) {
	s := &chatSender{send: send, answer: a}
	s.delta(map[string]any{"role": "assistant", "content": "", "refusal": nil})
	calls := 0
	for _, p := range a.Parts {
		switch p.Kind {
		case event.PartThinking:
			for _, piece := range pieces(p.Text, 4) {
				s.delta(map[string]any{"reasoning_content": piece})
			}
			if p.Opaque != "" && c.Details {
				s.delta(map[string]any{"reasoning_details": []any{map[string]any{"type": "reasoning.encrypted", "index": 0, "data": a.seal(p, "")}}})
			}
		case event.PartText:
			field := "content"
			if a.Stop == model.StopRefusal {
				field = "refusal"
			}
			for _, piece := range pieces(p.Text, 4) {
				s.delta(map[string]any{field: piece})
			}
		case event.PartToolCall:
			s.call(calls, p)
			calls++
		}
	}
	s.chunk([]any{map[string]any{"index": 0, "delta": map[string]any{}, "logprobs": nil, "finish_reason": chatStops[a.Stop]}}, nil)
	s.chunk([]any{}, chatUsage(a.Usage))
	if !s.gone {
		send("", "[DONE]")
	}
}

// chatSender sends chunks until nobody listens.
type chatSender struct {
	send   Send
	answer *Answer
	gone   bool
}

func (s *chatSender) chunk(choices []any, usage any) {
	if s.gone {
		return
	}
	s.gone = !s.send("", string(Write(map[string]any{
		"id": "chatcmpl-" + s.answer.ID, "object": "chat.completion.chunk", "created": s.answer.Created, "model": s.answer.Model,
		"system_fingerprint": "fp_44709d6fcb", "choices": choices, "usage": usage,
	})))
}

func (s *chatSender) delta(delta map[string]any) {
	s.chunk([]any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": nil}}, nil)
}

// call sends the name first and the arguments in fragments.
func (s *chatSender) call(index int, p model.Part) {
	s.delta(map[string]any{"tool_calls": []any{map[string]any{
		"index": index, "id": p.ID, "type": "function", "function": map[string]any{"name": p.Name, "arguments": ""},
	}}})
	for _, piece := range pieces(p.Args, 4) {
		s.delta(map[string]any{"tool_calls": []any{map[string]any{"index": index, "function": map[string]any{"arguments": piece}}}})
	}
}

func chatUsage(u event.Usage) any {
	input := map[string]any{"cached_tokens": u.Cached, "audio_tokens": 0}
	if u.CacheWrites > 0 {
		input["cache_write_tokens"] = u.CacheWrites
	}
	return map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     input,
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.Thinking, "audio_tokens": 0},
	}
}

// Whole implements Format.
func (Chat) Whole(a *Answer) []byte {
	var text, thought strings.Builder
	var calls []any
	for _, p := range a.Parts {
		switch p.Kind {
		case event.PartThinking:
			thought.WriteString(p.Text)
		case event.PartText:
			text.WriteString(p.Text)
		case event.PartToolCall:
			calls = append(calls, map[string]any{"id": p.ID, "type": "function", "function": map[string]any{"name": p.Name, "arguments": p.Args}})
		}
	}
	message := map[string]any{"role": "assistant", "content": text.String(), "refusal": nil}
	if thought.Len() > 0 {
		message["reasoning_content"] = thought.String()
	}
	if calls != nil {
		message["tool_calls"] = calls
		if text.Len() == 0 {
			message["content"] = nil
		}
	}
	return Write(map[string]any{
		"id": "chatcmpl-" + a.ID, "object": "chat.completion", "created": a.Created, "model": a.Model, "usage": chatUsage(a.Usage),
		"choices": []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": chatStops[a.Stop]}},
	})
}

package modeltest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/respond"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ChatWire is Chat Completions, with the thoughts that compatible servers add in
// reasoning_content.
type ChatWire struct {
	// Details adds reasoning_details, which is where OpenRouter has what is opaque.
	Details bool
	// Keeps wants to see the thoughts of each call again, as Kimi does.
	Keeps bool
}

var _ Wire = ChatWire{}

type chatBody struct {
	Model           string         `json:"model"`
	Messages        []chatSaid     `json:"messages"`
	Stream          bool           `json:"stream"`
	StreamOptions   *streamOptions `json:"stream_options"`
	MaxTokens       int64          `json:"max_tokens"`
	MaxCompletion   int64          `json:"max_completion_tokens"`
	Tools           []chatOffer    `json:"tools"`
	ReasoningEffort string         `json:"reasoning_effort"`
	PromptCacheKey  string         `json:"prompt_cache_key"`
	Stop            []string       `json:"stop"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatOffer struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
	} `json:"function"`
}

type chatSaid struct {
	Role       string            `json:"role"`
	Content    jsontext.Value    `json:"content"`
	ToolCallID string            `json:"tool_call_id"`
	Reasoning  string            `json:"reasoning_content"`
	Details    []reasoningDetail `json:"reasoning_details"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string  `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type reasoningDetail struct {
	Type  string `json:"type"`
	Index int64  `json:"index"`
	Data  string `json:"data"`
}

// Read refuses what OpenAI refuses.
func (c ChatWire) Read(r *http.Request, data []byte) (*Seen, error) {
	key, err := openAIHead(r, "/chat/completions")
	if err != nil {
		return nil, err
	}
	var b chatBody
	if err := openAIStrict(data, &b); err != nil {
		return nil, err
	}
	switch {
	case b.Model == "":
		return nil, errors.New("you must provide a model parameter")
	case !b.Stream || b.StreamOptions == nil || !b.StreamOptions.IncludeUsage:
		return nil, errors.New("the answer would come at once, or without its usage")
	case b.MaxTokens != 0 && b.MaxCompletion != 0:
		return nil, errors.New("setting max_tokens and max_completion_tokens at the same time is not supported")
	}
	seen := &Seen{
		Key: key, Model: b.Model, MaxTokens: cmp.Or(b.MaxTokens, b.MaxCompletion),
		Thinking: b.ReasoningEffort != "", CachedMessages: -1,
	}
	for _, t := range b.Tools {
		tool, err := openAITool(t.Function.Name, t.Function.Description, t.Function.Parameters)
		if err != nil || t.Type != "function" {
			return nil, cmp.Or(err, fmt.Errorf("unknown type of tool %q", t.Type))
		}
		seen.Tools = append(seen.Tools, tool)
	}
	if len(b.Messages) > 0 && b.Messages[0].Role == "system" {
		if json.Unmarshal(b.Messages[0].Content, &seen.System) != nil || seen.System == "" {
			return nil, errors.New("the system's message must be a text")
		}
		b.Messages = b.Messages[1:]
	}
	seen.Messages, err = c.messages(b.Messages)
	return seen, err
}

func (c ChatWire) messages(list []chatSaid) ([]model.Message, error) {
	var t openAITranscript
	var open []string // calls that wait for their message
	last := ""
	for i, m := range list {
		fail := func(format string, args ...any) ([]model.Message, error) {
			return nil, fmt.Errorf("messages[%d]: %s", i, fmt.Sprintf(format, args...))
		}
		if len(open) > 0 && m.Role != "tool" {
			return fail("an assistant message with tool_calls must be followed by tool messages; missing for %v", open)
		}
		if m.Role != "assistant" && (m.ToolCalls != nil || m.Reasoning != "" || m.Details != nil) || m.Role != "tool" && m.ToolCallID != "" {
			return fail("a %s's message has a field of another", m.Role)
		}
		switch m.Role {
		case "user":
			parts, err := chatContent(m.Content)
			if err != nil || len(parts) == 0 || last == "user" {
				return fail("no words of the user's, or twice in a row: %v", err)
			}
			t.add(model.User, parts...)
		case "tool":
			var text string
			if len(open) == 0 || open[0] != m.ToolCallID {
				return fail("a tool message must answer a preceding call, but %q is none of %v", m.ToolCallID, open)
			}
			if err := json.Unmarshal(m.Content, &text); err != nil {
				return fail("%v", err)
			}
			open = open[1:]
			t.add(model.User, openAIResult(m.ToolCallID, text))
		case "assistant":
			if last == "assistant" {
				return fail("two assistant messages in a row")
			}
			parts, err := chatAssistant(m)
			if err != nil {
				return fail("%v", err)
			}
			if c.Keeps && m.ToolCalls != nil && m.Reasoning == "" {
				return fail("reasoning_content is missing in assistant tool call message")
			}
			for _, call := range m.ToolCalls {
				open = append(open, call.ID)
			}
			t.add(model.Assistant, parts...)
		default:
			return fail("the role %q is none here", m.Role)
		}
		last = m.Role
	}
	if len(open) > 0 || last != "user" && last != "tool" {
		return nil, fmt.Errorf("the conversation ends with %q, and %v have no answer", last, open)
	}
	return t, nil
}

// chatContent reads a string or a list of pieces.
func chatContent(raw jsontext.Value) ([]model.Part, error) {
	if raw.Kind() == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil || text == "" {
			return nil, err
		}
		return []model.Part{{Kind: event.PartText, Text: text}}, nil
	}
	var list []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := openAIStrict(raw, &list); err != nil {
		return nil, err
	}
	var parts []model.Part
	for _, c := range list {
		part := model.Part{Kind: event.PartText, Text: c.Text}
		var err error
		switch c.Type {
		case "text":
		case "image_url":
			part, err = openAIImage(c.ImageURL.URL)
		default:
			err = fmt.Errorf("invalid content type %q", c.Type)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func chatAssistant(m chatSaid) ([]model.Part, error) {
	var parts []model.Part
	opaque := ""
	if m.Details != nil {
		d := m.Details[0]
		if len(m.Details) != 1 || d.Type != "reasoning.encrypted" {
			return nil, errors.New("reasoning_details were changed")
		}
		own, err := openAIOpen(d.Data, "")
		if err != nil {
			return nil, err
		}
		opaque = own
	}
	if m.Reasoning != "" || opaque != "" {
		parts = append(parts, model.Part{Kind: event.PartThinking, Text: m.Reasoning, Opaque: opaque})
	}
	if len(m.Content) == 0 {
		return nil, errors.New("content is missing")
	}
	if m.Content.Kind() != 'n' {
		texts, err := chatContent(m.Content)
		if err != nil || len(texts) == 0 {
			return nil, fmt.Errorf("the content is empty, or %v", err)
		}
		parts = append(parts, texts...)
	} else if m.ToolCalls == nil {
		return nil, errors.New("content may be null only beside tool_calls")
	}
	ids := make(map[string]bool)
	for _, c := range m.ToolCalls {
		if c.Type != "function" || c.ID == "" || len(c.ID) > 40 || ids[c.ID] || !openAIName.MatchString(c.Function.Name) || c.Function.Arguments == nil {
			return nil, fmt.Errorf("the call %q of %q is no call", c.ID, c.Function.Name)
		}
		ids[c.ID] = true
		parts = append(parts, model.Part{Kind: event.PartToolCall, ID: c.ID, Name: c.Function.Name, Args: *c.Function.Arguments})
	}
	return parts, nil
}

// Answer streams chunks: what is thought, what is said, and the calls.
func (c ChatWire) Answer(send Send, _ http.Header, r Reply) {
	respond.Chat{Details: c.Details}.Stream(respond.Send(send), &respond.Answer{
		ID: "B9MBs8CjcvOU2jLn4n570S5qMJKcT", Model: "model-1", Created: 1741569952, Parts: r.Parts, Usage: r.Usage, Stop: r.Stop,
		Seal: func(p model.Part, _ string) string { return openAISeal(p.Opaque, "") },
	})
}

// Refuse words a failure as OpenAI does; in the stream, as OpenRouter does.
func (ChatWire) Refuse(w http.ResponseWriter, f Failure) {
	if f != InStream {
		refuseOpenAI(w, f)
		return
	}
	send := openAIStream(w)
	send("", openAIJSON(map[string]any{
		"id": "cmpl-abc123", "object": "chat.completion.chunk", "created": 1234567890, "model": "model-1",
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": "Let me"}, "finish_reason": nil}},
	}))
	send("", openAIJSON(map[string]any{
		"id": "cmpl-abc123", "object": "chat.completion.chunk", "created": 1234567890, "model": "model-1",
		"error":   map[string]any{"code": 502, "message": "Provider disconnected unexpectedly"},
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": ""}, "finish_reason": "error"}},
	}))
}

package openai

import (
	"context"
	"errors"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json/jsontext"
)

// Chat is a model behind a server that speaks Chat Completions.
//
// The opaque part of a thought is the reasoning_details that came with it, which
// only OpenRouter sends.
type Chat struct {
	client *wire.Client
	opts   Options
}

var _ model.Model = (*Chat)(nil)

// NewChat returns the driver for the server that c reaches.
func NewChat(c *wire.Client, opts Options) *Chat {
	return &Chat{client: with(c), opts: opts}
}

// Generate asks for one completion and reads it to its end. It leaves the usage
// zero if the server does not tell it.
func (m *Chat) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	if emit == nil {
		emit = func(model.Delta) {}
	}
	s := &chatStream{client: m.client, provider: m.opts.Provider, emit: emit}
	body, err := m.request(r)
	if err != nil {
		return nil, err
	}
	request, err := m.client.Stream(ctx, "/chat/completions", body, s.event)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case s.err != nil:
		return nil, s.err
	case s.whole(m.opts.NoStreamOptions):
		return requested(request, s.id)(s.answer(r))
	case err == nil:
		err = m.client.Cut()
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		e.Usage = s.usage
	}
	return nil, err
}

func (m *Chat) request(r *model.Request) (wire.Body, error) {
	l := list{name: "messages", fields: m.fields, fits: m.fits, items: m.items}
	if r.System != "" {
		l.head = []any{chatMessage{Role: "system", Content: r.System}}
	}
	return l.write(m, r)
}

// fields are a request without its messages.
func (m *Chat) fields(r *model.Request) map[string]any {
	fields := map[string]any{
		"model":  r.Model,
		"stream": true,
	}
	if !m.opts.NoStreamOptions {
		fields["stream_options"] = map[string]bool{"include_usage": true}
	}
	if n := m.opts.maxTokens(r); n > 0 {
		name := m.opts.MaxTokensField
		if name == "" {
			name = "max_tokens"
		}
		fields[name] = n
	}
	if len(r.Tools) > 0 {
		fields["tools"] = chatTools(r.Tools)
	}
	if effort := m.opts.effort(r); r.Thinking && effort != "" {
		fields["reasoning_effort"] = effort
	}
	if m.opts.CacheKey {
		fields["prompt_cache_key"] = cacheKey(r)
	}
	fields = m.opts.body(r, fields)
	if r.Thinking && r.Effort != "" && m.opts.EffortIn == EffortReasoning {
		fields["reasoning"] = reasoningOf(r.Effort)
	}
	return fields
}

// reasoningOf is how OpenRouter is told how much to think: in a word, or in tokens.
func reasoningOf(e model.Effort) map[string]any {
	if string(e) == e.Word() {
		return map[string]any{"effort": e.Word()}
	}
	return map[string]any{"max_tokens": e.Tokens()}
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"`
}

func chatTools(tools []model.Tool) []chatTool {
	var list []chatTool
	for _, t := range tools {
		list = append(list, chatTool{Type: "function", Function: chatFunction{Name: t.Name, Description: t.Description, Parameters: parameters(t)}})
	}
	return list
}

type chatMessage struct {
	Role string `json:"role"`
	// Content is a string, a list of chatContent, or nothing beside calls.
	Content any        `json:"content"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitzero"`
	// Reasoning is the thoughts, in the field that the server reads them from.
	Reasoning map[string]string `json:",inline"`
	Details   jsontext.Value    `json:"reasoning_details,omitzero"`
}

type chatContent struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitzero"`
	ImageURL *imageURL `json:"image_url,omitzero"`
}

type imageURL struct {
	URL string `json:"url"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function calledByName `json:"function"`
}

type calledByName struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// items are a turn in the list of messages.
func (m *Chat) items(t turn) (items []any) {
	if t.Role == model.Assistant {
		return []any{m.said(t.Parts)}
	}
	for _, x := range m.asked(t.Parts) {
		items = append(items, x)
	}
	return items
}

// fits reports whether an id can be sent. OpenAI takes up to forty bytes here.
func (m *Chat) fits(id string) bool {
	if m.opts.ShortIDs {
		return isShortID(id)
	}
	return id != "" && len(id) <= 40
}

// said is an assistant's message.
func (m *Chat) said(parts []model.Part) chatMessage {
	out := chatMessage{Role: "assistant"}
	var thoughts []string
	var words []chatContent
	for _, p := range parts {
		switch p.Kind {
		case event.PartText:
			words = append(words, chatContent{Type: "text", Text: p.Text})
		case event.PartToolCall:
			out.Calls = append(out.Calls, chatCall{ID: p.ID, Type: "function", Function: calledByName{Name: toolName(p.Name), Arguments: arguments(p)}})
		case event.PartThinking:
			own, ok := model.Own(m.opts.Provider, p.Opaque)
			if v := jsontext.Value(own); ok && v.IsValid() && v.Kind() == '[' {
				out.Details = v
			}
			if (ok || p.Opaque == "") && p.Text != "" {
				thoughts = append(thoughts, p.Text)
			}
		}
	}
	if words != nil {
		out.Content = m.content(words)
	}
	if m.opts.ReasoningField != "" {
		if thoughts == nil && out.Calls != nil {
			thoughts = []string{" "} // Kimi takes an empty field for a missing one
		}
		if thoughts != nil {
			out.Reasoning = map[string]string{m.opts.ReasoningField: strings.Join(thoughts, "\n\n")}
		}
	}
	return out
}

// asked is the results of tools, one message each, and then the user's words. The
// format takes pictures from the user alone, so those of results come there too.
func (m *Chat) asked(parts []model.Part) []chatMessage {
	var list []chatMessage
	var words []chatContent
	for _, p := range parts {
		switch p.Kind {
		case model.PartToolResult:
			list = append(list, chatMessage{Role: "tool", CallID: p.ID, Content: output(p)})
			for i, x := range p.Pictures {
				if i == 0 {
					words = append(words, chatContent{Type: "text", Text: picturesOf(p)})
				}
				words = append(words, chatContent{Type: "image_url", ImageURL: &imageURL{URL: dataURL(x)}})
			}
		case event.PartText:
			words = append(words, chatContent{Type: "text", Text: p.Text})
		case model.PartImage:
			words = append(words, chatContent{Type: "image_url", ImageURL: &imageURL{URL: dataURL(p)}})
		}
	}
	if words == nil {
		return list
	}
	if list != nil && m.opts.AfterTools != "" {
		list = append(list, chatMessage{Role: "assistant", Content: m.opts.AfterTools})
	}
	return append(list, chatMessage{Role: "user", Content: m.content(words)})
}

// content is a string if it can be one: every server reads that.
func (m *Chat) content(words []chatContent) any {
	var texts []string
	for _, w := range words {
		if w.Type != "text" {
			return words
		}
		texts = append(texts, w.Text)
	}
	if len(texts) > 1 && !m.opts.PlainText {
		return words
	}
	return strings.Join(texts, "\n\n")
}

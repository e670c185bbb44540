package openai

import (
	"cmp"
	"context"
	"regexp"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Responses is a model behind OpenAI's Responses API.
//
// The opaque part of a thought is its reasoning item, whole; that of a text is the
// phase that OpenAI gave the message, where it gave one.
type Responses struct {
	client *wire.Client
	opts   Options
}

var _ model.Model = (*Responses)(nil)

// NewResponses returns the driver for the server that c reaches.
func NewResponses(c *wire.Client, opts Options) *Responses {
	return &Responses{client: with(c), opts: opts}
}

// Generate asks for one response and reads it to its end.
func (m *Responses) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	if emit == nil {
		emit = func(model.Delta) {}
	}
	s := &responsesStream{client: m.client, provider: m.opts.Provider, emit: emit}
	body, err := m.request(r)
	if err != nil {
		return nil, err
	}
	request, err := m.client.Stream(ctx, "/responses", body, s.event)
	if err != nil {
		return nil, err
	}
	if !s.whole {
		return nil, m.client.Cut()
	}
	return requested(request, wire.Word(s.final.ID))(s.answer(r))
}

// requested adds to an answer what the provider calls the request by: in its header, or in what it said.
func requested(header, said string) func(*model.Answer, error) (*model.Answer, error) {
	return func(a *model.Answer, err error) (*model.Answer, error) {
		if a != nil {
			a.Request = cmp.Or(header, said)
		}
		return a, err
	}
}

// reasoning models are those from GPT 5 on, and the o series; those named chat are
// not. The others refuse to hear of reasoning.
var reasoning = regexp.MustCompile(`^(?:gpt-(?:[5-9]|[1-9]\d)|o\d|codex-)`)

func reasons(name string) bool {
	return reasoning.MatchString(name) && !strings.Contains(name, "-chat")
}

// minOutput is the least that OpenAI takes for a limit.
const minOutput = 16

func (m *Responses) request(r *model.Request) (wire.Body, error) {
	l := list{name: "input", fields: m.fields, fits: func(id string) bool { return id != "" && len(id) <= 64 }, items: m.items}
	return l.write(m, r)
}

// fields are a request without its input.
func (m *Responses) fields(r *model.Request) map[string]any {
	fields := map[string]any{
		"model":               r.Model,
		"stream":              true,
		"store":               false,
		"parallel_tool_calls": true,
		"prompt_cache_key":    cacheKey(r),
	}
	if r.System != "" {
		fields["instructions"] = r.System
	}
	if n := m.opts.maxTokens(r); n > 0 {
		fields["max_output_tokens"] = max(n, minOutput)
	}
	if len(r.Tools) > 0 {
		fields["tools"] = functions(r.Tools)
	}
	if reasons(r.Model) {
		// Even one that is not asked to think may, and its calls come back only
		// with their thoughts.
		fields["include"] = []string{"reasoning.encrypted_content"}
		if r.Thinking {
			fields["reasoning"] = m.effort(r)
		}
	}
	return m.opts.body(r, fields)
}

func (m *Responses) effort(r *model.Request) any {
	fields := map[string]string{}
	if effort := m.opts.effort(r); effort != "" {
		fields["effort"] = effort
	}
	if !m.opts.NoSummary {
		fields["summary"] = "auto"
	}
	return fields
}

type function struct {
	Type        string `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  any    `json:"parameters"`
	Strict      bool   `json:"strict"`
}

func functions(tools []model.Tool) []function {
	var list []function
	for _, t := range tools {
		list = append(list, function{Type: "function", Name: t.Name, Description: t.Description, Parameters: parameters(t)})
	}
	return list
}

// The items of an input, besides reasoning, which goes back as it came.
type (
	messageItem struct {
		Type    string    `json:"type"`
		Role    string    `json:"role"`
		Content []content `json:"content"`
		Phase   string    `json:"phase,omitzero"`
	}
	content struct {
		Type     string `json:"type"`
		Text     string `json:"text,omitzero"`
		ImageURL string `json:"image_url,omitzero"`
	}
	callItem struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	outputItem struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		// Output is a string, or a list of content if pictures came with the result.
		Output any `json:"output"`
	}
)

// items are a turn in the list of the input.
func (m *Responses) items(t turn) []any {
	if t.Role == model.Assistant {
		return m.said(t.Parts)
	}
	return asked(t.Parts)
}

// said is what the model put out. A thought goes with what followed it, or not at
// all: OpenAI refuses one that is left alone, as after an answer that was cut.
func (m *Responses) said(parts []model.Part) []any {
	var items, thoughts []any
	for _, p := range parts {
		switch p.Kind {
		case event.PartThinking:
			if item, ok := m.thought(p); ok {
				thoughts = append(thoughts, item)
			}
			continue
		case event.PartText:
			items = append(items, thoughts...)
			items = append(items, messageItem{
				Type: "message", Role: "assistant", Phase: m.phase(p),
				Content: []content{{Type: "output_text", Text: p.Text}},
			})
		case event.PartToolCall:
			items = append(items, thoughts...)
			items = append(items, callItem{Type: "function_call", CallID: p.ID, Name: toolName(p.Name), Arguments: arguments(p)})
		}
		thoughts = nil
	}
	return items
}

// thought returns a reasoning item as it came. One without its sealed content is
// nothing to a server that keeps nothing.
func (m *Responses) thought(p model.Part) (jsontext.Value, bool) {
	own, ok := model.Own(m.opts.Provider, p.Opaque)
	if !ok {
		return nil, false
	}
	var item outItem
	if json.Unmarshal([]byte(own), &item, lenient) != nil || item.Type != "reasoning" || item.Sealed == "" {
		return nil, false
	}
	return jsontext.Value(own), true
}

// phase tells remarks on the way from the last word.
func (m *Responses) phase(p model.Part) string {
	own, ok := model.Own(m.opts.Provider, p.Opaque)
	if !ok {
		return ""
	}
	phase, _ := strings.CutPrefix(own, phasePrefix)
	return phase
}

const phasePrefix = "phase="

// asked is what the user and the tools said.
func asked(parts []model.Part) []any {
	var items []any
	var words []content
	for _, p := range parts {
		switch p.Kind {
		case model.PartToolResult:
			items = append(items, outputItem{Type: "function_call_output", CallID: p.ID, Output: put(p)})
		case event.PartText:
			words = append(words, content{Type: "input_text", Text: p.Text})
		case model.PartImage:
			words = append(words, content{Type: "input_image", ImageURL: dataURL(p)})
		}
	}
	if len(words) > 0 {
		items = append(items, messageItem{Type: "message", Role: "user", Content: words})
	}
	return items
}

// put is what a tool put out, with its pictures.
func put(p model.Part) any {
	if len(p.Pictures) == 0 {
		return output(p)
	}
	var list []content
	if text := output(p); text != "" {
		list = append(list, content{Type: "input_text", Text: text})
	}
	for _, x := range p.Pictures {
		list = append(list, content{Type: "input_image", ImageURL: dataURL(x)})
	}
	return list
}

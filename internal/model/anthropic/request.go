package anthropic

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json/jsontext"
)

type request struct {
	Model     string    `json:"model"`
	MaxTokens int64     `json:"max_tokens"`
	Stream    bool      `json:"stream"`
	Thinking  *thinking `json:"thinking,omitzero"`
	Output    *output   `json:"output_config,omitzero"`
	Tools     []tool    `json:"tools,omitempty"`
	System    []block   `json:"system,omitempty"`
	Messages  []message `json:"messages"`
}

type thinking struct {
	Type    string `json:"type"`
	Budget  int64  `json:"budget_tokens,omitzero"`
	Display string `json:"display,omitzero"`
}

type output struct {
	Effort string `json:"effort"`
}

type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Schema      jsontext.Value `json:"input_schema"`
	Point       *point         `json:"cache_control,omitzero"`
}

type message struct {
	Role    model.Role `json:"role"`
	Content []block    `json:"content"`
	first   int        // the number of the message that it begins with
}

// block is a piece of content, with the fields of every type.
type block struct {
	Type      string         `json:"type"`
	Text      string         `json:"text,omitzero"`
	Thinking  *string        `json:"thinking,omitzero"`
	Signature *string        `json:"signature,omitzero"`
	Data      string         `json:"data,omitzero"`
	ID        string         `json:"id,omitzero"`
	Name      string         `json:"name,omitzero"`
	Input     jsontext.Value `json:"input,omitzero"`
	ToolUseID string         `json:"tool_use_id,omitzero"`
	// Content is a string, or a list of blocks if pictures came with a result.
	Content any     `json:"content,omitzero"`
	IsError bool    `json:"is_error,omitzero"`
	Source  *source `json:"source,omitzero"`
	Point   *point  `json:"cache_control,omitzero"`

	was string // the id of a call as its result says it
}

type source struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
}

// point says that what is before it and it are to be cached.
type point struct {
	Type string `json:"type"`
}

var ephemeral = &point{Type: "ephemeral"}

// The types of blocks.
const (
	typeText     = "text"
	typeThinking = "thinking"
	typeRedacted = "redacted_thinking"
	typeCall     = "tool_use"
	typeResult   = "tool_result"
	typeImage    = "image"
)

// redacted is how an opaque part begins that holds a whole thought, which only the
// API can read; others are signatures, and have no colon.
const redacted = "redacted:"

// request is r with the messages that it has behind those of p.
func (m *Model) request(r *model.Request, p *past) *request {
	out := &request{Model: r.Model, MaxTokens: r.MaxTokens, Stream: true, Messages: m.messages(r.Messages, p)}
	p.pair(out.Messages)
	if out.MaxTokens == 0 {
		out.MaxTokens = m.opts.MaxTokens
	}
	effort := m.opts.Effort
	if r.Thinking && r.Effort != "" && m.adapts(r.Model) {
		effort = r.Effort.Word()
	}
	if effort != "" {
		out.Output = &output{effort}
	}
	if r.Thinking {
		out.Thinking = m.thinking(r, out, p)
	}
	for _, x := range r.Tools {
		schema := jsontext.Value(x.Shown())
		if len(schema) == 0 {
			schema = jsontext.Value(`{"type":"object"}`)
		}
		out.Tools = append(out.Tools, tool{Name: x.Name, Description: x.Description, Schema: schema})
	}
	if strings.TrimSpace(r.System) != "" {
		out.System = []block{{Type: typeText, Text: r.System}}
	}
	out.cache()
	return out
}

// cache sets the points: behind the tools, the prompt, the last message and the
// user's message before it. That one is where the request before this had its last
// point, so what was written then is read now, however many blocks came since; the
// API looks back from a point over twenty of them only.
func (r *request) cache() {
	if n := len(r.Tools); n > 0 {
		r.Tools[n-1].Point = ephemeral
	}
	if n := len(r.System); n > 0 {
		r.System[n-1].Point = ephemeral
	}
	for i := len(r.Messages) - 1; i >= max(len(r.Messages)-3, 0); i -= 2 {
		content := r.Messages[i].Content
		content[len(content)-1].Point = ephemeral
	}
}

// thinking asks for thoughts, if that is possible. Half of an answer is left for words,
// and a quarter where somebody said how much to think.
func (m *Model) thinking(asked *model.Request, r *request, p *past) *thinking {
	if m.adapts(asked.Model) {
		return &thinking{Type: "adaptive", Display: "summarized"}
	}
	budget := r.MaxTokens / 2
	switch tokens := asked.Effort.Tokens(); {
	case tokens > 0:
		budget = min(tokens, r.MaxTokens/4*3)
	case m.opts.ThinkingBudget > 0:
		budget = min(budget, m.opts.ThinkingBudget)
	}
	if budget < 1024 || !p.thoughtFirst(r.Messages) {
		return nil // the API would refuse it
	}
	return &thinking{Type: "enabled", Budget: budget}
}

// messages writes a conversation behind what is written: roles take turns, the user begins and ends, no
// message is empty. The calls have no results yet.
func (m *Model) messages(in []model.Message, p *past) []message {
	var out []message
	for i, x := range in {
		var content []block
		for _, p := range x.Parts {
			if b, ok := m.block(x.Role, p); ok {
				content = append(content, b)
			}
		}
		switch n := len(out); {
		case len(content) == 0:
		case n > 0 && out[n-1].Role == x.Role:
			out[n-1].Content = append(out[n-1].Content, content...)
		default:
			out = append(out, message{x.Role, content, i})
		}
	}
	goOn := message{Role: model.User, Content: []block{{Type: typeText, Text: "Go on."}}}
	if p.count == 0 && (len(out) == 0 || out[0].Role != model.User) {
		out = slices.Insert(out, 0, goOn)
	}
	if len(out) == 0 {
		return nil
	}
	if last := out[len(out)-1]; last.Role != model.User {
		if slices.ContainsFunc(last.Content, func(b block) bool { return b.Type == typeCall }) {
			goOn.Content = nil // the results that pair adds
		}
		goOn.first = len(in)
		out = append(out, goOn)
	}
	return out
}

// block writes a part, unless there is nothing to say.
func (m *Model) block(role model.Role, p model.Part) (block, bool) {
	switch p.Kind {
	case event.PartText:
		return block{Type: typeText, Text: p.Text}, strings.TrimSpace(p.Text) != ""
	case event.PartThinking:
		signature, own := model.Own(m.opts.Provider, p.Opaque)
		if data, ok := strings.CutPrefix(signature, redacted); ok {
			return block{Type: typeRedacted, Data: data}, own && role == model.Assistant
		}
		return block{Type: typeThinking, Thinking: &p.Text, Signature: &signature}, own && role == model.Assistant
	case event.PartToolCall:
		return block{Type: typeCall, ID: p.ID, Name: legalName(p.Name), Input: object(p.Args)}, role == model.Assistant
	case model.PartToolResult:
		if p.Error && strings.TrimSpace(p.Text) == "" {
			p.Text = "(it failed and said nothing)"
		}
		return block{Type: typeResult, ToolUseID: p.ID, Name: p.Name, Content: said(p), IsError: p.Error}, role == model.User
	case model.PartImage:
		return picture(p), role == model.User
	}
	return block{}, false
}

// said is what a tool put out, with its pictures. Nothing at all is left out.
func said(p model.Part) any {
	switch {
	case len(p.Pictures) == 0 && p.Text == "":
		return nil
	case len(p.Pictures) == 0:
		return p.Text
	}
	var content []block
	if strings.TrimSpace(p.Text) != "" {
		content = append(content, block{Type: typeText, Text: p.Text})
	}
	for _, x := range p.Pictures {
		content = append(content, picture(x))
	}
	return content
}

func picture(p model.Part) block {
	switch p.Media {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return block{Type: typeImage, Source: &source{"base64", p.Media, base64.StdEncoding.EncodeToString(p.Data)}}
	}
	return block{Type: typeText, Text: fmt.Sprintf("(a picture of type %q, which cannot be shown)", p.Media)}
}

// late tells as text of a result that nobody asked for.
func late(b block) []block {
	text := func(s any) block {
		return block{Type: typeText, Text: fmt.Sprintf("(an earlier result of %s) %s", b.Name, s)}
	}
	switch content := b.Content.(type) {
	case []block:
		return append([]block{text("")}, content...)
	case string:
		return []block{text(content)}
	}
	return []block{text("")}
}

// askedCall is a call that waits for its result: what its id was, and became.
type askedCall struct {
	was, is  string
	answered bool
}

var illegal = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// legalID returns an id that the API takes and that is not used yet.
func legalID(id string, used func(string) bool) string {
	if id == "" || len(id) > 128 || illegal.MatchString(id) {
		sum := sha256.Sum256([]byte(id))
		id = "id_" + hex.EncodeToString(sum[:8])
	}
	fresh := id
	for n := 2; used(fresh); n++ {
		fresh = fmt.Sprintf("%s_%d", id, n)
	}
	return fresh
}

// legalName is the name of a tool that was called, as the API takes it. It may be
// one that no tool has.
func legalName(name string) string {
	name = illegal.ReplaceAllString(name, "_")
	if name == "" {
		return "_"
	}
	return name[:min(len(name), 128)]
}

// object is the arguments of a call. The API wants an object, whatever the model
// wrote.
func object(args string) jsontext.Value {
	v := jsontext.Value(args)
	if v.Kind() == '{' && v.IsValid() {
		return v
	}
	if strings.TrimSpace(args) == "" {
		return jsontext.Value("{}")
	}
	quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(args, "\uFFFD"))
	if err != nil {
		panic(err) // it is valid UTF-8
	}
	return jsontext.Value(`{"_raw":` + string(quoted) + `}`)
}

package gateway

import (
	"encoding/base64"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Reading requests for models that are no provider's. It is lenient: what such a model has
// no use for is left out, and roles may come in any order.

// readRequest makes a request of a body that was looked through.
func readRequest(wire string, body []byte) (*model.Request, error) {
	r := &reader{out: &model.Request{}, names: map[string]string{}}
	var err error
	switch wire {
	case event.WireAnthropic:
		err = r.anthropic(body)
	case event.WireChat:
		err = r.chat(body)
	case event.WireResponses:
		err = r.responses(body)
	case event.WireGemini:
		err = r.gemini(body)
	}
	r.out.Turn = 1
	for _, m := range r.out.Messages {
		if m.Role == model.Assistant {
			r.out.Turn++ // an agent's conversation says by itself how far it is
		}
	}
	return r.out, err
}

type reader struct {
	out *model.Request
	// names are those of the tools that were called, by the ids of the calls.
	names map[string]string
}

// add adds parts to the conversation. Those of one role in a row are one message.
func (r *reader) add(role model.Role, parts ...model.Part) {
	if len(parts) == 0 {
		return
	}
	for i, p := range parts {
		switch p.Kind {
		case event.PartToolCall:
			r.names[p.ID] = p.Name
		case model.PartToolResult:
			if p.Name == "" {
				parts[i].Name = r.names[p.ID]
			}
		}
	}
	if n := len(r.out.Messages); n > 0 && r.out.Messages[n-1].Role == role {
		r.out.Messages[n-1].Parts = append(r.out.Messages[n-1].Parts, parts...)
		return
	}
	r.out.Messages = append(r.out.Messages, model.Message{Role: role, Parts: parts})
}

func (r *reader) system(text string) {
	if r.out.System != "" && text != "" {
		r.out.System += "\n\n"
	}
	r.out.System += text
}

func (r *reader) tool(name, description string, schema jsontext.Value) {
	if name == "" {
		return
	}
	if schema.Kind() != '{' {
		schema = jsontext.Value(`{"type":"object"}`)
	}
	r.out.Tools = append(r.out.Tools, model.Tool{Name: name, Description: description, Schema: string(schema)})
}

func text(s string) model.Part { return model.Part{Kind: event.PartText, Text: s} }

// picture reads a picture in base64; one that is none is left out.
func picture(media, data string) []model.Part {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || !strings.HasPrefix(media, "image/") {
		return nil
	}
	return []model.Part{{Kind: model.PartImage, Media: media, Data: raw}}
}

// dataURL reads a picture out of an address.
func dataURL(at string) []model.Part {
	head, data, _ := strings.Cut(strings.TrimPrefix(at, "data:"), ";base64,")
	return picture(head, data)
}

func role(name string) model.Role {
	if name == "assistant" || name == "model" {
		return model.Assistant
	}
	return model.User
}

// block is a piece of content, with the members of all formats that have such.
type block struct {
	Type     string         `json:"type"`
	Text     string         `json:"text"`
	Thinking string         `json:"thinking"`
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Input    jsontext.Value `json:"input"`
	UseID    string         `json:"tool_use_id"`
	Content  jsontext.Value `json:"content"`
	Error    bool           `json:"is_error"`
	Source   jsontext.Value `json:"source"`
	ImageURL jsontext.Value `json:"image_url"`
}

// blocks are those of a content, which may be a text alone.
func blocks(raw jsontext.Value) (out []block, err error) {
	switch raw.Kind() {
	case '"':
		b := block{Type: "text"}
		err = json.Unmarshal(raw, &b.Text)
		return []block{b}, err
	case '[':
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

// parts makes parts of a content.
func parts(raw jsontext.Value) (out []model.Part, err error) {
	list, err := blocks(raw)
	if err != nil {
		return nil, err
	}
	for _, b := range list {
		switch b.Type {
		case "text", "input_text", "output_text", "refusal":
			if b.Text != "" {
				out = append(out, text(b.Text))
			}
		case "thinking":
			out = append(out, model.Part{Kind: event.PartThinking, Text: b.Thinking})
		case "image":
			var s struct {
				Media string `json:"media_type"`
				Data  string `json:"data"`
			}
			if json.Unmarshal(b.Source, &s) == nil {
				out = append(out, picture(s.Media, s.Data)...)
			}
		case "image_url", "input_image":
			var at string
			var inner struct {
				URL string `json:"url"`
			}
			if json.Unmarshal(b.ImageURL, &at) != nil && json.Unmarshal(b.ImageURL, &inner) == nil {
				at = inner.URL
			}
			out = append(out, dataURL(at)...)
		case "tool_use":
			out = append(out, model.Part{Kind: event.PartToolCall, ID: b.ID, Name: b.Name, Args: string(b.Input)})
		case "tool_result":
			inner, err := parts(b.Content)
			if err != nil {
				return nil, err
			}
			out = append(out, result(b.UseID, "", inner, b.Error))
		}
	}
	return out, nil
}

// result makes one part of what a tool gave.
func result(id, name string, inner []model.Part, failed bool) model.Part {
	p := model.Part{Kind: model.PartToolResult, ID: id, Name: name, Error: failed}
	for _, in := range inner {
		switch in.Kind {
		case event.PartText:
			p.Text += in.Text
		case model.PartImage:
			p.Pictures = append(p.Pictures, in)
		}
	}
	return p
}

// words are the texts of a content.
func words(raw jsontext.Value) (string, error) {
	list, err := parts(raw)
	return result("", "", list, false).Text, err
}

func (r *reader) anthropic(body []byte) error {
	var in struct {
		System    jsontext.Value `json:"system"`
		MaxTokens int64          `json:"max_tokens"`
		Tools     []struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Schema      jsontext.Value `json:"input_schema"`
		} `json:"tools"`
		Messages []struct {
			Role    string         `json:"role"`
			Content jsontext.Value `json:"content"`
		} `json:"messages"`
		Thinking struct {
			Type string `json:"type"`
		} `json:"thinking"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	system, err := words(in.System)
	if err != nil {
		return err
	}
	r.system(system)
	r.out.MaxTokens, r.out.Thinking = in.MaxTokens, in.Thinking.Type != "" && in.Thinking.Type != "disabled"
	for _, t := range in.Tools {
		r.tool(t.Name, t.Description, t.Schema)
	}
	for _, m := range in.Messages {
		list, err := parts(m.Content)
		if err != nil {
			return err
		}
		r.add(role(m.Role), list...)
	}
	return nil
}

// function is how OpenAI's formats describe a tool.
type function struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"`
	Tools       []function     `json:"tools"`
}

func (r *reader) functions(list []function) {
	for _, f := range list {
		if f.Type == "function" {
			r.tool(f.Name, f.Description, f.Parameters)
		}
		r.functions(f.Tools)
	}
}

func (r *reader) chat(body []byte) error {
	var in struct {
		MaxTokens int64 `json:"max_tokens"`
		MaxWhole  int64 `json:"max_completion_tokens"`
		Tools     []struct {
			Type     string   `json:"type"`
			Function function `json:"function"`
		} `json:"tools"`
		Messages []struct {
			Role    string         `json:"role"`
			Content jsontext.Value `json:"content"`
			CallID  string         `json:"tool_call_id"`
			Calls   []struct {
				ID       string `json:"id"`
				Function struct {
					Name string `json:"name"`
					Args string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	r.out.MaxTokens = max(in.MaxTokens, in.MaxWhole)
	for _, t := range in.Tools {
		r.tool(t.Function.Name, t.Function.Description, t.Function.Parameters)
	}
	for _, m := range in.Messages {
		list, err := parts(m.Content)
		if err != nil {
			return err
		}
		switch m.Role {
		case "system", "developer":
			r.system(result("", "", list, false).Text)
			continue
		case "tool":
			r.add(model.User, result(m.CallID, "", list, false))
			continue
		}
		for _, c := range m.Calls {
			list = append(list, model.Part{Kind: event.PartToolCall, ID: c.ID, Name: c.Function.Name, Args: c.Function.Args})
		}
		r.add(role(m.Role), list...)
	}
	return nil
}

func (r *reader) responses(body []byte) error {
	var in struct {
		Instructions string         `json:"instructions"`
		MaxTokens    int64          `json:"max_output_tokens"`
		Tools        []function     `json:"tools"`
		Input        jsontext.Value `json:"input"`
		Reasoning    jsontext.Value `json:"reasoning"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	r.system(in.Instructions)
	r.out.MaxTokens, r.out.Thinking = in.MaxTokens, in.Reasoning.Kind() == '{'
	r.functions(in.Tools)
	if in.Input.Kind() == '"' {
		said, err := words(in.Input)
		r.add(model.User, text(said))
		return err
	}
	var items []responsesItem
	if err := json.Unmarshal(in.Input, &items); err != nil {
		return err
	}
	for i := range items {
		if err := r.item(&items[i]); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	return nil
}

type responsesItem struct {
	Type    string         `json:"type"`
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
	CallID  string         `json:"call_id"`
	Name    string         `json:"name"`
	Args    string         `json:"arguments"`
	Input   string         `json:"input"`
	Output  jsontext.Value `json:"output"`
	Tools   []function     `json:"tools"`
}

func (r *reader) item(i *responsesItem) error {
	switch i.Type {
	case "", "message":
		list, err := parts(i.Content)
		if err != nil {
			return err
		}
		if i.Role == "system" || i.Role == "developer" {
			r.system(result("", "", list, false).Text)
			return nil
		}
		r.add(role(i.Role), list...)
	case "function_call", "custom_tool_call":
		args := i.Args
		if i.Type == "custom_tool_call" {
			args = i.Input
		}
		r.add(model.Assistant, model.Part{Kind: event.PartToolCall, ID: i.CallID, Name: i.Name, Args: args})
	case "function_call_output", "custom_tool_call_output":
		list, err := parts(i.Output)
		if err != nil {
			return err
		}
		r.add(model.User, result(i.CallID, "", list, false))
	case "additional_tools":
		r.functions(i.Tools)
	}
	return nil
}

// geminiContent is a turn. The API takes both spellings of a name; which one stands there,
// the other is empty.
type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Data    struct {
		Media string `json:"mimeType"`
		Data  string `json:"data"`
	} `json:"inlineData"`
	Call *struct {
		ID   string         `json:"id"`
		Name string         `json:"name"`
		Args jsontext.Value `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string         `json:"id"`
		Name     string         `json:"name"`
		Response jsontext.Value `json:"response"`
	} `json:"functionResponse"`
}

type geminiTool struct {
	Functions []struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
		Schema      jsontext.Value `json:"parametersJsonSchema"`
	} `json:"functionDeclarations"`
}

func (r *reader) gemini(body []byte) error {
	var in struct {
		System   geminiContent   `json:"systemInstruction"`
		Other    geminiContent   `json:"system_instruction"`
		Contents []geminiContent `json:"contents"`
		Tools    []geminiTool    `json:"tools"`
		Config   struct {
			MaxTokens int64 `json:"maxOutputTokens"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	r.out.MaxTokens = in.Config.MaxTokens
	for _, p := range append(in.System.Parts, in.Other.Parts...) {
		r.system(p.Text)
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			schema := f.Schema
			if schema.Kind() != '{' {
				schema = f.Parameters
			}
			r.tool(f.Name, f.Description, schema)
		}
	}
	for n, c := range in.Contents {
		var list []model.Part
		for i, p := range c.Parts {
			// Calls without an id are told apart by their place.
			place := fmt.Sprintf("call_%d_%d", n, i)
			switch {
			case p.Call != nil:
				id := p.Call.ID
				if id == "" {
					id = place
				}
				list = append(list, model.Part{Kind: event.PartToolCall, ID: id, Name: p.Call.Name, Args: string(p.Call.Args)})
			case p.Response != nil:
				list = append(list, result(p.Response.ID, p.Response.Name, []model.Part{text(geminiOutput(p.Response.Response))}, false))
			case p.Thought:
				list = append(list, model.Part{Kind: event.PartThinking, Text: p.Text})
			case p.Text != "":
				list = append(list, text(p.Text))
			default:
				list = append(list, picture(p.Data.Media, p.Data.Data)...)
			}
		}
		r.add(role(c.Role), list...)
	}
	return nil
}

// geminiOutput is what a tool gave: its only text, if it is one, or the JSON.
func geminiOutput(raw jsontext.Value) string {
	var shape map[string]any
	if json.Unmarshal(raw, &shape) == nil && len(shape) == 1 {
		for _, name := range []string{"output", "result", "error"} {
			if s, ok := shape[name].(string); ok {
				return s
			}
		}
	}
	return string(raw)
}

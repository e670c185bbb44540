package trajectory

import (
	"encoding/base64"
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// message is one of a conversation as trainers have it: of system, user, assistant or tool.
type message struct {
	Role string `json:"role"`
	// Content is a text, or a list of texts and pictures where there is a picture.
	Content any `json:"content"`
	// Reasoning is what the model thought before.
	Reasoning string `json:"reasoning_content,omitzero"`
	Calls     []call `json:"tool_calls,omitempty"`
	// Call and Name are those of the tool call that a result answers.
	Call string `json:"tool_call_id,omitzero"`
	Name string `json:"name,omitzero"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function called `json:"function"`
}

type called struct {
	Name string `json:"name"`
	// Arguments is an object; what a model gave that is none is a string.
	Arguments any `json:"arguments"`
}

// function is a tool as trainers have it.
type function struct {
	Type     string   `json:"type"`
	Function declared `json:"function"`
}

type declared struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"`
}

// piece is a part of a content in which there is a picture.
type piece struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitzero"`
	Image *location `json:"image_url,omitzero"`
}

type location struct {
	URL string `json:"url"`
}

// chat turns what models were shown into messages, and finds secrets in it.
type chat struct {
	clean  func(string) bool
	secret bool
}

// text passes a text on, and remembers if there is a secret in it.
func (c *chat) text(s string) string {
	if !c.clean(s) {
		c.secret = true
	}
	return s
}

func (c *chat) conversation(system string, messages []model.Message) (out []message) {
	out = append(out, message{Role: "system", Content: c.text(system)})
	for _, m := range messages {
		out = append(out, c.message(m)...)
	}
	return out
}

// message is one side's word. The results of tools in it are messages of their own.
func (c *chat) message(m model.Message) (out []message) {
	said := message{Role: string(m.Role)}
	var pieces []piece
	flush := func() {
		if len(pieces) > 0 || len(said.Calls) > 0 || said.Reasoning != "" {
			said.Content = content(pieces)
			out = append(out, said)
		}
		said, pieces = message{Role: string(m.Role)}, nil
	}
	for _, p := range m.Parts {
		switch p.Kind {
		case event.PartText:
			pieces = append(pieces, piece{Type: "text", Text: c.text(p.Text)})
		case model.PartImage:
			pieces = append(pieces, picture(p))
		case event.PartThinking:
			said.Reasoning = model.Below(said.Reasoning, c.text(p.Text))
		case event.PartToolCall:
			said.Calls = append(said.Calls, call{ID: p.ID, Type: "function", Function: called{p.Name, arguments(c.text(p.Args))}})
		case model.PartToolResult:
			flush()
			of := []piece{{Type: "text", Text: c.text(p.Text)}}
			for _, shown := range p.Pictures {
				of = append(of, picture(shown))
			}
			out = append(out, message{Role: "tool", Content: content(of), Call: p.ID, Name: p.Name})
		}
	}
	flush()
	return out
}

// content is one text if there is nothing but texts, else all the pieces.
func content(pieces []piece) any {
	var texts []string
	for _, p := range pieces {
		if p.Image != nil {
			return pieces
		}
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

func picture(p model.Part) piece {
	return piece{Type: "image_url", Image: &location{"data:" + p.Media + ";base64," + base64.StdEncoding.EncodeToString(p.Data)}}
}

// arguments is the object that a model gave, or its text if that is none.
func arguments(text string) any {
	if v := jsontext.Value(text); v.IsValid() && v.Kind() == '{' {
		return v
	}
	return text
}

// list is the pinned tools.
func (c *chat) list(pinned []byte) (out []function, err error) {
	var tools []model.Tool
	if err := json.Unmarshal(pinned, &tools); err != nil {
		return nil, fmt.Errorf("read the pinned tools: %w", err)
	}
	for _, t := range tools {
		c.text(t.Schema)
		out = append(out, function{"function", declared{t.Name, c.text(t.Description), jsontext.Value(t.Schema)}})
	}
	return out, nil
}

// answered is an answer as a message, with its texts in full.
func answered(b *event.ModelResult, read agent.Blobs) (model.Message, error) {
	m := model.Message{Role: model.Assistant}
	for _, p := range b.Parts {
		out := model.Part{Kind: p.Kind, ID: p.ID, Name: p.Name}
		for _, t := range []struct {
			from *event.Text
			to   *string
		}{{p.Text, &out.Text}, {p.Args, &out.Args}} {
			if t.from == nil {
				continue
			}
			text, err := agent.Read(*t.from, read)
			if err != nil {
				return m, err
			}
			*t.to = text
		}
		m.Parts = append(m.Parts, out)
	}
	return m, nil
}

package quest

import (
	"lyceum/internal/model"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/jsonschema-go/jsonschema"
)

// Thinking is how much models think before they answer: none, low, medium, high, or a
// number of tokens. Empty, and AnyThinking, leave it to the provider.
type Thinking string

// The words that are no effort.
const (
	NoThinking  Thinking = model.NoEffort
	AnyThinking Thinking = "true"
)

// UnmarshalYAML implements yaml.NodeUnmarshaler. True and false are what it was before there
// were efforts.
func (t *Thinking) UnmarshalYAML(n ast.Node) error {
	if err := t.read(scalar(n)); err != nil {
		return Fault(keyOf(n), "thinking: %v", err)
	}
	return nil
}

func (t *Thinking) read(text string) error {
	switch text {
	case "false":
		*t = NoThinking
	case "true":
		*t = AnyThinking
	default:
		if err := model.CheckEffort(text); err != nil {
			return err
		}
		*t = Thinking(text)
	}
	return nil
}

// MarshalYAML implements yaml.BytesMarshaler.
func (t Thinking) MarshalYAML() ([]byte, error) { return []byte(t), nil }

// The limits of max_output: less is no answer, and no model says more.
const (
	MinOutput = 256
	MaxOutput = 1 << 20
)

// thinkingSchema is the form of Thinking.
func thinkingSchema(text string) *jsonschema.Schema {
	return &jsonschema.Schema{Description: text, AnyOf: []*jsonschema.Schema{
		{Enum: []any{"none", "low", "medium", "high"}}, {Type: "boolean"}, Numbers(model.MinEffort, model.MaxEffort, "so many tokens"),
	}}
}

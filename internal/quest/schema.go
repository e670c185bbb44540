package quest

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/policy"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// Schema returns the JSON Schema of a quest.yaml.
func (l Societies) Schema() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[Spec](&jsonschema.ForOptions{})
	if err != nil {
		return nil, fmt.Errorf("schema of quest.yaml: %w", err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "quest.yaml"
	s.Description = "A question for Lyceum, and how to work on it."
	limits := s.Properties["limits"]
	for _, l := range []*jsonschema.Schema{limits, limits.Properties["agent"]} {
		l.Properties["cost"] = &jsonschema.Schema{Types: []string{"number", "string"}, Description: l.Properties["cost"].Description}
		l.Properties["duration"] = &jsonschema.Schema{Type: "string", Description: l.Properties["duration"].Description}
		l.Properties["storage"] = &jsonschema.Schema{Types: []string{"integer", "string"}, Description: l.Properties["storage"].Description}
	}
	s.Properties["computer"] = computerSchema(s.Properties["computer"].Description)
	s.Properties["mcp"] = setting.Schema(s.Properties["mcp"].Description)
	s.Properties["policies"] = policySchema(s.Properties["policies"].Description)
	s.Properties["agents"] = agentsSchema(s.Properties["agents"].Description)
	s.Properties["thinking"] = thinkingSchema(s.Properties["thinking"].Description)
	s.Properties["permission_timeout"] = &jsonschema.Schema{Type: "string", Description: s.Properties["permission_timeout"].Description}
	s.Properties["deliver"].Enum = []any{event.DeliverBranch}
	s.Properties["context"].Enum = words(contexts)
	s.Properties["cache"].Enum = words(caches)
	s.Properties["name"].Pattern = namePattern
	s.Properties["profile"].Pattern = namePattern
	s.Properties["executor"].Pattern = namePattern
	l.describe(s)
	return s, nil
}

// SchemaFile is the schema as a file that editors read.
func (l Societies) SchemaFile() ([]byte, error) {
	s, err := l.Schema()
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(s, jsontext.WithIndent("  "))
	return append(data, '\n'), err
}

// describe adds to a schema what societies have to do with it: their names and what they
// are, and their keys, behind the one that names them.
func (l Societies) describe(s *jsonschema.Schema) {
	society, profile := s.Properties["society"], s.Properties["profile"]
	society.Enum = words(l.Names())
	place := slices.Index(s.PropertyOrder, "society") + 1
	for i, name := range l.Names() {
		soc := l.Named(name)
		if i == 0 {
			name += " (the default)"
		}
		if d, ok := soc.(Described); ok {
			name += ", " + d.About()
		}
		society.Description += []string{": ", "; "}[min(i, 1)] + name
		if p := soc.Traits().Profile; p != "" {
			profile.Description += fmt.Sprintf("; default of the society %s: %s", NameOf(soc.Rules()), p)
		}
		for _, k := range keysOf(soc) {
			if other := s.Properties[k.Name]; other != nil { // of another society
				s.Properties[k.Name] = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{other, k.Schema.CloneSchemas()}}
				continue
			}
			s.Properties[k.Name] = k.Schema.CloneSchemas()
			s.PropertyOrder = slices.Insert(s.PropertyOrder, place, k.Name)
			place++
		}
	}
}

// Choices are the words that can stand under a key of a society, none if it takes others
// too.
func (l Societies) Choices(key string) []string {
	out := []string{}
	k, owners := l.key(key, "")
	if len(owners) == 0 {
		return out
	}
	for _, word := range k.Schema.Enum {
		out = append(out, fmt.Sprint(word))
	}
	return out
}

// namePattern is what event.ValidName checks.
const namePattern = "^[a-z0-9][a-z0-9-]{0,62}$"

// Numbers is the form of whole numbers from least to most.
func Numbers(least, most int64, text string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Minimum: new(float64(least)), Maximum: new(float64(most)), Description: text}
}

func words(list []string) (out []any) {
	for _, w := range list {
		out = append(out, w)
	}
	return out
}

// policySchema is the form of a list of policies, as far as a schema can say it:
// what a built-in policy takes, its documentation says.
func policySchema(text string) *jsonschema.Schema {
	var names []any
	for _, b := range policy.Builtins() {
		if b.Name() != "thread" {
			names = append(names, b.Name())
		}
	}
	builtin := &jsonschema.Schema{
		Type: "object", Required: []string{"use"}, Description: "a built-in policy and its settings",
		Properties: map[string]*jsonschema.Schema{"use": {Enum: names}},
	}
	own := &jsonschema.Schema{
		Type: "object", Required: []string{"name", "steps"}, Description: "a thread of your own",
		Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}, "steps": {Type: "array", Items: &jsonschema.Schema{Type: "object"}}},
	}
	file := &jsonschema.Schema{Type: "string", Description: "a file with a list of policies, beside quest.yaml or below it"}
	return &jsonschema.Schema{Type: "array", Description: text, Items: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{file, builtin, own}}}
}

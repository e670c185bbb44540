package quest

import (
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/strictyaml"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml/ast"
	"github.com/google/jsonschema-go/jsonschema"
)

// Key is a key of quest.yaml that belongs to a society. TextKey, NumberKey, QuestionKey
// and NewKey make one.
type Key struct {
	Name string
	// Schema says what can stand under it.
	Schema *jsonschema.Schema

	read func(ast.Node) (any, error)
	// allow says what is wrong with a value, nothing if it is right.
	allow func(v any) string
	// question says that the question can stand under it.
	question bool
}

// TextKey is a key for a text, or for one of some words. about is for those who write a
// quest.yaml.
func TextKey(name, about string, choices ...string) Key {
	k := NewKey[string](name, &jsonschema.Schema{Type: "string", Description: about, Enum: words(choices)})
	return k.also(func(v any) string {
		if len(choices) == 0 || slices.Contains(choices, v.(string)) {
			return ""
		}
		return fmt.Sprintf("%s %.40q: want %s", name, v, spoken(choices, "or"))
	})
}

// QuestionKey is a key for the question, which stands there instead of under problem.
func QuestionKey(name, about string) Key {
	k := TextKey(name, about)
	k.question = true
	return k
}

// NumberKey is a key for a whole number from least to most.
func NumberKey(name, about string, least, most int64) Key {
	k := NewKey[int64](name, Numbers(least, most, about))
	read := k.read
	k.read = func(n ast.Node) (any, error) {
		if _, ok := n.(*ast.IntegerNode); !ok { // the parser would make 1 of 1.5
			return nil, strictyaml.At(n, "%s must be a whole number from %d to %d", name, least, most)
		}
		return read(n)
	}
	return k.also(func(v any) string {
		if n := v.(int64); n >= least && n <= most {
			return ""
		}
		return fmt.Sprintf("%s %d: want %d to %d", name, v, least, most)
	})
}

// NewKey is a key for values of any type that YAML is read into and written from. Where
// that is not all there is to say, the type implements yaml.NodeUnmarshaler, and the
// society's Check looks at its values.
func NewKey[T any](name string, schema *jsonschema.Schema) Key {
	return Key{
		Name: name, Schema: schema,
		read: func(n ast.Node) (any, error) {
			var v T
			err := strictyaml.Value(n, &v)
			return v, err
		},
		allow: func(v any) string {
			if _, ok := v.(T); ok {
				return ""
			}
			return fmt.Sprintf("%s: %.40q is nothing that can stand there", name, fmt.Sprint(v))
		},
	}
}

// also has a further look at values that are of the key's type.
func (k Key) also(look func(v any) string) Key {
	is := k.allow
	k.allow = func(v any) string {
		if why := is(v); why != "" {
			return why
		}
		return look(v)
	}
	return k
}

// Keys are what is said under keys of societies, by their names: int64 for a NumberKey,
// string for a TextKey, and for any other the type that it was made for.
type Keys map[string]any

// ValueOf is what a spec says under a key of its society, nil if it says nothing.
func ValueOf[T any](s *Spec, key string) *T {
	if v, ok := s.Keys[key].(T); ok {
		return &v
	}
	return nil
}

// TextOf is a text that a spec has under a key of its society, empty if it has none.
func TextOf(s *Spec, key string) string {
	if v := ValueOf[string](s, key); v != nil {
		return *v
	}
	return ""
}

// Set lets a spec say something under a key of a society. An empty text says nothing, as
// under any other key.
func (s *Spec) Set(key string, value any) {
	if value == nil || value == "" {
		delete(s.Keys, key)
		return
	}
	if s.Keys == nil {
		s.Keys = Keys{}
	}
	s.Keys[key] = value
}

// Record writes a society's settings into a quest's first event, as JSON. What they hold
// is the society's, and is pinned with the version of its rules.
func Record(b *event.QuestCreated, settings any) error {
	data, err := json.Marshal(settings)
	if err == nil {
		data, err = event.Canonical(data)
	}
	if err != nil {
		return fmt.Errorf("record settings: %w", err)
	}
	b.Settings = string(data)
	return nil
}

// Recorded reads what Record wrote. Where nothing was recorded, settings stay as they are.
// Begin panics with the error, as with anything that only a forged ledger has.
func Recorded(b *event.QuestCreated, settings any) error {
	if b.Settings == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(b.Settings), settings, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("read the settings of quest %s: %w", b.Name, err)
	}
	return nil
}

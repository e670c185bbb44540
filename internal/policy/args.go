package policy

import (
	"errors"
	"slices"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Args are the arguments of a tool call as policies see them. They are read when
// somebody asks, and once.
type Args struct {
	// Text is what the model wrote, if it is at hand; Outline, what was kept of
	// it, if not.
	Text    event.Text
	Outline string

	read   bool
	detail behavior.Detail

	// paths are those among them, once somebody has asked; all says that there
	// are no others that cannot be seen.
	looked bool
	paths  []string
	all    bool
}

// omitted stands in an outline for a value that was too long. An agent that
// writes it itself gains nothing: what cannot be seen is taken for the worst.
const omitted = "omitted"

// Known reports whether the arguments can be read at all.
func (a *Args) Known() bool {
	a.load()
	return a.detail != nil
}

func (a *Args) load() {
	if a == nil || a.read {
		return
	}
	a.read = true
	s := a.Text.Text
	if a.Text.Ref != nil {
		s = a.Outline
	} else if strings.TrimSpace(s) == "" {
		s = "{}" // as tools take it
	}
	if d, err := behavior.JSONDetail(s); err == nil {
		a.detail = d
	}
}

// field returns what stands at a path. What an outline left out, and everything
// in arguments that cannot be read, is unknown.
func (a *Args) field(path []string) behavior.Value {
	if a == nil {
		return behavior.Value{}
	}
	if a.load(); a.detail == nil {
		return behavior.Value{Kind: behavior.Unknown}
	}
	for n := range len(path) + 1 {
		if a.Text.Ref == nil {
			break // nothing was left out
		}
		if v := a.detail.Field(slices.Concat(path[:n], []string{omitted})); v.Kind == behavior.Number {
			return behavior.Value{Kind: behavior.Unknown}
		}
	}
	return a.detail.Field(path)
}

// raw is the arguments as one text, for comparing.
func (a *Args) Raw() string {
	switch {
	case a == nil:
		return ""
	case a.Text.Ref != nil:
		return a.Text.Ref.Hash.String()
	}
	return a.Text.Text
}

// Outline shortens arguments to what policies look at: an object with its short
// values, in at most max bytes. It is empty if the arguments are no JSON object,
// or nothing of them would be left.
func Outline(args string, max int) string {
	if _, err := behavior.JSONDetail(args); err != nil {
		return "" // what cannot be read whole is not to look as if it could
	}
	for _, longest := range []int{1024, 256, 64} {
		out, err := outline(jsontext.Value(args), longest)
		if err != nil {
			return ""
		}
		if len(out) <= max {
			return string(out)
		}
	}
	return ""
}

var errNotObject = errors.New("the arguments are not an object")

func outline(v jsontext.Value, longest int) (jsontext.Value, error) {
	var members []struct {
		name  string
		value jsontext.Value
	}
	dec := jsontext.NewDecoder(strings.NewReader(string(v)))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, errNotObject
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		members = append(members, struct {
			name  string
			value jsontext.Value
		}{key, slices.Clone(value)})
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := jsontext.AppendQuote(nil, m.name)
		if err != nil {
			return nil, err
		}
		out = append(append(out, name...), ':')
		if err := m.value.Compact(); err != nil {
			return nil, err
		}
		if len(m.value) > longest {
			short, err := json.Marshal(map[string]int{omitted: len(m.value)})
			if err != nil {
				return nil, err
			}
			m.value = short
		}
		out = append(out, m.value...)
	}
	return append(out, '}'), nil
}

package tool

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"lyceum/internal/plain"

	"github.com/google/jsonschema-go/jsonschema"
)

// simple is the part of a schema that needs no library: arguments of a single
// type, by name, and those that must be there. It only ever says that arguments
// fit for certain; in doubt the schema decides. The library takes longer than
// most tools do.
type simple struct {
	types    map[string]string
	required []string
}

func simpleOf(s *jsonschema.Schema) simple {
	p := simple{types: map[string]string{}, required: s.Required}
	bare := jsonschema.Schema{Type: s.Type, Title: s.Title, Description: s.Description, Properties: s.Properties, Required: s.Required, AdditionalProperties: s.AdditionalProperties, PropertyOrder: s.PropertyOrder}
	if !reflect.DeepEqual(*s, bare) {
		return simple{} // the whole has rules of its own
	}
	for name, prop := range s.Properties {
		if reflect.DeepEqual(*prop, jsonschema.Schema{Type: prop.Type, Title: prop.Title, Description: prop.Description}) {
			p.types[name] = prop.Type
		}
	}
	return p
}

func (p simple) fits(given map[string]any) bool {
	if p.types == nil {
		return false
	}
	for name, v := range given {
		ok := false
		switch p.types[name] {
		case "string":
			_, ok = v.(string)
		case "boolean":
			_, ok = v.(bool)
		case "number":
			_, ok = v.(float64)
		case "integer":
			var f float64
			f, ok = v.(float64)
			ok = ok && f == math.Trunc(f)
		}
		if !ok {
			return false
		}
	}
	for _, name := range p.required {
		if _, ok := given[name]; !ok {
			return false
		}
	}
	return true
}

// misfit says what is wrong with the arguments, in words that let a model write
// better ones.
func misfit(schema *jsonschema.Resolved, given map[string]any) error {
	err := schema.Validate(given)
	if err == nil {
		return nil
	}
	s := schema.Schema()
	known := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := s.Properties[name]; !ok && s.AdditionalProperties != nil {
			if close := plain.Near(name, known); len(close) > 0 {
				return fmt.Errorf("there is no argument %.60q; did you mean %q?", name, close[0])
			}
			return fmt.Errorf("there is no argument %.60q", name)
		}
	}
	for _, name := range s.Required {
		if _, ok := given[name]; !ok {
			return fmt.Errorf("the argument %q is missing; it must be %s", name, expected(s.Properties[name]))
		}
	}
	// The library quotes the whole value, which may be a file.
	_, text, ok := strings.Cut(err.Error(), "validating /properties/")
	if !ok {
		return fmt.Errorf("the arguments do not fit: %.200s", err)
	}
	name, _, _ := strings.Cut(text, ":")
	name, _, _ = strings.Cut(name, "/")
	got := fmt.Sprintf("%v", given[name])
	if v, ok := given[name].(string); ok {
		got = fmt.Sprintf("%.60q", v)
	} else if given[name] == nil {
		got = "null"
	}
	return fmt.Errorf("the argument %q is %.80s; it must be %s", name, got, expected(s.Properties[name]))
}

// expected describes a schema in a few words.
func expected(s *jsonschema.Schema) string {
	if s == nil {
		return "given"
	}
	var b strings.Builder
	b.WriteString(kind(s))
	if s.MinLength != nil {
		fmt.Fprintf(&b, " of at least %d characters", *s.MinLength)
	}
	if s.MaxLength != nil {
		fmt.Fprintf(&b, " of at most %d characters", *s.MaxLength)
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		fmt.Fprintf(&b, " from %.0f to %.0f", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		fmt.Fprintf(&b, " of at least %g", *s.Minimum)
	case s.Maximum != nil:
		fmt.Fprintf(&b, " of at most %g", *s.Maximum)
	}
	if s.Pattern != "" {
		fmt.Fprintf(&b, " that matches %s", s.Pattern)
	}
	return b.String()
}

func kind(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprintf("%#v", v))
		}
		return "one of " + strings.Join(values, ", ")
	case len(s.Types) > 0:
		return strings.Join(s.Types, " or ")
	case s.Type == "array" && s.Items != nil:
		return "array of " + kind(s.Items)
	case s.Type == "":
		return "any value"
	}
	return s.Type
}

// signature is a schema on one line: {"path": string, "offset"?: integer}.
func signature(s *jsonschema.Schema) string {
	var parts []string
	for _, name := range s.Required {
		if p := s.Properties[name]; p != nil {
			parts = append(parts, fmt.Sprintf("%q: %s", name, expected(p)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			parts = append(parts, fmt.Sprintf("%q?: %s", name, expected(s.Properties[name])))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

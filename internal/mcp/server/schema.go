package server

import (
	"encoding/json"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// made are the schemas of this package's types, each once: the SDK knows a schema again by its
// address.
var made = struct {
	sync.Mutex
	byType map[reflect.Type]*jsonschema.Schema
}{byType: map[reflect.Type]*jsonschema.Schema{}}

// schemaOf is the JSON Schema of a type. A list is never null, which some clients do not
// understand; a raw value may be anything.
func schemaOf[T any]() *jsonschema.Schema {
	made.Lock()
	defer made.Unlock()
	t := reflect.TypeFor[T]()
	if s := made.byType[t]; s != nil {
		return s
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {}}})
	if err != nil {
		panic(err) // a type of this package that has no schema
	}
	simple(s)
	made.byType[t] = s
	return s
}

// simple takes null out of a schema.
func simple(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	for _, p := range s.Properties {
		simple(p)
	}
	simple(s.Items)
	simple(s.AdditionalProperties)
}

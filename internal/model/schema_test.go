package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TestShownSchemas: what providers get has no references and no alternatives at its top.
func TestShownSchemas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, want string }{
		"AsItIs":       {`{"type": "object", "properties": {"a": {"type": "string"}}}`, `{"type": "object", "properties": {"a": {"type": "string"}}}`},
		"Unfolds":      {`{"type":"object","$defs":{"p":{"type":"object","properties":{"x":{"$ref":"#/$defs/n"}}},"n":{"type":"number"}},"properties":{"from":{"$ref":"#/$defs/p","description":"where"},"to":{"$ref":"#/$defs/p"}}}`, `{"properties":{"from":{"description":"where","properties":{"x":{"type":"number"}},"type":"object"},"to":{"properties":{"x":{"type":"number"}},"type":"object"}},"type":"object"}`},
		"Escapes":      {`{"type":"object","$defs":{"a/b~c d":{"type":"null"}},"properties":{"x":{"$ref":"#/$defs/a~1b~0c%20d"}}}`, `{"properties":{"x":{"type":"null"}},"type":"object"}`},
		"InLists":      {`{"type":"object","properties":{"x":{"anyOf":[{"$ref":"#/definitions/n"},{"type":"null"}]},"y":{"$ref":"#/properties/x/anyOf/1"}},"definitions":{"n":{"type":"integer"}}}`, `{"properties":{"x":{"anyOf":[{"type":"integer"},{"type":"null"}]},"y":{"type":"null"}},"type":"object"}`},
		"CutsCircles":  {`{"type":"object","$defs":{"t":{"type":"object","description":"a tree","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/t"}}}}},"properties":{"t":{"$ref":"#/$defs/t"}}}`, `{"properties":{"t":{"description":"a tree","properties":{"kids":{"items":{"description":"a tree","type":"object"},"type":"array"}},"type":"object"}},"type":"object"}`},
		"CutsItself":   {`{"type":"object","properties":{"next":{"$ref":"#"}}}`, `{"properties":{"next":{"properties":{"next":{"type":"object"}},"type":"object"}},"type":"object"}`},
		"NoAnyOf":      {`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"anyOf":[{"properties":{"b":{"type":"null"}},"required":["a","b"]},{"properties":{"c":{"type":"null"}},"required":["c","a"]}]}`, `{"properties":{"a":{"type":"string"},"b":{"type":"null"},"c":{"type":"null"}},"required":["a"],"type":"object"}`},
		"NoAllOf":      {`{"allOf":[{"$ref":"#/$defs/a"},{"properties":{"b":{"type":"null"}},"required":["b"]}],"$defs":{"a":{"properties":{"a":{"type":"null"}},"required":["a"]}},"type":"object"}`, `{"properties":{"a":{"type":"null"},"b":{"type":"null"}},"required":["a","b"],"type":"object"}`},
		"AProperty":    {`{"type":"object","properties":{"$ref":{"type":"string"},"definitions":{"type":"string"}},"$schema":"x"}`, `{"properties":{"$ref":{"type":"string"},"definitions":{"type":"string"}},"type":"object"}`},
		"LeadsNowhere": {`{"type":"object","properties":{"a":{"$ref":"#/none"},"b":{"$ref":"http://x"}}}`, `{"properties":{"a":{},"b":{}},"type":"object"}`},
		"NotAnObject":  {`["$ref"]`, `["$ref"]`},
		"NotJSON":      {`{"$ref`, `{"$ref`},
		"OddMembers":   {`{"type":"object","required":[{"$ref":1}],"properties":7,"anyOf":[1,{"required":[{}]}]}`, `{"properties":7,"required":[{"$ref":1}],"type":"object"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (Tool{Schema: c.schema}).Shown(); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// laughs is a schema that unfolds to 2^n others, by way of key.
func laughs(n int, form string) string {
	defs := []string{`"d0":{"type":"string"}`}
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"d%d":`+form, i+1, i, i))
	}
	return fmt.Sprintf(`{"type":"object","$defs":{%s},"properties":{"x":{"$ref":"#/$defs/d%d"}}}`, strings.Join(defs, ","), n)
}

const (
	either = `{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`
	within = `{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}}`
)

func TestShownSchemasAreBounded(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"Either": laughs(200, either), "Within": laughs(200, within),
		"Deep": `{"type":"object","$defs":{},"properties":{"a":` + strings.Repeat(`{"items":`, 3000) + `{}` + strings.Repeat(`}`, 3000) + `}}`,
	} {
		if n := len((Tool{Schema: schema}).Shown()); n > 256<<10 {
			t.Errorf("%s: %d bytes are shown", name, n)
		}
	}
}

// TestPlanSchema: a schema that would be followed for ever is refused, and one that can be checked
// is not.
func TestPlanSchema(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, want string }{
		"Plain":      {`{"type":"object","properties":{"a":{"type":"string"}}}`, ""},
		"ATree":      {`{"type":"object","properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}}}`, ""},
		"Unfolding":  {laughs(10, either), ""},
		"Within":     {laughs(200, within), ""},
		"True":       {`{"type":"object","properties":{"a":true},"additionalProperties":false}`, ""},
		"Itself":     {`{"type":"object","$ref":"#"}`, "in a circle"},
		"ByAnother":  {`{"type":"object","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}},"properties":{"x":{"$ref":"#/$defs/a"}}}`, "in a circle"},
		"ByNot":      {`{"type":"object","properties":{"x":{"not":{"$ref":"#/properties/x"}}}}`, "in a circle"},
		"Unused":     {`{"type":"object","$defs":{"a":{"$ref":"#/$defs/a"}}}`, "in a circle"},
		"Laughs":     {laughs(200, either), "unfolds to more than"},
		"Nowhere":    {`{"type":"object","properties":{"x":{"$ref":"#/$defs/a"}}}`, "no schema in it"},
		"NotASchema": {`{"type":"object","properties":{"x":{"$ref":"#/properties"}}}`, "no schema in it"},
		"Elsewhere":  {`{"type":"object","properties":{"x":{"$ref":"https://x.example/s"}}}`, "only paths within it"},
		"AnAnchor":   {`{"type":"object","properties":{"x":{"$ref":"#a"}}}`, "only paths within it"},
		"Dynamic":    {`{"type":"object","properties":{"x":{"$dynamicRef":"#a"}}}`, "$dynamicRef"},
		"AnID":       {`{"type":"object","properties":{"x":{"$id":"http://y","$ref":"#"}}}`, "$id"},
		"Many":       {`{"type":"object","anyOf":[` + strings.Repeat(`{},`, 20_000) + `{}]}`, "more than 10000 schemas"},
		"NotJSON":    {`{`, "no JSON"},
	} {
		_, err := PlanSchema(c.schema)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
	}
}

// TestArgumentsThatWouldTakeForEver: the work grows with the depth of the arguments.
func TestArgumentsThatWouldTakeForEver(t *testing.T) {
	t.Parallel()
	twice, err := PlanSchema(`{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	once, err := PlanSchema(`{"type":"object","properties":{"a":{"$ref":"#"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for depth, c := range map[int]struct{ twice, once bool }{3: {true, true}, 60: {false, true}, 199: {false, true}, 201: {false, false}, 3000: {false, false}} {
		var args map[string]any
		if err := json.Unmarshal([]byte(strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth)), &args); err != nil {
			t.Fatal(err)
		}
		if got := twice.Fits(args) == nil; got != c.twice {
			t.Errorf("arguments %d deep, each twice: taken is %v, want %v", depth, got, c.twice)
		}
		if got := once.Fits(args) == nil; got != c.once {
			t.Errorf("arguments %d deep: taken is %v, want %v", depth, got, c.once)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(laughs(5, either))
	f.Add(`{"type":"object","$ref":"#","properties":{"a":{"$ref":"#/properties/a"}},"items":[{}],"anyOf":[{"required":[1]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		shown := Tool{Schema: text}.Shown()
		if len(shown) > 1<<20+len(text) {
			t.Errorf("%d bytes are shown of %d", len(shown), len(text))
		}
		if jsontext.Value(text).IsValid() && !jsontext.Value(shown).IsValid() {
			t.Errorf("%q is shown as %q, which is no JSON", text, shown)
		}
		if plan, err := PlanSchema(text); err == nil {
			_ = plan.Fits(map[string]any{"a": []any{map[string]any{"b": 1.0}}})
		}
	})
}

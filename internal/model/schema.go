package model

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// What becomes of schemas that strangers wrote: a server's schema may refer to itself, in
// circles or so that it unfolds to more than any machine has. Providers are shown one without
// references, which may be looser; arguments are held against the original, once it is certain
// that this ends.

// How a schema has others in it: those that hold for the same value, and those that hold for
// what is in it; by themselves, in a list, or by name.
var (
	sameOne  = []string{"not", "if", "then", "else"}
	sameList = []string{"allOf", "anyOf", "oneOf"}
	sameMap  = []string{"dependentSchemas", "dependencies"}
	partOne  = []string{"items", "additionalItems", "additionalProperties", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties"}
	partList = []string{"prefixItems", "items"}
	partMap  = []string{"properties", "patternProperties"}
	storeMap = []string{"$defs", "definitions"}
)

// The bounds of schemas.
const (
	maxSchemaNodes = 10_000     // schemas in one
	maxUnfolded    = 100_000    // schemas that hold for one value
	maxSchemaWork  = 50_000_000 // checks for one call
	maxArgsDepth   = 200
	maxShownNodes  = 2_000
	maxShownDepth  = 24
)

// SchemaPlan knows how much work it is to hold arguments against a schema. It does not change
// once it is made.
type SchemaPlan struct{ root *schemaNode }

type schemaNode struct {
	same, part []*schemaNode
	ref        string
	// state is 1 while its circle is looked for, and 2 after.
	state int
}

// PlanSchema reads a schema, an object, and says why arguments cannot be held against it.
func PlanSchema(text string) (*SchemaPlan, error) {
	var root any
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		return nil, fmt.Errorf("it is no JSON: %.120s", err)
	}
	p := &schemaReader{nodes: map[string]*schemaNode{}}
	top, err := p.read(root, "#", true)
	if err != nil {
		return nil, err
	}
	for _, n := range p.order {
		if n.ref == "" {
			continue
		}
		to := p.nodes[n.ref]
		if to == nil {
			return nil, fmt.Errorf("it refers to %.80q, which is no schema in it", n.ref)
		}
		n.same = append(n.same, to)
	}
	for _, n := range p.order {
		if n.circles() {
			return nil, errors.New("it refers to itself in a circle")
		}
	}
	c := &costs{maxUnfolded, map[costOf]int64{}}
	for _, n := range p.order {
		if c.of(n, 0) >= maxUnfolded {
			return nil, fmt.Errorf("it unfolds to more than %d schemas for one value", maxUnfolded)
		}
	}
	return &SchemaPlan{top}, nil
}

type schemaReader struct {
	nodes map[string]*schemaNode
	order []*schemaNode
}

// read takes in a schema and all that are in it.
func (p *schemaReader) read(v any, at string, top bool) (*schemaNode, error) {
	n := &schemaNode{}
	if p.nodes[at], p.order = n, append(p.order, n); len(p.order) > maxSchemaNodes {
		return nil, fmt.Errorf("it has more than %d schemas", maxSchemaNodes)
	}
	s, ok := v.(map[string]any)
	if !ok {
		return n, nil // true, false, or what the library refuses
	}
	if _, has := s["$dynamicRef"]; has {
		return nil, errors.New("it refers by $dynamicRef, which is not followed here")
	}
	if _, has := s["$id"]; has && !top {
		return nil, errors.New("it has a schema with a name of its own ($id), which is not followed here")
	}
	if ref, has := s["$ref"].(string); has {
		if ref != "#" && !strings.HasPrefix(ref, "#/") {
			return nil, fmt.Errorf("it refers to %.80q: only paths within it (#/…) are followed", ref)
		}
		plain, err := url.PathUnescape(ref)
		if err != nil {
			return nil, fmt.Errorf("it refers to %.80q, which is no path", ref)
		}
		n.ref = plain
	}
	return n, p.inner(s, at, n)
}

func (p *schemaReader) inner(s map[string]any, at string, n *schemaNode) error {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		var to *[]*schemaNode
		stored := slices.Contains(storeMap, key)
		switch {
		case slices.Contains(sameOne, key), slices.Contains(sameList, key), slices.Contains(sameMap, key):
			to = &n.same
		case slices.Contains(partOne, key), slices.Contains(partList, key), slices.Contains(partMap, key):
			to = &n.part
		case !stored:
			continue
		}
		take := func(v any, at string) error {
			inner, err := p.read(v, at, false)
			if err == nil && to != nil {
				*to = append(*to, inner)
			}
			return err
		}
		var err error
		switch v := s[key].(type) {
		case []any:
			for i, item := range v {
				if err == nil && (slices.Contains(sameList, key) || slices.Contains(partList, key)) {
					err = take(item, fmt.Sprintf("%s/%s/%d", at, key, i))
				}
			}
		case map[string]any:
			if !stored && !slices.Contains(sameMap, key) && !slices.Contains(partMap, key) {
				err = take(v, at+"/"+key)
				break
			}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if err == nil {
					err = take(v[name], at+"/"+key+"/"+pointer(name))
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pointer is a name as it stands in a path.
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// circles reports whether a schema holds for a value only if it holds for it.
func (n *schemaNode) circles() bool {
	switch n.state {
	case 1:
		return true
	case 2:
		return false
	}
	n.state = 1
	for _, s := range n.same {
		if s.circles() {
			return true
		}
	}
	n.state = 2
	return false
}

// costs are how many checks it can take to hold a value of a depth against a schema, at most the
// limit.
type costs struct {
	limit int64
	known map[costOf]int64
}

type costOf struct {
	n     *schemaNode
	depth int
}

func (c *costs) of(n *schemaNode, depth int) int64 {
	if known, ok := c.known[costOf{n, depth}]; ok {
		return known
	}
	sum := int64(1)
	for _, s := range n.same {
		if sum < c.limit {
			sum += c.of(s, depth)
		}
	}
	for _, s := range n.part {
		if depth > 0 && sum < c.limit {
			sum += c.of(s, depth-1)
		}
	}
	sum = min(sum, c.limit)
	c.known[costOf{n, depth}] = sum
	return sum
}

// Fits says why arguments cannot be held against the schema in any time, if they cannot.
func (p *SchemaPlan) Fits(args map[string]any) error {
	depth := depthOf(args, 0)
	c := &costs{maxSchemaWork, map[costOf]int64{}}
	switch {
	case depth > maxArgsDepth:
		return fmt.Errorf("the arguments are nested more than %d deep", maxArgsDepth)
	case c.of(p.root, depth) >= maxSchemaWork:
		return fmt.Errorf("the arguments are nested %d deep, and to check them so deep against the tool's schema takes too long", depth)
	}
	return nil
}

// depthOf is how deep a value is, as far as that matters.
func depthOf(v any, above int) int {
	deepest := above
	if above > maxArgsDepth {
		return above
	}
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			deepest = max(deepest, depthOf(m, above+1))
		}
	case []any:
		for _, m := range v {
			deepest = max(deepest, depthOf(m, above+1))
		}
	}
	return deepest
}

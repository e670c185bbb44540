package model

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Shown is the schema as providers take it: an object with nothing to look up in it, and no
// alternatives at its top, which most of them refuse. References are unfolded, to a bounded depth
// and size; where one leads back to itself, or there is no more room, anything goes. So it may
// let through what the schema does not. A schema that has none of this is returned as it is.
func (t Tool) Shown() string {
	if !strings.Contains(t.Schema, `"$`) && !strings.Contains(t.Schema, `Of"`) {
		return t.Schema
	}
	var root map[string]any
	if json.Unmarshal([]byte(t.Schema), &root) != nil || root == nil {
		return t.Schema // whoever takes it says what is wrong
	}
	s := &unfolding{root: root, room: maxShownNodes}
	out, ok := s.schema(root, 0).(map[string]any)
	if !ok {
		return t.Schema
	}
	level(out)
	text, err := json.Marshal(out, json.Deterministic(true))
	if err == nil {
		err = (*jsontext.Value)(&text).Canonicalize()
	}
	if err != nil {
		return t.Schema
	}
	return string(text)
}

// unfolding is a schema that is being unfolded.
type unfolding struct {
	root map[string]any
	room int
	// open are the references that are being followed.
	open []string
}

// anything is what stands where no more is unfolded.
func anything(of map[string]any) any {
	out := map[string]any{}
	if kind, ok := of["type"].(string); ok {
		out["type"] = kind
	}
	if about, ok := of["description"].(string); ok {
		out["description"] = about
	}
	return out
}

func (u *unfolding) schema(v any, depth int) any {
	s, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if u.room--; u.room < 0 || depth > maxShownDepth {
		return anything(s)
	}
	out := map[string]any{}
	if ref, ok := s["$ref"].(string); ok {
		to, _ := u.find(ref).(map[string]any)
		if to == nil || slices.Contains(u.open, ref) {
			return merged(anything(to).(map[string]any), u.members(s, depth))
		}
		u.open = append(u.open, ref)
		if inner, ok := u.schema(to, depth+1).(map[string]any); ok {
			out = inner
		}
		u.open = u.open[:len(u.open)-1]
	}
	return merged(out, u.members(s, depth))
}

// merged is what a reference leads to, with what stands beside it above that.
func merged(out, beside map[string]any) map[string]any {
	maps.Copy(out, beside)
	return out
}

// members are those of a schema that are shown, unfolded.
func (u *unfolding) members(s map[string]any, depth int) map[string]any {
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(s)) {
		v := s[key]
		list, isList := v.([]any)
		named, isMap := v.(map[string]any)
		switch {
		case strings.HasPrefix(key, "$"), key == "definitions":
		case isList && (slices.Contains(sameList, key) || slices.Contains(partList, key)):
			all := make([]any, len(list))
			for i, item := range list {
				all[i] = u.schema(item, depth+1)
			}
			out[key] = all
		case isMap && (slices.Contains(sameMap, key) || slices.Contains(partMap, key)):
			all := map[string]any{}
			for _, name := range slices.Sorted(maps.Keys(named)) {
				all[name] = u.schema(named[name], depth+1)
			}
			out[key] = all
		case isMap && (slices.Contains(sameOne, key) || slices.Contains(partOne, key)):
			out[key] = u.schema(v, depth+1)
		default:
			out[key] = v
		}
	}
	return out
}

// find is what a reference leads to, nil if that is nothing.
func (u *unfolding) find(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	plain, err := url.PathUnescape(path)
	if !ok || err != nil {
		return nil
	}
	var at any = u.root
	if plain == "" {
		return at
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(plain, "/"), "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		switch v := at.(type) {
		case map[string]any:
			at = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	return at
}

// level takes the alternatives off the top of a schema: what any of them knows can be given, and
// what all of them want, or the top itself, must be.
func level(s map[string]any) {
	if _, ok := s["type"]; !ok {
		s["type"] = "object"
	}
	properties, _ := s["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
	}
	for _, key := range sameList {
		list, _ := s[key].([]any)
		var common []string
		for i, item := range list {
			one, _ := item.(map[string]any)
			known, _ := one["properties"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(known)) {
				if properties[name] == nil {
					properties[name] = known[name]
				}
			}
			wants := texts(one["required"])
			switch {
			case key == "allOf":
				common = append(common, wants...)
			case i == 0:
				common = wants
			default:
				common = slices.DeleteFunc(common, func(name string) bool { return !slices.Contains(wants, name) })
			}
		}
		required := texts(s["required"])
		for _, name := range common {
			if !slices.Contains(required, name) {
				required = append(required, name)
			}
		}
		if len(required) > 0 {
			s["required"] = required
		}
		if len(list) > 0 && len(properties) > 0 {
			s["properties"] = properties
		}
		delete(s, key)
	}
	for _, key := range []string{"not", "if", "then", "else", "enum", "const"} {
		delete(s, key)
	}
}

// texts are those of a list.
func texts(v any) (out []string) {
	list, _ := v.([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	if list, ok := v.([]string); ok {
		return slices.Clone(list)
	}
	return out
}

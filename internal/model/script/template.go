package script

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// template is a text with places for what a rule's expression caught.
type template []piece

// piece is a text, or the group of that name.
type piece struct{ text, group string }

var placeholder = regexp.MustCompile(`^\$(?:(\$)|(\d+)|\{(\w+)\})`)

// newTemplate refuses a group that re does not have; re may be nil.
func newTemplate(text string, re *regexp.Regexp) (template, error) {
	var t template
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			break
		}
		m := placeholder.FindStringSubmatch(text[i:])
		if m == nil {
			return nil, fmt.Errorf("a lone $ in %.40q; write $$ for a dollar sign", text[i:])
		}
		t = append(t, piece{text: text[:i]})
		text = text[i+len(m[0]):]
		if m[1] != "" {
			t = append(t, piece{text: "$"})
			continue
		}
		group := m[2] + m[3]
		if !hasGroup(re, group) {
			return nil, fmt.Errorf("%s names no group of the rule's seen, result or last expression; write $$ for a dollar sign", m[0])
		}
		t = append(t, piece{group: group})
	}
	return append(t, piece{text: text}), nil
}

func hasGroup(re *regexp.Regexp, group string) bool {
	if group == "turn" {
		return true // the number of the turn is always there
	}
	if re == nil {
		return false
	}
	for i := range re.NumSubexp() + 1 {
		if group == fmt.Sprint(i) {
			return true
		}
	}
	return slices.Contains(re.SubexpNames(), group)
}

func (t template) expand(groups map[string]string) string {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.text)
		if p.group != "" {
			b.WriteString(groups[p.group])
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// argument is the JSON of a tool call, with templates for its strings.
type argument struct {
	// One of these is set: JSON that is fixed or sent as it is, a string, the
	// items of an array, or the members of an object.
	raw     template
	text    template
	items   []argument
	members []member
	kind    argumentKind
}

type member struct {
	name  string
	value argument
}

type argumentKind int

const (
	rawArgument argumentKind = iota
	textArgument
	arrayArgument
	objectArgument
)

func fixed(json string) argument { return argument{raw: template{{text: json}}} }

func (a argument) expand(groups map[string]string) string {
	switch a.kind {
	case textArgument:
		return quoted(a.text.expand(groups))
	case arrayArgument:
		var items []string
		for _, item := range a.items {
			items = append(items, item.expand(groups))
		}
		return "[" + strings.Join(items, ",") + "]"
	case objectArgument:
		var members []string
		for _, m := range a.members {
			members = append(members, quoted(m.name)+":"+m.value.expand(groups))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return a.raw.expand(groups)
}

func quoted(s string) string {
	b, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		panic(err) // it is valid UTF-8
	}
	return string(b)
}

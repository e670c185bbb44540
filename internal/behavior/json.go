package behavior

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep a detail may be nested. A path has to reach it.
const maxDepth = 64

// node is a JSON value with its members sorted.
type node struct {
	value   Value
	names   []string
	members []*node
	text    string // what JSON returned
}

// JSONDetail reads a JSON object as a detail. A name that is there twice is
// refused: two readers could take it for different things.
func JSONDetail(text string) (Detail, error) {
	dec := jsontext.NewDecoder(strings.NewReader(text))
	n, err := readNode(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read JSON: there is more behind the value")
	}
	if n.value.Kind != Object {
		return nil, errors.New("read JSON: it is not an object")
	}
	return n, nil
}

func readNode(dec *jsontext.Decoder, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	t, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case 'n':
		return &node{value: Value{Kind: Null}}, nil
	case 't', 'f':
		return &node{value: BoolValue(t.Bool())}, nil
	case '0':
		return &node{value: Value{Kind: Number, Text: t.String()}}, nil
	case '"':
		return &node{value: TextValue(t.String())}, nil
	case '[':
		return readList(dec, depth)
	}
	return readObject(dec, depth)
}

func readList(dec *jsontext.Decoder, depth int) (*node, error) {
	n := &node{value: Value{Kind: List}}
	for dec.PeekKind() != ']' {
		item, err := readNode(dec, depth+1)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, item)
		n.value.Items = append(n.value.Items, item.value)
	}
	_, err := dec.ReadToken()
	return n, err
}

func readObject(dec *jsontext.Decoder, depth int) (*node, error) {
	type member struct {
		name string
		n    *node
	}
	var all []member
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		text := name.String()
		m, err := readNode(dec, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, member{text, m})
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	n := &node{value: Value{Kind: Object}}
	for _, m := range all {
		n.names, n.members = append(n.names, m.name), append(n.members, m.n)
	}
	return n, nil
}

// Field implements Detail.
func (n *node) Field(path []string) Value {
	for at, name := range path {
		if n.value.Kind == List {
			return n.each(path[at:])
		}
		i, ok := slices.BinarySearch(n.names, name)
		if !ok {
			return Value{}
		}
		n = n.members[i]
	}
	return n.value
}

// each is the field of every item of a list.
func (n *node) each(path []string) Value {
	var out []Value
	for _, m := range n.members {
		if v := m.Field(path); v.Kind != Missing {
			out = append(out, v)
		}
	}
	if out == nil {
		return Value{}
	}
	return Value{Kind: List, Items: out}
}

// JSON implements Detail.
func (n *node) JSON() string {
	if n.text == "" {
		n.text = string(n.append(nil))
	}
	return n.text
}

func (n *node) append(b []byte) []byte {
	switch n.value.Kind {
	case Object:
		b = append(b, '{')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, quote(n.names[i])...), ':')
			b = m.append(b)
		}
		return append(b, '}')
	case List:
		b = append(b, '[')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.append(b)
		}
		return append(b, ']')
	case Number:
		return append(b, plainNumber(n.value.Text)...)
	}
	return append(b, n.value.String()...)
}

// plainNumber writes equal numbers in the same way.
func plainNumber(text string) string {
	d, ok := parseDecimal(text)
	if !ok {
		return text
	}
	if d.digits == "" {
		return "0"
	}
	out := ""
	if d.negative {
		out = "-"
	}
	switch {
	case d.exp >= len(d.digits) && d.exp <= 40:
		return out + d.digits + strings.Repeat("0", d.exp-len(d.digits))
	case d.exp > 0 && d.exp < len(d.digits):
		return out + d.digits[:d.exp] + "." + d.digits[d.exp:]
	case d.exp <= 0 && d.exp > -20:
		return out + "0." + strings.Repeat("0", -d.exp) + d.digits
	}
	return fmt.Sprintf("%s0.%se%d", out, d.digits, d.exp)
}

func quote(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // it was not UTF-8; the quoted text has replacements
		b, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return string(b)
}

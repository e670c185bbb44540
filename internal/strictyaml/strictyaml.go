// Package strictyaml reads the YAML files that people write for Lyceum. It takes
// nothing on trust: unknown and repeated keys are refused, and so are files that
// are built to take memory, because the parser below has no limits of its own. A
// fault is told with its line.
package strictyaml

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The limits of a file. The parser needs memory with the square of the depth.
const (
	maxSize   = 1 << 20
	maxFlow   = 50
	maxColumn = 500
	// maxKeys bounds the keys of one mapping: the parser takes time with their square.
	maxKeys = 3000
	// maxFaults is after how many of them reading ends: who wrote the file has enough to mend,
	// and a hostile one could be nothing else.
	maxFaults = 100
)

// Error is a fault in a file, with its place.
type Error struct {
	File string
	// Line is 0 where the fault is the whole file's.
	Line, Column int
	Text         string
	// keyed says that Text begins with the key it is about.
	keyed bool
}

func (e *Error) Error() string {
	switch {
	case e.File == "":
		return fmt.Sprintf("line %d: %s", e.Line, e.Text)
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.File, e.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text)
}

// Faults are all that is wrong with a file, in the order of their places.
type Faults []error

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, err := range f {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets each be found; the first is found first.
func (f Faults) Unwrap() []error { return f }

// Join makes one error of what was found: nil of nothing, and of one just that.
func Join(faults []error) error {
	switch len(faults) {
	case 0:
		return nil
	case 1:
		return faults[0]
	}
	return Faults(faults)
}

// gather adds what an error consists of to the faults of a file.
func gather(faults []error, err error) []error {
	if several, ok := err.(Faults); ok {
		return append(faults, several...)
	}
	if err == nil {
		return faults
	}
	return append(faults, err)
}

// Decode reads one document into v, a pointer to a struct.
func Decode(file string, data []byte, v any) error {
	tokens, err := Tokens(file, data)
	if err != nil {
		return err
	}
	if parsed, err := parser.Parse(tokens, 0); err == nil {
		for _, d := range parsed.Docs {
			if err := sound(d.Body, reflect.TypeOf(v)); err != nil {
				return InFile(file, err)
			}
		}
	}
	if err := yaml.UnmarshalWithOptions(data, v, yaml.Strict()); err != nil {
		return Locate(file, err)
	}
	return nil
}

// DecodeBut reads one document into v, a pointer to a struct, but for those keys at its
// top that other says are none of v's: it returns what stands under them, for whoever
// knows what they mean. What is wrong under several keys, at the top or further in, is said of
// each of them (Faults), and what is right has been read.
func DecodeBut(file string, data []byte, v any, other func(key string) bool) (map[string]ast.Node, error) {
	tokens, err := Tokens(file, data)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, Locate(file, err)
	}
	i := slices.IndexFunc(parsed.Docs, func(d *ast.DocumentNode) bool { return d.Body != nil })
	if i < 0 {
		return nil, nil // an empty file says nothing
	}
	m, ok := parsed.Docs[i].Body.(*ast.MappingNode)
	if !ok {
		return nil, InFile(file, Value(parsed.Docs[i].Body, v))
	}
	taken := map[string]ast.Node{}
	var faults []error
	for _, p := range m.Values {
		if name := p.Key.GetToken().Value; other(name) {
			taken[name] = p.Value
			continue
		}
		if len(faults) >= maxFaults {
			continue
		}
		right, wrong := sift(ast.Mapping(m.Start, m.IsFlowStyle, p), reflect.TypeOf(v).Elem())
		if len(right.Values) > 0 {
			wrong = gather(wrong, Value(right, v))
		}
		for _, err := range wrong {
			faults = append(faults, InFile(file, err))
		}
	}
	return taken, Join(faults)
}

// sift takes what cannot be read into a struct out of a mapping, entry by entry, so that no
// fault hides those beside it.
func sift(m *ast.MappingNode, t reflect.Type) (right *ast.MappingNode, wrong []error) {
	right = ast.Mapping(m.Start, m.IsFlowStyle)
	right.SetPath(m.GetPath())
	for _, p := range m.Values {
		if len(wrong) >= maxFaults {
			break
		}
		below := member(t, p.Key.GetToken().Value)
		for below != nil && below.Kind() == reflect.Pointer {
			below = below.Elem()
		}
		if inner, ok := p.Value.(*ast.MappingNode); ok && below != nil && below.Kind() == reflect.Struct && !decodes(below) {
			some, faults := sift(inner, below)
			wrong = append(wrong, faults...)
			if len(faults) > 0 && len(some.Values) == 0 {
				continue
			}
			rest := *p
			rest.Value = some
			p = &rest
		}
		one := ast.Mapping(m.Start, m.IsFlowStyle, p)
		err := sound(one, t)
		if err == nil {
			err = Value(one, reflect.New(t).Interface())
		}
		if err != nil {
			wrong = gather(wrong, err)
			continue
		}
		right.Values = append(right.Values, p)
	}
	return right, wrong
}

// sound finds what the decoder below would take without a word: keys that are no words, with
// which it drops their whole mapping (2,50 for 2.50 makes one), and fractions for whole numbers.
func sound(n ast.Node, t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if list, ok := n.(*ast.SequenceNode); ok {
		var each reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			each = t.Elem()
		}
		for _, v := range list.Values {
			if err := sound(v, each); err != nil {
				return err
			}
		}
		return nil
	}
	if _, ok := n.(*ast.FloatNode); ok && t != nil && (t.Kind() == reflect.Int64 || t.Kind() == reflect.Uint64) && !decodes(t) {
		return At(n, "there must be a whole number here, not %.40s", n.GetToken().Value)
	}
	entries, _ := Pairs(n)
	for _, p := range entries {
		key, ok := p.Key.(ast.Node)
		name, word := "", false
		if ok {
			name, word = String(key)
		}
		if !word {
			return At(p.Key.(ast.Node), "the key %.40s must be a word; a fraction has a point, such as 2.50", strings.TrimSpace(p.Key.String()))
		}
		if err := sound(p.Value, member(t, name)); err != nil {
			return err
		}
	}
	return nil
}

// decodes reports whether a type reads its nodes itself.
func decodes(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[yaml.NodeUnmarshaler]()) || p.Implements(reflect.TypeFor[yaml.BytesUnmarshaler]()) || p.Implements(reflect.TypeFor[yaml.InterfaceUnmarshaler]())
}

// member is the type of what stands under a key, nil if nobody knows.
func member(t reflect.Type, key string) reflect.Type {
	if t == nil || t.Kind() != reflect.Struct || decodes(t) {
		return nil
	}
	for f := range t.Fields() {
		name, rest, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == key {
			return f.Type
		}
		if strings.Contains(rest, "inline") {
			if found := member(f.Type, key); found != nil {
				return found
			}
		}
	}
	return nil
}

// Value reads what stands at a node into v. An error has its place, and gets its file
// from InFile.
func Value(n ast.Node, v any) error {
	if err := yaml.NodeToValue(n, v, yaml.Strict()); err != nil {
		return Locate("", err)
	}
	return nil
}

// Locate gives an error of the parser its place. One that has none, such as of
// a type that decodes itself, is returned as it is.
func Locate(file string, err error) error {
	y, ok := errors.AsType[yaml.Error](err)
	if !ok {
		return err
	}
	out := &Error{File: file, Text: plain(err, y.GetMessage())}
	if tok := y.GetToken(); tok != nil && tok.Position != nil {
		out.Line, out.Column = tok.Position.Line, tok.Position.Column
	}
	return out
}

// plain says what the parser says about types without Go's words for them.
func plain(err error, text string) string {
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		return fmt.Sprintf("there must be %s here, not %s", words(e.DstType), words(e.SrcType))
	}
	if e, ok := errors.AsType[*yaml.OverflowError](err); ok {
		return fmt.Sprintf("%.40s is out of range here", e.SrcNum)
	}
	return text
}

func words(t reflect.Type) string {
	if t == nil {
		return "nothing"
	}
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		return "a number"
	case reflect.Pointer:
		return words(t.Elem())
	}
	return "something else"
}

// Tokens splits a file, and refuses it if parsing it further could do harm.
func Tokens(file string, data []byte) (token.Tokens, error) {
	if len(data) > maxSize {
		return nil, &Error{File: file, Text: fmt.Sprintf("the file has %d bytes, more than the %d that are allowed: put long texts into files of their own", len(data), maxSize)}
	}
	if !utf8.Valid(data) {
		return nil, &Error{File: file, Text: "the file is not UTF-8 text"}
	}
	tokens := lexer.Tokenize(string(data))
	depth := 0
	content := false
	keys := keyCount{}
	for _, t := range tokens {
		fault := func(format string, args ...any) error {
			return &Error{File: file, Line: t.Position.Line, Column: t.Position.Column, Text: fmt.Sprintf(format, args...)}
		}
		switch t.Type {
		case token.DocumentHeaderType:
			if content {
				return nil, fault("a second document begins here; only one is read")
			}
			continue
		case token.CommentType:
			continue
		}
		content = true
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
			if depth <= 0 && t.Position.Column > maxColumn {
				return nil, fault("an entry begins after column %d", maxColumn)
			}
			if !keys.take(t, depth) {
				return nil, fault("a mapping has more than %d keys", maxKeys)
			}
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType:
			return nil, fault("anchors, aliases, merges and tags are not supported")
		}
		if depth > maxFlow {
			return nil, fault("brackets are nested more than %d deep", maxFlow)
		}
	}
	return tokens, nil
}

// keyCount counts the keys of the mappings that are open, by the column of their keys.
// Those within brackets are counted together.
type keyCount map[int]int

// take looks at a token that begins an entry, and reports whether there are not too many.
func (k keyCount) take(t *token.Token, depth int) bool {
	column := 0
	if depth == 0 {
		column = t.Position.Column
		if t.Type == token.MappingValueType && t.Prev != nil {
			column = t.Prev.Position.Column
		}
		for other := range k { // what stands further to the right has ended
			if other > column || other == 0 {
				delete(k, other)
			}
		}
	}
	if t.Type != token.MappingValueType {
		return true
	}
	k[column]++
	return k[column] <= maxKeys
}

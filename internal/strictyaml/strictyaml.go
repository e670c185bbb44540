// Package strictyaml reads the YAML files that people write for Lyceum. It takes
// nothing on trust: unknown and repeated keys are refused, and so are files that
// are built to take memory, because the parser below has no limits of its own. A
// fault is told with its line.
package strictyaml

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// The limits of a file. The parser needs memory with the square of the depth.
const (
	maxSize   = 1 << 20
	maxFlow   = 50
	maxColumn = 500
	// maxKeys bounds the keys of one mapping: the parser takes time with their square.
	maxKeys = 3000
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

// Decode reads one document into v, a pointer to a struct.
func Decode(file string, data []byte, v any) error {
	if _, err := Tokens(file, data); err != nil {
		return err
	}
	if err := yaml.UnmarshalWithOptions(data, v, yaml.Strict()); err != nil {
		return Locate(file, err)
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

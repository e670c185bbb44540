package strictyaml

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Document returns the one document of a YAML file, for those who read it node by
// node because its form depends on what stands in it.
func Document(file string, data []byte) (ast.Node, error) {
	tokens, err := Tokens(file, data)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, Locate(file, err)
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return nil, &Error{File: file, Text: "it must be one YAML document"}
	}
	return parsed.Docs[0].Body, nil
}

// Line is where a node stands, 0 if nobody knows.
func Line(n ast.Node) int { return place(n).Line }

func place(n ast.Node) *Error {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return &Error{}
	}
	at := n.GetToken().Position
	return &Error{Line: at.Line, Column: at.Column}
}

// At says what is wrong with a node. The error has its place, and gets its file
// from InFile.
func At(n ast.Node, format string, args ...any) error {
	e := place(n)
	e.Text = fmt.Sprintf(format, args...)
	return e
}

// Wrap gives an error about a node's content its place.
func Wrap(n ast.Node, err error) error {
	if err == nil {
		return nil
	}
	return At(n, "%v", err)
}

// InFile names the file in an error that At or Wrap made. Of several it is about the first.
func InFile(file string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.File != "" {
		return err
	}
	named := *e
	named.File = file
	return &named
}

// Pairs returns the entries of a mapping.
func Pairs(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// Key returns the name of an entry that was not seen before.
func Key(p *ast.MappingValueNode, seen map[string]bool) (string, error) {
	k, ok := p.Key.(ast.Node)
	if !ok || p.Key.IsMergeKey() {
		return "", At(p, "a key must be a plain word")
	}
	name, ok := String(k)
	if !ok {
		return "", At(p, "the key %.40s must be a string", strings.TrimSpace(k.String()))
	}
	if seen[name] {
		return "", At(k, "%q is there twice", name)
	}
	seen[name] = true
	return name, nil
}

// Fields reads a mapping whose keys are all known. What is wrong under several keys is said
// of each of them (Faults).
func Fields(n ast.Node, what string, known map[string]func(ast.Node) error) error {
	list, ok := Pairs(n)
	if !ok {
		return At(n, "%s must be a mapping with some of %s", what, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	seen := make(map[string]bool)
	var faults []error
	for _, p := range list {
		if len(faults) >= maxFaults {
			break
		}
		name, err := Key(p, seen)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		read, ok := known[name]
		if !ok {
			faults = append(faults, At(p.Key.(ast.Node), "unknown key %.40q; %s has %s", name, what, strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
			continue
		}
		for _, err := range gather(nil, read(p.Value)) {
			faults = append(faults, under(name, err))
		}
	}
	return Join(faults)
}

// Each reads a list. What is wrong with several of its entries is said of each of them
// (Faults).
func Each(n ast.Node, what string, read func(ast.Node) error) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return At(n, "%s must be a list", what)
	}
	var faults []error
	for _, v := range list.Values {
		if len(faults) >= maxFaults {
			break
		}
		faults = gather(faults, read(v))
	}
	return Join(faults)
}

// Texts reads a list of at least so many texts, none of them twice, each in the form that one gives
// it. An empty list is no nil.
func Texts(to *[]string, what string, least int, one func(string) (string, error)) func(ast.Node) error {
	return func(n ast.Node) error {
		*to = []string{}
		err := Each(n, what, func(n ast.Node) error {
			text, err := Scalar(n)
			if err != nil {
				return err
			}
			is, err := one(text)
			if err == nil && slices.Contains(*to, is) {
				err = fmt.Errorf("%.80s is listed twice", text)
			}
			*to = append(*to, is)
			return Wrap(n, err)
		})
		if err == nil && len(*to) < least {
			err = At(n, "it is empty: leave it out, or list something")
		}
		return err
	}
}

// String returns the value of a node that is a text.
func String(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}

// Scalar returns a text, or a number or word as it is written.
func Scalar(n ast.Node) (string, error) {
	if text, ok := String(n); ok {
		return text, nil
	}
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return strings.TrimSpace(n.GetToken().Value), nil
	}
	return "", At(n, "it must be a text")
}

// under says which key an error is about.
func under(key string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", key, err)
	}
	if e.keyed {
		return e // by the innermost key, which is the one that helps
	}
	inner := *e
	inner.Text, inner.keyed = key+": "+e.Text, true
	return &inner
}

// Word reads a text that is not empty.
func Word(to *string) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := Scalar(n)
		if err == nil && text == "" {
			err = At(n, "it is empty")
		}
		*to = text
		return err
	}
}

// Choice reads one of a few words.
func Choice(to *string, values ...string) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := Scalar(n)
		if err == nil && !slices.Contains(values, text) {
			err = At(n, "%.40q is none of %s", text, strings.Join(values, ", "))
		}
		*to = text
		return err
	}
}

// Integer reads a whole number of at least least.
func Integer(to *int64, least int64) func(ast.Node) error {
	return func(n ast.Node) error {
		i, ok := n.(*ast.IntegerNode)
		if !ok {
			return At(n, "it must be a whole number")
		}
		v, err := strconv.ParseInt(fmt.Sprint(i.Value), 10, 64)
		if err != nil || v < least || v > 1<<53 {
			return At(n, "it must be a whole number from %d to 2^53", least)
		}
		*to = v
		return nil
	}
}

// Truth reads true or false.
func Truth(to *bool) func(ast.Node) error {
	return func(n ast.Node) error {
		b, ok := n.(*ast.BoolNode)
		if !ok {
			return At(n, "it must be true or false")
		}
		*to = b.Value
		return nil
	}
}

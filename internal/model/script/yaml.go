package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"lyceum/internal/strictyaml"
)

// document returns the one document of a YAML file.
func document(file string, data []byte) (ast.Node, error) {
	tokens, err := strictyaml.Tokens(file, data)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, strictyaml.Locate(file, err)
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return nil, errors.New("it must be one YAML document with rules")
	}
	return parsed.Docs[0].Body, nil
}

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

func at(n ast.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", line(n), fmt.Sprintf(format, args...))
}

func wrap(n ast.Node, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("line %d: %w", line(n), err)
}

// pairs returns the entries of a mapping.
func pairs(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// key returns the name of an entry that was not seen before.
func key(p *ast.MappingValueNode, seen map[string]bool) (string, error) {
	k, ok := p.Key.(ast.Node)
	if !ok || p.Key.IsMergeKey() {
		return "", at(p, "a key must be a plain word")
	}
	name, ok := stringValue(k)
	if !ok {
		return "", at(p, "the key %.40s must be a string", strings.TrimSpace(k.String()))
	}
	if seen[name] {
		return "", at(k, "%q is there twice", name)
	}
	seen[name] = true
	return name, nil
}

// fields reads a mapping whose keys are all known.
func fields(n ast.Node, what string, known map[string]func(ast.Node) error) error {
	list, ok := pairs(n)
	if !ok {
		return at(n, "%s must be a mapping with some of %s", what, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	seen := make(map[string]bool)
	for _, p := range list {
		name, err := key(p, seen)
		if err != nil {
			return err
		}
		read, ok := known[name]
		if !ok {
			return at(p.Key.(ast.Node), "unknown key %.40q; %s has %s", name, what, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if err := read(p.Value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func each(n ast.Node, what string, read func(ast.Node) error) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return at(n, "%s must be a list", what)
	}
	for _, v := range list.Values {
		if err := read(v); err != nil {
			return err
		}
	}
	return nil
}

func stringValue(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}

// scalar returns a text, or a number or word as it is written.
func scalar(n ast.Node) (string, error) {
	if text, ok := stringValue(n); ok {
		return text, nil
	}
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return strings.TrimSpace(n.GetToken().Value), nil
	}
	return "", at(n, "it must be a text")
}

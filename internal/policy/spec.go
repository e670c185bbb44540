package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// List is the policies of a quest.yaml: built-in ones by name, threads of one's
// own, and files with more of both.
type List []Item

// Item is one entry of a List.
type Item struct {
	// File is set if the entry names a file.
	File   string
	Policy event.PolicySpec
	// Line is where it stands.
	Line int
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (l *List) UnmarshalYAML(n ast.Node) error {
	*l = List{}
	return strictyaml.Each(n, "policies", func(n ast.Node) error {
		item, err := readItem(n)
		if err != nil {
			return err
		}
		item.Line = strictyaml.Line(n)
		if slices.ContainsFunc(*l, func(o Item) bool { return o.File == "" && item.File == "" && o.Policy.Name == item.Policy.Name }) {
			return strictyaml.At(n, "there are two policies named %s: give one of them another name", item.Policy.Name)
		}
		*l = append(*l, item)
		return nil
	})
}

// ParseFile reads a file of policies: a list of them, or a mapping whose policies
// are one, as a quest.yaml is. Files in files are not read.
func ParseFile(name string, data []byte) ([]event.PolicySpec, error) {
	n, err := strictyaml.Document(name, data)
	if err != nil {
		return nil, err
	}
	if pairs, ok := strictyaml.Pairs(n); ok {
		i := slices.IndexFunc(pairs, func(p *ast.MappingValueNode) bool { return p.Key.String() == "policies" })
		if i < 0 {
			return nil, strictyaml.InFile(name, strictyaml.At(n, "there are no policies here: want a list of them, or a mapping with policies"))
		}
		n = pairs[i].Value
	}
	var l List
	if err := l.UnmarshalYAML(n); err != nil {
		return nil, strictyaml.InFile(name, err)
	}
	var out []event.PolicySpec
	for _, item := range l {
		if item.File != "" {
			return nil, &strictyaml.Error{File: name, Line: item.Line, Column: 1, Text: "a file of policies cannot name another: list both in quest.yaml"}
		}
		out = append(out, item.Policy)
	}
	return out, nil
}

func readItem(n ast.Node) (Item, error) {
	if file, ok := strictyaml.String(n); ok {
		if file == "" {
			return Item{}, strictyaml.At(n, "the name of the file is empty")
		}
		return Item{File: file}, nil
	}
	pairs, ok := strictyaml.Pairs(n)
	if !ok {
		return Item{}, strictyaml.At(n, "a policy is a file, a mapping with use (a built-in one), or a thread with name and steps")
	}
	uses := slices.IndexFunc(pairs, func(p *ast.MappingValueNode) bool { return p.Key.String() == "use" })
	if uses < 0 {
		return readOwn(n)
	}
	return readBuiltin(n, pairs, pairs[uses].Value)
}

func readOwn(n ast.Node) (Item, error) {
	d, err := behavior.ReadDefinition(n)
	if err != nil {
		return Item{}, err
	}
	s := &own{*d}
	if err := s.check(); err != nil {
		at := stepNode(n, err)
		if step, ok := errors.AsType[*stepError](err); ok {
			err = step.err // the place says which
		}
		return Item{}, strictyaml.Wrap(at, err)
	}
	p, err := pin(d.Name, "thread/1", s)
	return Item{Policy: p}, strictyaml.Wrap(n, err)
}

// stepNode is the step that an error is about, or the whole thread.
func stepNode(n ast.Node, err error) ast.Node {
	e, ok := errors.AsType[*stepError](err)
	pairs, _ := strictyaml.Pairs(n)
	for _, p := range pairs {
		if list, is := p.Value.(*ast.SequenceNode); ok && is && p.Key.String() == "steps" && e.step < len(list.Values) {
			return list.Values[e.step]
		}
	}
	return n
}

func readBuiltin(n ast.Node, pairs []*ast.MappingValueNode, use ast.Node) (Item, error) {
	want, err := strictyaml.Scalar(use)
	if err != nil {
		return Item{}, err
	}
	b, err := find(want)
	if err != nil {
		return Item{}, strictyaml.Wrap(use, err)
	}
	name := b.Name()
	rest := &ast.MappingNode{BaseNode: &ast.BaseNode{}, Start: n.GetToken(), End: n.GetToken()}
	for _, p := range pairs {
		switch p.Key.String() {
		case "use":
		case "name":
			if err := strictyaml.Word(&name)(p.Value); err != nil {
				return Item{}, err
			}
			if !event.ValidName(name) {
				return Item{}, strictyaml.At(p.Value, "name %.40q: want %s", name, event.NameRule)
			}
		case "warn", "park", "max":
			// The parser would make one of 2.5 and of "2".
			if err := strictyaml.Integer(new(int64), 0)(p.Value); err != nil {
				return Item{}, err
			}
			rest.Values = append(rest.Values, p)
		default:
			rest.Values = append(rest.Values, p)
		}
	}
	s := b.make()
	if len(rest.Values) > 0 {
		if err := yaml.NodeToValue(rest, s, yaml.Strict()); err != nil {
			return Item{}, located(n, err)
		}
	}
	if err := s.check(); err != nil {
		return Item{}, strictyaml.At(n, "policy %s: %v", name, err)
	}
	p, err := pin(name, b.Use, s)
	return Item{Policy: p}, strictyaml.Wrap(n, err)
}

// located gives an error of the parser its place, as At would.
func located(n ast.Node, err error) error {
	if e, ok := errors.AsType[*strictyaml.Error](strictyaml.Locate("", err)); ok {
		return e
	}
	return strictyaml.Wrap(n, err)
}

// find returns the built-in policy of that name.
func find(name string) (Builtin, error) {
	var names []string
	for _, b := range builtins {
		if b.Use == "thread/1" {
			continue
		}
		if b.Name() == name {
			return b, nil
		}
		names = append(names, b.Name())
	}
	return Builtin{}, fmt.Errorf("there is no policy %.40q; there are %s", name, strings.Join(names, ", "))
}

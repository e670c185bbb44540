package compute

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"
)

// methods are those of values, by name; their first argument is the value. They
// are done here and not by Starlark: so their price is known, and where Python
// does something else, such as with split(), they are refused.
var methods = map[string]*priced{
	"append": {2, 2, (*run).append}, "extend": {2, 2, (*run).extend}, "pop": {1, 1, pop}, "get": {2, 3, get},
	"split": {2, 2, (*run).split}, "join": {2, 2, (*run).join}, "replace": {3, 3, (*run).replace},
	"lower": {1, 1, onText(strings.ToLower)}, "upper": {1, 1, onText(strings.ToUpper)},
	"strip": {2, 2, trim(strings.Trim)}, "lstrip": {2, 2, trim(strings.TrimLeft)}, "rstrip": {2, 2, trim(strings.TrimRight)},
	"startswith": {2, 2, ask(func(s, t string) starlark.Value { return starlark.Bool(strings.HasPrefix(s, t)) })},
	"endswith":   {2, 2, ask(func(s, t string) starlark.Value { return starlark.Bool(strings.HasSuffix(s, t)) })},
	"find":       {2, 2, ask(func(s, t string) starlark.Value { return starlark.MakeInt(strings.Index(s, t)) })},
	"rfind":      {2, 2, ask(func(s, t string) starlark.Value { return starlark.MakeInt(strings.LastIndex(s, t)) })},
	"count":      {2, 2, ask(func(s, t string) starlark.Value { return starlark.MakeInt(strings.Count(s, t)) })},
}

func (r *run) append(args starlark.Tuple) (starlark.Value, error) {
	list, ok := args[0].(*starlark.List)
	if !ok {
		return nil, fmt.Errorf("a %s has no append", args[0].Type())
	}
	if _, err := r.cell(args[1:]); err != nil {
		return nil, err
	}
	return starlark.None, list.Append(args[1])
}

func (r *run) extend(args starlark.Tuple) (starlark.Value, error) {
	list, ok := args[0].(*starlark.List)
	more, both := args[1].(*starlark.List)
	if !ok || !both {
		return nil, errors.New("extend makes a list longer by another")
	}
	n := more.Len()
	if err := errors.Join(r.keep(cells(n)), r.work(16*n)); err != nil {
		return nil, err
	}
	for i := range n { // by index: a list may be extended by itself
		if err := list.Append(more.Index(i)); err != nil {
			return nil, err
		}
	}
	return starlark.None, nil
}

// pop takes the last value off a list.
func pop(_ *run, args starlark.Tuple) (starlark.Value, error) {
	list, ok := args[0].(*starlark.List)
	if !ok {
		return nil, fmt.Errorf("a %s has no pop", args[0].Type())
	}
	f, err := list.Attr("pop")
	if err != nil {
		return nil, err
	}
	return f.(*starlark.Builtin).CallInternal(nil, nil, nil)
}

func get(_ *run, args starlark.Tuple) (starlark.Value, error) {
	dict, ok := args[0].(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf("a %s has no get", args[0].Type())
	}
	v, found, err := dict.Get(args[1])
	if found || err != nil {
		return v, err
	}
	if len(args) == 3 {
		return args[2], nil
	}
	return starlark.None, nil
}

// texts are the arguments of a method of a text.
func texts(args starlark.Tuple) ([]string, error) {
	list := make([]string, len(args))
	for i, a := range args {
		s, ok := starlark.AsString(a)
		if !ok {
			return nil, fmt.Errorf("got a %s, want a text", a.Type())
		}
		list[i] = s
	}
	return list, nil
}

func (r *run) strings(list []string) (starlark.Value, error) {
	if err := r.keep(cells(len(list))); err != nil {
		return nil, err
	}
	values := make([]starlark.Value, len(list))
	for i, s := range list {
		values[i] = starlark.String(s)
	}
	return starlark.NewList(values), nil
}

func (r *run) split(args starlark.Tuple) (starlark.Value, error) {
	t, err := texts(args)
	if err != nil {
		return nil, err
	}
	if t[1] == "" {
		return nil, errors.New("split needs something to split at")
	}
	n := strings.Count(t[0], t[1]) + 1
	if err := errors.Join(r.work(len(t[0])), r.keep(cells(n))); err != nil {
		return nil, err
	}
	parts := make([]starlark.Value, 0, n)
	for part := range strings.SplitSeq(t[0], t[1]) {
		parts = append(parts, starlark.String(part))
	}
	return starlark.NewList(parts), nil
}

func (r *run) join(args starlark.Tuple) (starlark.Value, error) {
	sep, ok := starlark.AsString(args[0])
	list, both := args[1].(*starlark.List)
	if !ok || !both {
		return nil, errors.New("join takes a list of texts")
	}
	size := uint64(0)
	parts := make([]string, 0, min(list.Len(), 1<<10))
	for v := range list.Elements() {
		s, ok := starlark.AsString(v)
		if !ok {
			return nil, fmt.Errorf("join takes a list of texts; a %s is in it", v.Type())
		}
		if size += uint64(len(s) + len(sep) + 16); size > r.most.memory {
			return nil, r.keep(size)
		}
		parts = append(parts, s)
	}
	if err := errors.Join(r.keep(size), r.work(int(size))); err != nil {
		return nil, err
	}
	return starlark.String(strings.Join(parts, sep)), nil
}

func (r *run) replace(args starlark.Tuple) (starlark.Value, error) {
	t, err := texts(args)
	if err != nil {
		return nil, err
	}
	if t[1] == "" {
		return nil, errors.New("replace needs something to look for")
	}
	if err := r.work(len(t[0])); err != nil {
		return nil, err
	}
	n := strings.Count(t[0], t[1])
	if n == 0 {
		return args[0], nil
	}
	size := uint64(len(t[0])) + uint64(n)*uint64(len(t[2]))
	if err := r.keep(size); err != nil {
		return nil, err
	}
	return starlark.String(strings.ReplaceAll(t[0], t[1], t[2])), nil
}

func onText(f func(string) string) function {
	return func(r *run, args starlark.Tuple) (starlark.Value, error) {
		t, err := texts(args)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(r.work(len(t[0])), r.keep(2*uint64(len(t[0])))); err != nil {
			return nil, err
		}
		return starlark.String(f(t[0])), nil
	}
}

// trim takes what to strip off, since white space is not the same to both
// engines.
func trim(f func(s, cutset string) string) function {
	return func(r *run, args starlark.Tuple) (starlark.Value, error) {
		t, err := texts(args)
		if err != nil {
			return nil, err
		}
		if len(t[1]) > 200 {
			return nil, errors.New("more than 200 characters to strip")
		}
		s := f(t[0], t[1])
		if len(s) == len(t[0]) {
			return args[0], nil
		}
		return starlark.String(s), r.work((len(t[0]) - len(s)) * (1 + len(t[1])/16))
	}
}

func ask(f func(s, t string) starlark.Value) function {
	return func(r *run, args starlark.Tuple) (starlark.Value, error) {
		t, err := texts(args)
		if err != nil {
			return nil, err
		}
		return f(t[0], t[1]), r.work(len(t[0]))
	}
}

package compute

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// maxBits is the most that a whole number may have; an operation on two of them
// takes microseconds.
const maxBits = 1 << 14

// maxReason is the most of a refusal that is kept.
const maxReason = 8 << 10

// environment is all that a program can name.
func (r *run) environment() starlark.StringDict {
	env := starlark.StringDict{"$math.pi": starlark.Float(math.Pi), "$math.e": starlark.Float(math.E)}
	define := func(name string, least, most int, f function) {
		env[name] = starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
			if len(named) > 0 {
				return nil, fmt.Errorf("%s takes no named arguments here", strings.TrimLeft(name, "$."))
			}
			if len(args) < least || len(args) > most {
				return nil, fmt.Errorf("%s got %d arguments", strings.TrimLeft(name, "$."), len(args))
			}
			return f(r, args)
		})
	}
	for name, b := range builtins {
		define(name, b.least, b.most, b.do)
	}
	for name, m := range methods {
		define("$."+name, m.least, m.most, m.do)
	}
	for name, f := range mathFunctions {
		define("$math."+name, 1, 1, func(_ *run, args starlark.Tuple) (starlark.Value, error) { return inMath(name, f, args[0]) })
	}
	for _, op := range []syntax.Token{
		syntax.PLUS, syntax.STAR, syntax.PERCENT, syntax.IN, syntax.NOT_IN,
		syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE,
	} {
		define("$"+op.String(), 2, 2, func(r *run, args starlark.Tuple) (starlark.Value, error) { return r.binary(op, args[0], args[1]) })
	}
	// The rest of Starlark's own functions could be named otherwise.
	for name, v := range starlark.Universe {
		if _, ok := v.(*starlark.Builtin); ok && env[name] == nil {
			define(name, 0, math.MaxInt, func(*run, starlark.Tuple) (starlark.Value, error) {
				return nil, fmt.Errorf("there is no %s here", name)
			})
		}
	}
	return env
}

type function func(r *run, args starlark.Tuple) (starlark.Value, error)

// priced is a function and how many arguments it takes.
type priced struct {
	least, most int
	do          function
}

var builtins = map[string]priced{
	"files": {0, 0, (*run).list}, "read": {1, 1, (*run).read}, "shown": {1, 1, (*run).shown},
	"print": {0, 100, (*run).print}, "fail": {1, 1, (*run).fail},
	"len": {1, 1, length}, "range": {1, 3, native("range")}, "bool": {1, 1, native("bool")},
	"float": {1, 1, ofScalars("float")}, "int": {1, 1, ofScalars("int")}, "str": {1, 1, ofScalars("str")}, "abs": {1, 1, ofScalars("abs")},
	"min": {2, 100, ofScalars("min")}, "max": {2, 100, ofScalars("max")},
	"sorted": {1, 1, (*run).sorted}, "enumerate": {1, 1, (*run).enumerate},
	"$keep": {1, 1, (*run).kept}, "$cell": {1, 1, (*run).cell}, "$set": {3, 3, (*run).set}, "$+=": {2, 2, (*run).add},
}

// list is files(): the paths that both engines can name.
func (r *run) list(starlark.Tuple) (starlark.Value, error) {
	var names []string
	for name := range r.files {
		if visible(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return r.strings(names)
}

func visible(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || strings.HasPrefix(part, ".") {
			return false
		}
	}
	return utf8.ValidString(path) && !strings.Contains(path, "\x00")
}

func (r *run) read(args starlark.Tuple) (starlark.Value, error) {
	name, ok := starlark.AsString(args[0])
	data, there := r.files[name]
	if !ok || !there || !visible(name) {
		return nil, fmt.Errorf("there is no data file %s; files() lists those there are", args[0].Type())
	}
	if v := r.texts[name]; v != nil {
		return v, nil
	}
	var v starlark.Value = starlark.None
	if utf8.Valid(data) && !slices.Contains(data, 0) {
		if err := r.keep(uint64(len(data))); err != nil {
			return nil, err
		}
		v = starlark.String(data)
	}
	r.texts[name] = v
	return v, nil
}

// shown is text as it may stand in a line of output: what could begin another
// line, or change how a terminal or a page shows this one, is replaced.
func (r *run) shown(args starlark.Tuple) (starlark.Value, error) {
	text, ok := starlark.AsString(args[0])
	if !ok {
		return nil, fmt.Errorf("shown got a %s, want a text", args[0].Type())
	}
	var b strings.Builder
	n := 0
	for _, c := range text {
		if n++; n > 60 {
			b.WriteString("...")
			break
		}
		if plain.Output.Has(c) {
			c = '?'
		}
		b.WriteRune(c)
	}
	return starlark.String(b.String()), r.keep(uint64(b.Len()))
}

func (r *run) print(args starlark.Tuple) (starlark.Value, error) {
	for i, a := range args {
		text, err := written(a)
		if err != nil {
			return nil, err
		}
		if r.out.Len()+len(text)+2 > r.most.output {
			return nil, fmt.Errorf("it printed more than %d KiB; print less", r.most.output>>10)
		}
		if i > 0 {
			r.out.WriteByte(' ')
		}
		r.out.WriteString(text)
	}
	if r.out.Len() >= r.most.output {
		return nil, fmt.Errorf("it printed more than %d KiB; print less", r.most.output>>10)
	}
	r.out.WriteByte('\n')
	return starlark.None, nil
}

func (r *run) fail(args starlark.Tuple) (starlark.Value, error) {
	text, err := written(args[0])
	if err != nil {
		return nil, err
	}
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "..."
	}
	return nil, &Refusal{Reason: text}
}

// written is a value as a text. Only plain values have one: writing out what is
// nested would recurse as deep.
func written(v starlark.Value) (string, error) {
	if s, ok := starlark.AsString(v); ok {
		return s, nil
	}
	if !scalar(v) {
		return "", fmt.Errorf("a %s cannot be written out; write its parts", v.Type())
	}
	return v.String(), nil
}

func scalar(v starlark.Value) bool {
	switch v.(type) {
	case starlark.String, starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType:
		return true
	}
	return false
}

// native is a function of Starlark itself that needs no guard. A number that it
// makes is paid for where it is stored; a range is not a number.
func native(name string) function {
	b := starlark.Universe[name].(*starlark.Builtin)
	return func(r *run, args starlark.Tuple) (starlark.Value, error) {
		v, err := b.CallInternal(r.thread, args, nil)
		if err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case starlark.String:
			return v, r.keep(uint64(len(v)))
		case starlark.Int, starlark.Float, starlark.Bool:
			return v, nil
		}
		return v, r.keep(48)
	}
}

// ofScalars is one that may only see plain values of moderate size.
func ofScalars(name string) function {
	do := native(name)
	return func(r *run, args starlark.Tuple) (starlark.Value, error) {
		for _, a := range args {
			if !scalar(a) {
				return nil, fmt.Errorf("%s got a %s, want numbers or texts", name, a.Type())
			}
			if s, ok := a.(starlark.String); ok && name != "str" && len(s) > 1000 {
				return nil, fmt.Errorf("%s got a text of %d bytes", name, len(s))
			}
		}
		return do(r, args)
	}
}

func length(_ *run, args starlark.Tuple) (starlark.Value, error) {
	n := starlark.Len(args[0])
	if n < 0 {
		return nil, fmt.Errorf("a %s has no length", args[0].Type())
	}
	return starlark.MakeInt(n), nil
}

func (r *run) sorted(args starlark.Tuple) (starlark.Value, error) {
	list, ok := args[0].(*starlark.List)
	if !ok {
		return nil, fmt.Errorf("sorted got a %s, want a list", args[0].Type())
	}
	for v := range list.Elements() {
		if !scalar(v) {
			return nil, errors.New("sorted takes numbers or texts")
		}
		if s, ok := v.(starlark.String); ok {
			if err := r.work(len(s)); err != nil {
				return nil, err
			}
		}
	}
	if err := errors.Join(r.keep(cells(list.Len())), r.work(512*list.Len())); err != nil {
		return nil, err
	}
	return starlark.Universe["sorted"].(*starlark.Builtin).CallInternal(r.thread, args, nil)
}

func (r *run) enumerate(args starlark.Tuple) (starlark.Value, error) {
	list, ok := args[0].(*starlark.List)
	if !ok {
		return nil, fmt.Errorf("enumerate got a %s, want a list", args[0].Type())
	}
	if err := r.keep(4 * cells(list.Len())); err != nil {
		return nil, err
	}
	pairs := make([]starlark.Value, 0, list.Len())
	for i := range list.Len() {
		pair := starlark.Tuple{starlark.MakeInt(i), list.Index(i)}
		if err := flat(pair); err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	return starlark.NewList(pairs), nil
}

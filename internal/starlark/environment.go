package starlark

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Value is one that a program works with.
type Value = starlark.Value

// Function is one that programs can call, and how many arguments it takes. It pays
// for what it makes.
type Function struct {
	Least, Most int
	Do          action
}

type action = func(r *Run, args []Value) (Value, error)

// Text is a value as Go has it, if it is a text.
func Text(v Value) (text string, ok bool) { return starlark.AsString(v) }

// NewText returns a text that is paid for already.
func NewText(s string) Value { return starlark.String(s) }

// None is the value of what is not there.
const None = starlark.None

// Texts pays for a list of texts that are there already, and returns it.
func (r *Run) Texts(list []string) (Value, error) {
	if err := r.Keep(cells(len(list))); err != nil {
		return nil, err
	}
	return listOf(len(list), slices.Values(list)), nil
}

func listOf(n int, texts iter.Seq[string]) Value {
	values := make([]Value, 0, n)
	for s := range texts {
		values = append(values, starlark.String(s))
	}
	return starlark.NewList(values)
}

var operators = []syntax.Token{
	syntax.PLUS, syntax.MINUS, syntax.STAR, syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT, syntax.AMP, syntax.PIPE,
	syntax.CIRCUMFLEX, syntax.LTLT, syntax.GTGT, syntax.IN, syntax.NOT_IN,
	syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE,
}

// What all programs of a dialect can name. It is made once: a function finds the run that it is called in by
// its thread, and nothing here can be changed by a program.
var (
	fullEnvironment   = operatorsAnd(fullNames)
	sharedEnvironment = operatorsAnd(sharedNames)
)

func operatorsAnd(names func(env starlark.StringDict)) starlark.StringDict {
	env := starlark.StringDict{}
	for _, op := range operators {
		name := "$" + op.String()
		env[name] = bind(name, Function{2, 2, func(r *Run, args []Value) (Value, error) { return r.binary(op, args[0], args[1]) }})
	}
	names(env)
	return env
}

// environment is all that a program can name. Nobody may change it.
func (r *Run) environment() starlark.StringDict {
	env := fullEnvironment
	if r.Shared {
		env = sharedEnvironment
	}
	if len(r.Functions) == 0 {
		return env
	}
	env = maps.Clone(env)
	for name, f := range r.Functions {
		env[name] = bind(name, f)
	}
	return env
}

// runKey is where a thread knows its run.
const runKey = "run"

// runOf is the run of a thread.
func runOf(thread *starlark.Thread) *Run { return thread.Local(runKey).(*Run) }

func bind(name string, f Function) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (Value, error) {
		if len(named) > 0 {
			return nil, fmt.Errorf("%s takes no named arguments here", strings.TrimLeft(name, "$."))
		}
		if len(args) < f.Least || len(args) > f.Most {
			return nil, fmt.Errorf("%s got %d arguments", strings.TrimLeft(name, "$."), len(args))
		}
		return f.Do(runOf(thread), args)
	})
}

// binary is x op y, paid for before it is done.
func (r *Run) binary(op syntax.Token, x, y Value) (Value, error) {
	var err error
	if r.Shared {
		err = r.payShared(op, x, y)
	} else if cost, problem := r.binaryPrice(op, x, y); problem != nil {
		err = problem
	} else {
		err = r.spend(cost)
	}
	if err != nil {
		return nil, err
	}
	switch op {
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		ok, err := starlark.Compare(op, x, y)
		return starlark.Bool(ok), err
	}
	z, err := starlark.Binary(op, x, y)
	if err != nil || r.Shared {
		return z, err
	}
	return z, r.check(z)
}

package compute

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// cells is the price of a list of n values.
func cells(n int) uint64 { return 48 + 32*uint64(n) }

// kept pays for a value that was just made.
func (r *run) kept(args starlark.Tuple) (starlark.Value, error) {
	v := args[0]
	switch v := v.(type) {
	case starlark.String:
		return v, r.keep(uint64(len(v)))
	case *starlark.List:
		return v, r.keep(cells(v.Len()))
	case starlark.Tuple:
		if err := flat(v); err != nil {
			return nil, err
		}
		return v, r.keep(cells(len(v)))
	case *starlark.Dict:
		return v, r.keep(512 + 128*uint64(v.Len()))
	}
	return v, nil
}

// flat refuses tuples within tuples: looking one up would go through all of
// them, however deep and however often they are shared.
func flat(t starlark.Tuple) error {
	for _, v := range t {
		if _, ok := v.(starlark.Tuple); ok {
			return errors.New("a tuple within a tuple; use a list")
		}
	}
	return nil
}

// cell pays for a value that is put into a list. A text was paid for when it
// was made; a large whole number may come from a difference, which is free.
func (r *run) cell(args starlark.Tuple) (starlark.Value, error) {
	return args[0], r.keep(40 + bitLen(args[0])/8)
}

func bitLen(v starlark.Value) uint64 {
	i, ok := v.(starlark.Int)
	if !ok {
		return 0
	}
	if _, small := i.Int64(); small {
		return 64
	}
	return uint64(i.BigInt().BitLen())
}

// set is x[i] = v.
func (r *run) set(args starlark.Tuple) (starlark.Value, error) {
	if _, err := r.cell(args[2:]); err != nil {
		return nil, err
	}
	switch x := args[0].(type) {
	case *starlark.Dict:
		if err := r.keep(128 + bitLen(args[1])/8); err != nil {
			return nil, err
		}
		return starlark.None, x.SetKey(args[1], args[2])
	case *starlark.List:
		i, err := starlark.AsInt32(args[1])
		if err != nil {
			return nil, err
		}
		if i < 0 {
			i += x.Len()
		}
		if i < 0 || i >= x.Len() {
			return nil, fmt.Errorf("index %d of a list of %d", i, x.Len())
		}
		return starlark.None, x.SetIndex(i, args[2])
	}
	return nil, fmt.Errorf("a %s cannot be assigned to by index", args[0].Type())
}

// add is x += y, for what does not change in place.
func (r *run) add(args starlark.Tuple) (starlark.Value, error) {
	if _, ok := args[0].(*starlark.List); ok {
		return nil, errors.New("use append or extend to make a list longer")
	}
	return r.binary(syntax.PLUS, args[0], args[1])
}

// binary is x op y, paid for before it is done.
func (r *run) binary(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	switch op {
	case syntax.PLUS, syntax.STAR, syntax.PERCENT:
		if err := r.priceOf(op, x, y); err != nil {
			return nil, err
		}
		return starlark.Binary(op, x, y)
	case syntax.IN, syntax.NOT_IN:
		return r.in(op, x, y)
	}
	if !scalar(x) || !scalar(y) {
		return nil, fmt.Errorf("a %s and a %s cannot be compared; compare their parts", x.Type(), y.Type())
	}
	if s, ok := x.(starlark.String); ok {
		if err := r.work(len(s)); err != nil {
			return nil, err
		}
	}
	ok, err := starlark.Compare(op, x, y)
	return starlark.Bool(ok), err
}

func (r *run) priceOf(op syntax.Token, x, y starlark.Value) error {
	switch x := x.(type) {
	case starlark.Int, starlark.Float:
		if !number(y) {
			break
		}
		bits := max(bitLen(x), bitLen(y))
		if op == syntax.STAR {
			bits = bitLen(x) + bitLen(y)
		}
		if bits > maxBits {
			return fmt.Errorf("a whole number of more than %d bits", maxBits)
		}
		return nil
	case starlark.String:
		if y, ok := y.(starlark.String); ok && op == syntax.PLUS {
			return errors.Join(r.keep(uint64(len(x)+len(y))), r.work(len(x)+len(y)))
		}
	case *starlark.List:
		if y, ok := y.(*starlark.List); ok && op == syntax.PLUS {
			return errors.Join(r.keep(cells(x.Len()+y.Len())), r.work(16*(x.Len()+y.Len())))
		}
	}
	return fmt.Errorf("there is no %s %s %s here", x.Type(), op, y.Type())
}

func number(v starlark.Value) bool {
	switch v.(type) {
	case starlark.Int, starlark.Float:
		return true
	}
	return false
}

func (r *run) in(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	if !scalar(x) {
		return nil, fmt.Errorf("whether a %s is in something cannot be asked", x.Type())
	}
	size := 0
	if n := starlark.Len(y); n > 0 {
		size = n
		if _, ok := y.(*starlark.List); ok {
			size *= 16
		}
	}
	if s, ok := x.(starlark.String); ok {
		size += len(s)
	}
	if err := r.work(size); err != nil {
		return nil, err
	}
	return starlark.Binary(op, x, y)
}

// mathFunctions are those that mean the same in both engines, to the last bit but
// one. floor and ceil are missing because int and // do the same.
var mathFunctions = map[string]func(float64) float64{
	"sqrt": math.Sqrt, "log": math.Log, "log10": math.Log10, "exp": math.Exp,
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
}

var mathNames = func() map[string]bool {
	names := map[string]bool{"pi": true, "e": true}
	for name := range mathFunctions {
		names[name] = true
	}
	return names
}()

// inMath refuses what Python refuses: the logarithm of zero is no number.
func inMath(name string, f func(float64) float64, v starlark.Value) (starlark.Value, error) {
	x, ok := starlark.AsFloat(v)
	if !ok {
		return nil, fmt.Errorf("math.%s got a %s, want a number", name, v.Type())
	}
	y := f(x)
	if (math.IsNaN(y) && !math.IsNaN(x)) || (math.IsInf(y, 0) && !math.IsInf(x, 0)) {
		return nil, fmt.Errorf("math.%s of %s is no number", name, strings.TrimSpace(v.String()))
	}
	return starlark.Float(y), nil
}

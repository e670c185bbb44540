package tool

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	starjson "go.starlark.net/lib/json"
	starmath "go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// environment is all that a calculation can name: Starlark's own builtins with
// their prices, ours, and the guards.
func (r *run) environment() starlark.StringDict {
	env := starlark.StringDict{
		"math": starmath.Module,
		// json.indent is left out: its output grows with the square of its input.
		"json": &starlarkstruct.Module{Name: "json", Members: starlark.StringDict{
			"encode": r.wrap(starjson.Module.Members["encode"].(*starlark.Builtin)),
			"decode": r.wrap(starjson.Module.Members["decode"].(*starlark.Builtin)),
		}},
	}
	for name, v := range starlark.Universe {
		if b, ok := v.(*starlark.Builtin); ok {
			env[name] = r.wrap(b)
		}
	}
	define := func(name string, f func(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)) {
		env[name] = starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return f(args, kwargs)
		})
	}
	define("sum", r.sum)
	define("round", r.round)
	define("pow", r.pow)
	for _, op := range []syntax.Token{
		syntax.PLUS, syntax.MINUS, syntax.STAR, syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT, syntax.AMP, syntax.PIPE,
		syntax.CIRCUMFLEX, syntax.LTLT, syntax.GTGT, syntax.IN, syntax.NOT_IN,
		syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE,
	} {
		define("$"+op.String(), func(args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return r.binary(op, args[0], args[1])
		})
	}
	define("$operand", func(args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return operand{args[0], r}, nil
	})
	define("$keep", func(args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) { return r.keep(args[0]) })
	define("$method", func(args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) { return r.method(args[0]), nil })
	define("$spread", func(args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return args[0], r.spend(times(4, span(args[0])))
	})
	define("$enter", r.enter)
	define("$show", r.show)
	return env
}

// enter is run at the start of every function.
func (r *run) enter(args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if r.thread.CallStackDepth() > maxCalls {
		return nil, fmt.Errorf("functions call each other more than %d deep; use a loop", maxCalls)
	}
	for _, v := range args {
		if err := r.check(v); err != nil {
			return nil, err
		}
	}
	return starlark.True, nil
}

// show prints the value of the last expression.
func (r *run) show(args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if args[0] == starlark.None {
		return starlark.None, nil
	}
	cost, err := r.text(args[0])
	if err != nil {
		return nil, err
	}
	if err := r.spend(cost); err != nil {
		return nil, err
	}
	r.printed(args[0].String())
	return starlark.None, nil
}

// method puts the price onto a method of a value.
func (r *run) method(v starlark.Value) starlark.Value {
	if b, ok := v.(*starlark.Builtin); ok && b.Receiver() != nil {
		return r.wrap(b)
	}
	return v
}

// wrap returns b such that it is paid for before it runs, and what it makes
// after.
func (r *run) wrap(b *starlark.Builtin) *starlark.Builtin {
	name := b.Name()
	w := starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		cost, err := r.price(b, args, kwargs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := r.spend(cost); err != nil {
			return nil, err
		}
		if name == "sorted" || name == "min" || name == "max" {
			args, kwargs = r.payForKeys(args, kwargs)
		}
		v, err := b.CallInternal(thread, args, kwargs)
		if err != nil {
			return nil, err
		}
		switch name {
		case "getattr":
			return r.method(v), nil
		case "zip", "enumerate", "items":
			if err := r.checkAll(v); err != nil {
				return nil, err
			}
		}
		if lookups[name] {
			return v, r.check(v)
		}
		return r.keep(v)
	})
	if recv := b.Receiver(); recv != nil {
		return w.BindReceiver(recv)
	}
	return w
}

func (r *run) checkAll(v starlark.Value) error {
	if list, ok := v.(*starlark.List); ok {
		for e := range list.Elements() {
			if err := r.check(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// payForKeys puts the price of comparing onto what a key function returns.
func (r *run) payForKeys(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Tuple, []starlark.Tuple) {
	wrap := func(f starlark.Value) starlark.Value {
		if _, ok := f.(starlark.Callable); !ok {
			return f
		}
		return starlark.NewBuiltin("$key", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			v, err := starlark.Call(thread, f, args, kwargs)
			if err != nil {
				return nil, err
			}
			if n := r.surface(v, r.left()); n > 1 {
				return v, r.spend(times(n, 32))
			}
			return v, nil
		})
	}
	args = append(starlark.Tuple(nil), args...)
	if len(args) > 1 {
		args[1] = wrap(args[1])
	}
	named := make([]starlark.Tuple, len(kwargs))
	for i, kv := range kwargs {
		named[i] = starlark.Tuple{kv[0], kv[1]}
		if kv[0] == starlark.String("key") {
			named[i][1] = wrap(kv[1])
		}
	}
	return args, named
}

// lookups are the builtins that neither walk through their arguments nor make
// a new value from them.
var lookups = map[string]bool{
	"append": true, "insert": true, "get": true, "pop": true, "popitem": true, "setdefault": true, "add": true, "discard": true,
	"clear": true, "len": true, "type": true, "bool": true, "range": true, "hasattr": true, "getattr": true,
	"min": true, "max": true, "any": true, "all": true,
}

// price is what a call costs before it is made. Where it cannot be known without
// doing the work it is the most that the work can be.
func (r *run) price(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (uint64, error) {
	values := append([]starlark.Value(nil), args...)
	for _, kv := range kwargs {
		values = append(values, kv[1])
	}
	var spans uint64
	for _, v := range values {
		spans += span(v)
	}
	recv, _ := b.Receiver().(starlark.String)
	text := string(recv)
	switch name := b.Name(); name {
	case "print", "str", "repr", "fail", "json.encode":
		n, err := r.texts(values)
		if len(kwargs) > 0 {
			n = times(n, 1+uint64(len(args)))
		}
		return n, err
	case "format":
		n, err := r.texts(values)
		return times(n, 1+uint64(strings.Count(text, "{"))) + weight(recv), err
	case "join":
		return r.joinPrice(text, args), nil
	case "replace":
		return replacePrice(text, args), nil
	case "split", "rsplit", "splitlines", "elems", "elem_ords", "codepoints", "codepoint_ords":
		return times(32, weight(b.Receiver())), nil
	case "int":
		if s, ok := first(args).(starlark.String); ok && len(s) > maxDigits {
			return 0, fmt.Errorf("a number of more than %d digits", maxDigits)
		}
		return 0, nil
	case "json.decode":
		return decodePrice(args)
	case "zip":
		return zipPrice(args), nil
	case "sorted", "min", "max":
		return r.orderPrice(args, name == "sorted"), nil
	case "index", "remove":
		if list, ok := b.Receiver().(*starlark.List); ok {
			return times(uint64(list.Len()), r.surface(first(args), r.left())), nil
		}
		return 0, nil
	case "enumerate":
		return times(6, spans), nil
	case "any", "all", "extend":
		return spans, nil
	case "update":
		return times(8, spans), nil
	case "dict", "set", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset":
		return times(8, spans) + weight(b.Receiver()), nil
	default:
		if lookups[name] {
			return 0, nil
		}
		return spans + weight(b.Receiver()), nil
	}
}

func first(args starlark.Tuple) starlark.Value {
	if len(args) == 0 {
		return starlark.None
	}
	return args[0]
}

func (r *run) joinPrice(sep string, args starlark.Tuple) uint64 {
	it := starlark.Iterate(first(args))
	if it == nil {
		return 0
	}
	defer it.Done()
	var sum uint64
	var v starlark.Value
	for limit := 16 * r.left(); sum <= limit && it.Next(&v); {
		s, _ := v.(starlark.String)
		sum += uint64(len(s)+len(sep)) + 16
	}
	return sum / 16
}

func replacePrice(text string, args starlark.Tuple) uint64 {
	if len(args) < 2 {
		return 0
	}
	old, _ := args[0].(starlark.String)
	made, _ := args[1].(starlark.String)
	count := uint64(strings.Count(text, string(old)))
	return times(count, uint64(len(made)))/16 + uint64(len(text))/16
}

func zipPrice(args starlark.Tuple) uint64 {
	if len(args) == 0 {
		return 0
	}
	rows := span(args[0])
	for _, v := range args {
		if starlark.Len(v) >= 0 {
			rows = min(rows, span(v))
		}
	}
	return times(rows, uint64(len(args))+5)
}

// decodePrice knows that an empty object has 2 bytes as text and 600 as a dict.
func decodePrice(args starlark.Tuple) (uint64, error) {
	s, ok := first(args).(starlark.String)
	if !ok {
		return 0, nil
	}
	if len(s) > maxDigits {
		return 0, fmt.Errorf("a text of %d bytes, more than %d", len(s), maxDigits)
	}
	var price uint64
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '{':
			price += 40
			depth++
		case '[':
			price += 5
			depth++
		case '}', ']':
			depth--
		case ',', ':':
			price += 4
		}
		if depth > maxDepth {
			return 0, fmt.Errorf("a text nested more than %d deep", maxDepth)
		}
	}
	return price + uint64(len(s))/4, nil
}

// orderPrice is that of comparing each element about log n times.
func (r *run) orderPrice(args starlark.Tuple, sort bool) uint64 {
	values := args
	if len(args) == 1 || sort {
		list, ok := first(args).(starlark.Iterable)
		if !ok {
			return 0
		}
		n := span(list)
		if n > r.left() {
			return n
		}
		values = nil
		for v := range starlark.Elements(list) {
			values = append(values, v)
		}
	}
	var sum uint64
	for _, v := range values {
		if sum += r.surface(v, r.left()); sum > r.left() {
			return sum
		}
	}
	if sort {
		return times(sum, uint64(1+bits.Len(uint(len(values)))/4))
	}
	return sum
}

// sum adds up numbers, or anything with a + if there is a start value. Floats
// are added with Neumaier's correction, as Python does.
func (r *run) sum(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var list starlark.Iterable
	var start starlark.Value = starlark.MakeInt(0)
	if err := starlark.UnpackArgs("sum", args, kwargs, "iterable", &list, "start?", &start); err != nil {
		return nil, err
	}
	if err := r.spend(span(list)); err != nil {
		return nil, err
	}
	total, lost := start, 0.0
	for v := range starlark.Elements(list) {
		x, xok := total.(starlark.Float)
		y, yok := starlark.AsFloat(v)
		next, err := r.binary(syntax.PLUS, total, v)
		if err != nil {
			return nil, fmt.Errorf("sum: %w", err)
		}
		if z, ok := next.(starlark.Float); ok && xok && yok && !math.IsInf(float64(z), 0) {
			if math.Abs(float64(x)) >= math.Abs(y) {
				lost += (float64(x) - float64(z)) + y
			} else {
				lost += (y - float64(z)) + float64(x)
			}
		}
		total = next
	}
	if f, ok := total.(starlark.Float); ok && !math.IsNaN(lost) {
		return f + starlark.Float(lost), nil
	}
	return total, nil
}

// round rounds half to even, exactly, as Python does: to an int, or to a number
// of decimals.
func (r *run) round(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, digits starlark.Value
	if err := starlark.UnpackArgs("round", args, kwargs, "x", &x, "digits?", &digits); err != nil {
		return nil, err
	}
	places := 0
	if digits != nil && digits != starlark.None {
		if err := starlark.AsInt(digits, &places); err != nil {
			return nil, fmt.Errorf("round: digits: %w", err)
		}
		if places < -1000 || places > 1000 {
			return nil, fmt.Errorf("round: digits is %d, want -1000 to 1000", places)
		}
	} else {
		digits = nil
	}
	switch x := x.(type) {
	case starlark.Int:
		if places >= 0 {
			return x, nil
		}
		return starlark.MakeBigInt(roundToTens(x.BigInt(), big.NewInt(1), -places)), nil
	case starlark.Float:
		f := float64(x)
		switch {
		case digits == nil:
			return starlark.NumberToInt(starlark.Float(math.RoundToEven(f)))
		case math.IsNaN(f) || math.IsInf(f, 0):
			return x, nil
		case places >= 0:
			f, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', places, 64), 64)
			return starlark.Float(f), err
		}
		whole := new(big.Rat).SetFloat64(f)
		out, _ := new(big.Float).SetInt(roundToTens(whole.Num(), whole.Denom(), -places)).Float64()
		return starlark.Float(out), nil
	}
	return nil, fmt.Errorf("round: got %s, want int or float", x.Type())
}

// roundToTens rounds num/denom to a multiple of 10^tens, half to even.
func roundToTens(num, denom *big.Int, tens int) *big.Int {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(tens)), nil)
	unit := new(big.Int).Mul(ten, denom)
	q, rest := new(big.Int).DivMod(num, unit, new(big.Int))
	switch rest.Lsh(rest, 1).Cmp(unit) {
	case 1:
		q.Add(q, big.NewInt(1))
	case 0:
		q.Add(q, big.NewInt(int64(q.Bit(0))))
	}
	return q.Mul(q, ten)
}

// pow is exact for integers.
func (r *run) pow(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, y, mod starlark.Value
	if err := starlark.UnpackArgs("pow", args, kwargs, "x", &x, "y", &y, "mod?", &mod); err != nil {
		return nil, err
	}
	base, xok := x.(starlark.Int)
	exp, yok := y.(starlark.Int)
	if mod != nil && mod != starlark.None {
		m, mok := mod.(starlark.Int)
		if !xok || !yok || !mok || m.Sign() <= 0 || exp.Sign() < 0 {
			return nil, fmt.Errorf("pow: with mod, x must be an int, y an int of at least 0 and mod one above 0")
		}
		const limit = 8192
		if bitLen(base) > limit || bitLen(exp) > limit || bitLen(m) > limit {
			return nil, fmt.Errorf("pow: with mod, no number may have more than %d bits", limit)
		}
		return starlark.MakeBigInt(new(big.Int).Exp(base.BigInt(), exp.BigInt(), m.BigInt())), nil
	}
	if xok && yok && exp.Sign() >= 0 {
		b, e := base.BigInt(), exp.BigInt()
		if b.BitLen() > 1 && (!e.IsInt64() || times(uint64(b.BitLen()-1), e.Uint64()) > maxBits) {
			return nil, fmt.Errorf("pow: an integer of more than %d bits", maxBits)
		}
		if b.BitLen() <= 1 { // -1, 0 and 1 to whatever power
			e.And(e, big.NewInt(1)).Add(e, big.NewInt(2*int64(exp.Sign())))
		}
		return r.keep(starlark.MakeBigInt(b.Exp(b, e, nil)))
	}
	a, aok := starlark.AsFloat(x)
	e, eok := starlark.AsFloat(y)
	if !aok || !eok {
		return nil, fmt.Errorf("pow: got %s and %s, want numbers", x.Type(), y.Type())
	}
	if a == 0 && e < 0 {
		return nil, fmt.Errorf("pow: 0 to a negative power")
	}
	return starlark.Float(math.Pow(a, e)), nil
}

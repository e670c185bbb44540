package starlark

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	starjson "go.starlark.net/lib/json"
	starmath "go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// guards are the functions that only a rewritten program of the full dialect
// names.
var guards = map[string]Function{
	"$keep":    {1, 1, func(r *Run, args []Value) (Value, error) { return r.keep(args[0]) }},
	"$display": {1, 1, func(r *Run, args []Value) (Value, error) { return r.keep(args[0]) }},
	"$method":  {1, 1, func(r *Run, args []Value) (Value, error) { return r.method(args[0]), nil }},
	"$operand": {1, 1, func(r *Run, args []Value) (Value, error) { return operand{args[0], r}, nil }},
	"$spread":  {1, 1, func(r *Run, args []Value) (Value, error) { return args[0], r.spend(times(4, span(args[0]))) }},
	"$enter":   {0, 1, (*Run).enter}, "$show": {1, 1, (*Run).show},
}

// fullNames are Starlark's own functions with their prices, ours, and the guards.
func fullNames(env starlark.StringDict) {
	// json.indent is left out: its output grows with the square of its input.
	members := starlark.StringDict{}
	for _, name := range []string{"encode", "decode"} {
		members[name] = wrap(starjson.Module.Members[name].(*starlark.Builtin))
	}
	env["math"], env["json"] = starmath.Module, &starlarkstruct.Module{Name: "json", Members: members}
	for name, v := range starlark.Universe {
		if b, ok := v.(*starlark.Builtin); ok {
			env[name] = wrap(b)
		}
	}
	for name, f := range guards {
		env[name] = bind(name, f)
	}
	env["sum"] = inRun("sum", (*Run).sum)
	env["round"] = inRun("round", (*Run).round)
	env["pow"] = inRun("pow", (*Run).pow)
}

// inRun is a function of ours that reads its arguments itself.
func inRun(name string, do func(*Run, *starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (Value, error)) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (Value, error) {
		return do(runOf(thread), thread, b, args, kwargs)
	})
}

// enter is run at the start of every function.
func (r *Run) enter(args []Value) (Value, error) {
	if r.thread.CallStackDepth() > maxCalls {
		return nil, fmt.Errorf("functions call each other more than %d deep; use a loop", maxCalls)
	}
	return starlark.True, r.check(first(args))
}

// show prints the value of the last expression.
func (r *Run) show(args []Value) (Value, error) {
	if args[0] == starlark.None {
		return starlark.None, nil
	}
	if cost, err := r.text(args[0]); err != nil {
		return nil, err
	} else if err := r.spend(cost); err != nil {
		return nil, err
	}
	r.printed(args[0].String())
	return starlark.None, nil
}

// method puts the price onto a method of a value.
func (r *Run) method(v Value) Value {
	if b, ok := v.(*starlark.Builtin); ok && b.Receiver() != nil {
		return wrap(b)
	}
	return v
}

// wrap returns b such that it is paid for before it runs, and what it makes
// after.
func wrap(b *starlark.Builtin) *starlark.Builtin {
	name := b.Name()
	w := starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (Value, error) {
		r := runOf(thread)
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
		if !lookups[name] {
			return r.keep(v)
		}
		if t, ok := v.(starlark.Tuple); ok { // checking goes through it
			if err := r.spend(uint64(len(t)) / 64); err != nil {
				return nil, err
			}
		}
		return v, r.check(v)
	})
	if recv := b.Receiver(); recv != nil {
		return w.BindReceiver(recv)
	}
	return w
}

func (r *Run) checkAll(v Value) error {
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
func (r *Run) payForKeys(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Tuple, []starlark.Tuple) {
	wrap := func(f Value) Value {
		if _, ok := f.(starlark.Callable); !ok {
			return f
		}
		return starlark.NewBuiltin("$key", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (Value, error) {
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
func (r *Run) price(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (uint64, error) {
	values := append([]Value(nil), args...)
	for _, kv := range kwargs {
		values = append(values, kv[1])
	}
	spans := func() (sum uint64) {
		for _, v := range values {
			if sum += span(v); sum > r.left() {
				break
			}
		}
		return sum
	}
	recv, _ := b.Receiver().(starlark.String)
	text := string(recv)
	list, _ := b.Receiver().(*starlark.List)
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
		s, _ := argument("x", args, kwargs).(starlark.String)
		if len(s) > maxDigits {
			return 0, fmt.Errorf("a number of more than %d digits", maxDigits)
		}
		return reading(len(s)), nil
	case "json.decode":
		return decodePrice(args)
	case "zip":
		return zipPrice(args), nil
	case "sorted":
		return r.orderPrice(starlark.Tuple{argument("iterable", args, kwargs)}, true), nil
	case "min", "max":
		return r.orderPrice(args, false), nil
	case "index", "remove":
		if list != nil {
			return times(uint64(list.Len()), r.surface(first(args), r.left())), nil
		}
		return weight(recv), nil
	case "insert", "pop": // moves what is behind
		if list != nil && len(args) > 0 {
			return uint64(list.Len()) / 64, nil
		}
		return 0, nil
	case "strip", "lstrip", "rstrip": // looks each character up
		cutset, _ := first(args).(starlark.String)
		return spans() + times(weight(recv), 1+uint64(len(cutset))/256), nil
	case "enumerate":
		return times(6, spans()), nil
	case "any", "all", "extend":
		return spans(), nil
	case "update":
		n := spans()
		return times(8, n) + r.crowd(b, values, n), nil
	case "dict", "set", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset":
		n := spans()
		return times(8, n) + r.crowd(b, values, n) + weight(b.Receiver()), nil
	default:
		if lookups[name] {
			return 0, nil
		}
		return spans() + weight(b.Receiver()), nil
	}
}

func first(args starlark.Tuple) Value { return argument("", args, nil) }

// argument is the first one, which may also go by its name.
func argument(name string, args starlark.Tuple, kwargs []starlark.Tuple) Value {
	if len(args) > 0 {
		return args[0]
	}
	for _, kv := range kwargs {
		if kv[0] == starlark.String(name) {
			return kv[1]
		}
	}
	return starlark.None
}

// crowd is the price of equal hashes: values that share one are compared with
// each other. Whole numbers are hashed by their last 32 bits, so such are found
// easily. Few of them do no harm, whatever their hashes.
func (r *Run) crowd(b *starlark.Builtin, values []Value, n uint64) (price uint64) {
	if n < 4096 || n > r.left() {
		return 0
	}
	_, ofDict := b.Receiver().(*starlark.Dict)
	type group struct {
		first  Value
		others uint64
	}
	groups := map[uint32]group{}
	for _, list := range values {
		it, ok := list.(starlark.Iterable)
		if !ok {
			continue
		}
		for v := range starlark.Elements(it) {
			if pair, ok := v.(starlark.Indexable); ok && pair.Len() == 2 && (ofDict || b.Name() == "dict") {
				v = pair.Index(0)
			}
			h, err := v.Hash()
			if err != nil || price > r.left() {
				return price
			}
			g, ok := groups[h]
			if !ok {
				g.first = v
			} else if same, err := starlark.Equal(v, g.first); err == nil && !same {
				g.others++
				price += g.others / 16
			}
			groups[h] = g
		}
	}
	return price
}

func (r *Run) joinPrice(sep string, args starlark.Tuple) uint64 {
	it := starlark.Iterate(first(args))
	if it == nil {
		return 0
	}
	defer it.Done()
	var sum uint64
	var v Value
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

// zipPrice is that of the rows that the shortest of the lists makes, or the first
// if none knows how long it is.
func zipPrice(args starlark.Tuple) uint64 {
	rows := uint64(math.MaxUint64)
	for _, v := range args {
		if n := starlark.Len(v); n >= 0 {
			rows = min(rows, uint64(n))
		}
	}
	if rows == math.MaxUint64 {
		rows = span(first(args))
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
	depth, digits := 0, 0
	for i := range len(s) {
		if '0' <= s[i] && s[i] <= '9' {
			digits++
			continue
		}
		price += reading(digits)
		digits = 0
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
	return price + reading(digits) + uint64(len(s))/4, nil
}

// orderPrice is that of comparing each element about log n times.
func (r *Run) orderPrice(args starlark.Tuple, sort bool) uint64 {
	values := slices.Values(args)
	if len(args) == 1 {
		list, ok := args[0].(starlark.Iterable)
		if !ok {
			return 0
		}
		if n := span(list); n > r.left() {
			return n
		}
		values = starlark.Elements(list)
	}
	var sum, n uint64
	for v := range values {
		n++
		if sum += r.surface(v, r.left()); sum > r.left() {
			return sum
		}
	}
	if sort {
		return times(sum, uint64(1+bits.Len64(n)/4))
	}
	return sum
}

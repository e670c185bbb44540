package starlark

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Limits of the shared dialect on single values. An operation on two numbers of
// the most bits takes microseconds.
const (
	mostBits   = 1 << 14
	mostReason = 8 << 10  // bytes of a refusal that are kept
	mostStrip  = 200      // bytes
	mostParsed = 1000     // bytes of a number as text
	mostKey    = 64 << 20 // bytes of texts in a tuple, which is hashed as a whole
)

// functions are those of the shared dialect, and its guards.
var functions = map[string]Function{
	"print": {0, 100, (*Run).print}, "fail": {1, 1, fail}, "len": {1, 1, length}, "range": {1, 3, native("range")}, "bool": {1, 1, native("bool")},
	"float": {1, 1, ofScalars("float")}, "int": {1, 1, ofScalars("int")}, "str": {1, 1, ofScalars("str")}, "abs": {1, 1, ofScalars("abs")},
	"min": {2, 100, ofScalars("min")}, "max": {2, 100, ofScalars("max")},
	"sorted": {1, 1, (*Run).sorted}, "enumerate": {1, 1, (*Run).enumerate},
	"$keep": {1, 1, (*Run).kept}, "$display": {1, 1, (*Run).display}, "$cell": {1, 1, (*Run).cell}, "$set": {3, 3, (*Run).set}, "$+=": {2, 2, (*Run).add},
}

// methods are those of values; their first argument is the value. They are done
// here and not by Starlark: so their price is known, and where Python does
// something else, such as with split(), they are refused. strip takes what to
// strip off, since white space is not the same in Python.
var methods = map[string]Function{
	"append": {2, 2, (*Run).append}, "extend": {2, 2, (*Run).extend}, "pop": {1, 1, pop}, "get": {2, 3, get},
	"split": {2, 2, ofTexts((*Run).split)}, "join": {2, 2, (*Run).join}, "replace": {3, 3, ofTexts((*Run).replace)},
	"lower": {1, 1, written(strings.ToLower)}, "upper": {1, 1, written(strings.ToUpper)},
	"strip": {2, 2, trim(strings.Trim)}, "lstrip": {2, 2, trim(strings.TrimLeft)}, "rstrip": {2, 2, trim(strings.TrimRight)},
	"startswith": {2, 2, ask(func(s, t string) Value { return starlark.Bool(strings.HasPrefix(s, t)) })},
	"endswith":   {2, 2, ask(func(s, t string) Value { return starlark.Bool(strings.HasSuffix(s, t)) })},
	"find":       {2, 2, ask(func(s, t string) Value { return starlark.MakeInt(strings.Index(s, t)) })},
	"rfind":      {2, 2, ask(func(s, t string) Value { return starlark.MakeInt(strings.LastIndex(s, t)) })},
	"count":      {2, 2, ask(func(s, t string) Value { return starlark.MakeInt(strings.Count(s, t)) })},
}

// mathematics are the functions that mean the same in Python, to the last bit but
// one. floor and ceil are missing because int and // do the same.
var mathematics = map[string]func(float64) float64{
	"sqrt": math.Sqrt, "log": math.Log, "log10": math.Log10, "exp": math.Exp,
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
}

func inMath(name string) bool { return name == "pi" || name == "e" || mathematics[name] != nil }

// ofMath refuses what Python refuses: the logarithm of zero is no number.
func ofMath(name string, f func(float64) float64) action {
	return func(_ *Run, args []Value) (Value, error) {
		x, ok := starlark.AsFloat(args[0])
		if !ok {
			return nil, fmt.Errorf("math.%s got a %s, want a number", name, args[0].Type())
		}
		y := f(x)
		if (math.IsNaN(y) && !math.IsNaN(x)) || (math.IsInf(y, 0) && !math.IsInf(x, 0)) {
			return nil, fmt.Errorf("math.%s of %s is no number", name, args[0])
		}
		return starlark.Float(y), nil
	}
}

func sharedNames(env starlark.StringDict) {
	env["$math.pi"], env["$math.e"] = starlark.Float(math.Pi), starlark.Float(math.E)
	for name, f := range functions {
		env[name] = bind(name, f)
	}
	for name, f := range methods {
		env["$."+name] = bind("$."+name, f)
	}
	for name, f := range mathematics {
		env["$math."+name] = bind("$math."+name, Function{1, 1, ofMath(name, f)})
	}
	// The rest of Starlark's own functions could be named otherwise.
	for name, v := range starlark.Universe {
		if _, ok := v.(*starlark.Builtin); ok && env[name] == nil {
			env[name] = bind(name, Function{0, math.MaxInt, func(*Run, []Value) (Value, error) {
				return nil, fmt.Errorf("there is no %s here", name)
			}})
		}
	}
}

// cells is the price of a list of n values.
func cells(n int) uint64 { return 48 + 32*uint64(n) }

// kept pays for a value that was just made.
func (r *Run) kept(args []Value) (Value, error) {
	switch v := args[0].(type) {
	case starlark.String:
		return v, r.Keep(uint64(len(v)))
	case *starlark.List:
		return v, r.Keep(cells(v.Len()))
	case starlark.Tuple:
		if err := flat(v); err != nil {
			return nil, err
		}
		return v, r.Keep(cells(len(v)))
	case *starlark.Dict:
		return v, r.Keep(512 + 128*uint64(v.Len()))
	}
	return args[0], nil
}

// display pays for a list, tuple or dict that the program wrote out, with the
// large whole numbers in it: nobody paid for those yet.
func (r *Run) display(args []Value) (Value, error) {
	bits, text := uint64(0), 0
	count := func(v Value) {
		bits += max(bitsOf(v), 64) - 64
		text += lengthOf(v)
	}
	switch v := args[0].(type) {
	case *starlark.Dict:
		for key, value := range v.Entries() {
			count(key)
			count(value)
		}
	case starlark.Iterable:
		for e := range starlark.Elements(v) {
			count(e)
		}
	}
	if _, ok := args[0].(starlark.Tuple); ok && text > mostKey {
		return nil, fmt.Errorf("a tuple of more than %d MiB of texts; use a list", mostKey>>20)
	}
	if err := r.Keep(bits / 8); err != nil {
		return nil, err
	}
	return r.kept(args)
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
func (r *Run) cell(args []Value) (Value, error) { return args[0], r.Keep(40 + bitsOf(args[0])/8) }

func bitsOf(v Value) uint64 {
	if i, ok := v.(starlark.Int); ok {
		return uint64(bitLen(i))
	}
	return 0
}

// set is x[i] = v.
func (r *Run) set(args []Value) (Value, error) {
	if _, err := r.cell(args[2:]); err != nil {
		return nil, err
	}
	switch x := args[0].(type) {
	case *starlark.Dict:
		if err := r.Keep(128 + bitsOf(args[1])/8); err != nil {
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
func (r *Run) add(args []Value) (Value, error) {
	if _, ok := args[0].(*starlark.List); ok {
		return nil, errors.New("use append or extend to make a list longer")
	}
	return r.binary(syntax.PLUS, args[0], args[1])
}

// payShared pays for x op y.
func (r *Run) payShared(op syntax.Token, x, y Value) error {
	switch op {
	case syntax.MINUS:
		// This call is one instruction more than the difference alone, which is what
		// it shall cost.
		r.thread.Steps--
		return fits(max(bitsOf(x), bitsOf(y)))
	case syntax.PLUS, syntax.STAR, syntax.PERCENT:
		return r.paySum(op, x, y)
	case syntax.IN, syntax.NOT_IN:
		if !scalar(x) {
			return fmt.Errorf("whether a %s is in something cannot be asked", x.Type())
		}
		size := max(0, starlark.Len(y))
		if _, ok := y.(*starlark.List); ok {
			size *= 16
		}
		return r.work(size + lengthOf(x))
	}
	if !scalar(x) || !scalar(y) {
		return fmt.Errorf("a %s and a %s cannot be compared; compare their parts", x.Type(), y.Type())
	}
	return r.work(lengthOf(x))
}

func (r *Run) paySum(op syntax.Token, x, y Value) error {
	switch x := x.(type) {
	case starlark.Int, starlark.Float:
		if !isNumber(y) {
			break
		}
		bits := max(bitsOf(x), bitsOf(y))
		if op == syntax.STAR {
			bits = bitsOf(x) + bitsOf(y)
		}
		return fits(bits)
	case starlark.String:
		if y, ok := y.(starlark.String); ok && op == syntax.PLUS {
			return errors.Join(r.Keep(uint64(len(x)+len(y))), r.work(len(x)+len(y)))
		}
	case *starlark.List:
		if y, ok := y.(*starlark.List); ok && op == syntax.PLUS {
			return errors.Join(r.Keep(cells(x.Len()+y.Len())), r.work(16*(x.Len()+y.Len())))
		}
	}
	return fmt.Errorf("there is no %s %s %s here", x.Type(), op, y.Type())
}

func fits(bits uint64) error {
	if bits > mostBits {
		return fmt.Errorf("a whole number of more than %d bits", mostBits)
	}
	return nil
}

func isNumber(v Value) bool {
	switch v.(type) {
	case starlark.Int, starlark.Float:
		return true
	}
	return false
}

func scalar(v Value) bool {
	switch v.(type) {
	case starlark.String, starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType:
		return true
	}
	return false
}

// lengthOf is that of a text.
func lengthOf(v Value) int {
	s, _ := v.(starlark.String)
	return len(s)
}

func (r *Run) print(args []Value) (Value, error) {
	for i, a := range args {
		text, err := asText(a)
		if err != nil {
			return nil, err
		}
		if r.out.Len()+len(text)+2 > r.Output {
			return nil, r.tooMuchPrinted()
		}
		if i > 0 {
			r.out.WriteByte(' ')
		}
		r.out.WriteString(text)
	}
	if r.out.Len() >= r.Output {
		return nil, r.tooMuchPrinted()
	}
	r.out.WriteByte('\n')
	return starlark.None, nil
}

func fail(_ *Run, args []Value) (Value, error) {
	text, err := asText(args[0])
	if err != nil {
		return nil, err
	}
	if len(text) > mostReason {
		text = strings.ToValidUTF8(text[:mostReason], "") + "..."
	}
	return nil, &Refusal{Reason: text}
}

// asText is a value as a text. Only plain values have one: writing out what is
// nested would recurse as deep.
func asText(v Value) (string, error) {
	if s, ok := starlark.AsString(v); ok {
		return s, nil
	}
	if !scalar(v) {
		return "", fmt.Errorf("a %s cannot be written out; write its parts", v.Type())
	}
	return v.String(), nil
}

// native is a function of Starlark itself that needs no guard. A number that it
// makes is paid for where it is stored; a range is not a number.
func native(name string) action {
	b := starlark.Universe[name].(*starlark.Builtin)
	return func(r *Run, args []Value) (Value, error) {
		v, err := b.CallInternal(r.thread, args, nil)
		if err != nil {
			return nil, err
		}
		if s, ok := v.(starlark.String); ok {
			return v, r.Keep(uint64(len(s)))
		}
		if scalar(v) {
			return v, nil
		}
		return v, r.Keep(48)
	}
}

// ofScalars is one that may only see plain values of moderate size.
func ofScalars(name string) action {
	do := native(name)
	return func(r *Run, args []Value) (Value, error) {
		for _, a := range args {
			if !scalar(a) {
				return nil, fmt.Errorf("%s got a %s, want numbers or texts", name, a.Type())
			}
			if n := lengthOf(a); n > mostParsed && name != "str" {
				return nil, fmt.Errorf("%s got a text of %d bytes", name, n)
			}
		}
		return do(r, args)
	}
}

func length(_ *Run, args []Value) (Value, error) {
	n := starlark.Len(args[0])
	if n < 0 {
		return nil, fmt.Errorf("a %s has no length", args[0].Type())
	}
	return starlark.MakeInt(n), nil
}

func (r *Run) sorted(args []Value) (Value, error) {
	list, ok := args[0].(*starlark.List)
	if !ok {
		return nil, fmt.Errorf("sorted got a %s, want a list", args[0].Type())
	}
	for v := range list.Elements() {
		if !scalar(v) {
			return nil, errors.New("sorted takes numbers or texts")
		}
		if err := r.work(lengthOf(v)); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(r.Keep(cells(list.Len())), r.work(512*list.Len())); err != nil {
		return nil, err
	}
	return starlark.Universe["sorted"].(*starlark.Builtin).CallInternal(r.thread, args, nil)
}

func (r *Run) enumerate(args []Value) (Value, error) {
	list, ok := args[0].(*starlark.List)
	if !ok {
		return nil, fmt.Errorf("enumerate got a %s, want a list", args[0].Type())
	}
	if err := r.Keep(4 * cells(list.Len())); err != nil {
		return nil, err
	}
	pairs := make([]Value, 0, list.Len())
	for i := range list.Len() {
		pair := starlark.Tuple{starlark.MakeInt(i), list.Index(i)}
		if err := flat(pair); err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	return starlark.NewList(pairs), nil
}

func (r *Run) append(args []Value) (Value, error) {
	list, ok := args[0].(*starlark.List)
	if !ok {
		return nil, fmt.Errorf("a %s has no append", args[0].Type())
	}
	if _, err := r.cell(args[1:]); err != nil {
		return nil, err
	}
	return starlark.None, list.Append(args[1])
}

func (r *Run) extend(args []Value) (Value, error) {
	list, ok := args[0].(*starlark.List)
	more, both := args[1].(*starlark.List)
	if !ok || !both {
		return nil, errors.New("extend makes a list longer by another")
	}
	n := more.Len()
	if err := errors.Join(r.Keep(cells(n)), r.work(16*n)); err != nil {
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
func pop(_ *Run, args []Value) (Value, error) {
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

func get(_ *Run, args []Value) (Value, error) {
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

// ofTexts is a method that has texts for arguments, and is a text's.
func ofTexts(do func(r *Run, t []string) (Value, error)) action {
	return func(r *Run, args []Value) (Value, error) {
		list := make([]string, len(args))
		for i, a := range args {
			s, ok := starlark.AsString(a)
			if !ok {
				return nil, fmt.Errorf("got a %s, want a text", a.Type())
			}
			list[i] = s
		}
		return do(r, list)
	}
}

func (r *Run) split(t []string) (Value, error) {
	if t[1] == "" {
		return nil, errors.New("split needs something to split at")
	}
	n := strings.Count(t[0], t[1]) + 1
	if err := errors.Join(r.work(len(t[0])), r.Keep(cells(n))); err != nil {
		return nil, err
	}
	return listOf(n, strings.SplitSeq(t[0], t[1])), nil
}

func (r *Run) join(args []Value) (Value, error) {
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
		if size += uint64(len(s) + len(sep) + 16); size > r.Memory {
			return nil, r.Keep(size)
		}
		parts = append(parts, s)
	}
	if err := errors.Join(r.Keep(size), r.work(int(size))); err != nil {
		return nil, err
	}
	return starlark.String(strings.Join(parts, sep)), nil
}

func (r *Run) replace(t []string) (Value, error) {
	if t[1] == "" {
		return nil, errors.New("replace needs something to look for")
	}
	if err := r.work(len(t[0])); err != nil {
		return nil, err
	}
	n := strings.Count(t[0], t[1])
	if n == 0 {
		return starlark.String(t[0]), nil
	}
	if err := r.Keep(uint64(len(t[0])) + uint64(n)*uint64(len(t[2]))); err != nil {
		return nil, err
	}
	return starlark.String(strings.ReplaceAll(t[0], t[1], t[2])), nil
}

func written(f func(string) string) action {
	return ofTexts(func(r *Run, t []string) (Value, error) {
		if err := errors.Join(r.work(len(t[0])), r.Keep(2*uint64(len(t[0])))); err != nil {
			return nil, err
		}
		return starlark.String(f(t[0])), nil
	})
}

func trim(f func(s, cutset string) string) action {
	return ofTexts(func(r *Run, t []string) (Value, error) {
		if len(t[1]) > mostStrip {
			return nil, fmt.Errorf("more than %d characters to strip", mostStrip)
		}
		s := f(t[0], t[1])
		return starlark.String(s), r.work((len(t[0]) - len(s)) * (1 + len(t[1])/16))
	})
}

func ask(f func(s, t string) Value) action {
	return ofTexts(func(r *Run, t []string) (Value, error) { return f(t[0], t[1]), r.work(len(t[0])) })
}

package starlark

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Limits of the full dialect on single values, for what takes more than linear time or recurses.
const (
	maxBits   = 1 << 20   // of an integer
	maxDigits = 256 << 10 // of a number or a JSON text to parse
	maxDepth  = 1000      // of what is printed or compared as a whole
	maxTuple  = 1 << 16   // nodes of a tuple of tuples, which is hashed as a whole
	maxNested = 100       // depth of a tuple of tuples
	maxCalls  = 1000      // of functions within each other
)

// times is a product that stops at far more than anyone has, and leaves room for
// sums.
func times(a, b uint64) uint64 {
	const enough = 1 << 56
	if over, p := bits.Mul64(a, b); over == 0 && p <= enough {
		return p
	}
	return enough
}

// weight is the price of a copy of v, not of what v refers to.
func weight(v Value) uint64 {
	switch v := v.(type) {
	case starlark.String:
		return uint64(len(v)) / 16
	case starlark.Bytes:
		return uint64(len(v)) / 16
	case starlark.Int:
		return uint64(bitLen(v)) / 128
	case *starlark.List:
		return uint64(v.Len()) + 4
	case starlark.Tuple:
		return uint64(len(v)) + 3
	case *starlark.Dict:
		return 8*uint64(v.Len()) + 40
	case *starlark.Set:
		return 8*uint64(v.Len()) + 40
	case *starlark.Function:
		return 8
	}
	return 0
}

func bitLen(i starlark.Int) int {
	if _, ok := i.Int64(); ok {
		return 64
	}
	return i.BigInt().BitLen()
}

// Arithmetic with long integers takes more than linear time. The prices below were measured: a
// step is worth about a tenth of a microsecond.

// words is the length of an integer.
func words(i starlark.Int) uint64 { return uint64(bitLen(i)+63) / 64 }

// multiplying is the price of a product of two integers of so many words.
func multiplying(a, b uint64) uint64 {
	short := min(a, b)
	return times(a, b) / (32 * uint64(max(1, math.Sqrt(float64(short)))))
}

// dividing is that of a quotient or a remainder.
func dividing(a, b uint64) uint64 {
	if a < b {
		return 0
	}
	return 2 * multiplying(b, a-b+1)
}

// writing is that of the digits of an integer, reading that of an integer from its digits, which
// takes time by their square.
func writing(a uint64) uint64 { return 20 * multiplying(a/2, a/2) }

func reading(digits int) uint64 {
	a := uint64(digits) / 19
	return times(a, a) / 38
}

// span is how many elements come out of v when it is iterated over.
func span(v Value) uint64 {
	switch v.(type) {
	case starlark.String, starlark.Bytes:
		return weight(v)
	}
	if n := starlark.Len(v); n >= 0 {
		return uint64(n)
	}
	n := uint64(0)
	if it, ok := v.(starlark.Iterable); ok { // codepoints and bytes do not know how many they are
		for range starlark.Elements(it) {
			n++
		}
	}
	return n
}

// keep pays for a value that was just made and looks whether it may exist.
func (r *Run) keep(v Value) (Value, error) {
	if err := r.spend(weight(v)); err != nil {
		return nil, err
	}
	return v, r.check(v)
}

// check refuses the values that would make a later instruction endless: hashing
// a tuple goes through all the tuples in it, however often they are shared.
func (r *Run) check(v Value) error {
	switch v := v.(type) {
	case starlark.Int:
		if bitLen(v) > maxBits {
			return fmt.Errorf("an integer of more than %d bits", maxBits)
		}
	case starlark.Tuple:
		var e extent
		if !e.add(v, maxNested) {
			return fmt.Errorf("tuples within tuples, more than %d values or %d levels of them; use lists", maxTuple, maxNested)
		}
		if e.text > maxTuple<<10 {
			return fmt.Errorf("a tuple of more than %d MiB of texts and numbers; use a list", maxTuple>>10)
		}
		return r.spend(uint64(e.nodes) / 4)
	}
	return nil
}

// extent is what a tuple and those within it hold: what is hashed as a whole, and
// written out if it is a key that is not there.
type extent struct{ nodes, text int }

func (e *extent) add(t starlark.Tuple, depth int) bool {
	if depth == 0 {
		return false
	}
	for _, v := range t {
		switch v := v.(type) {
		case starlark.Tuple:
			e.nodes++
			if !e.add(v, depth-1) {
				return false
			}
		case starlark.String:
			e.nodes += len(v) >> 10
			e.text += len(v)
		case starlark.Bytes:
			e.text += len(v)
		case starlark.Int:
			e.text += (bitLen(v) - 64) / 3
		}
		if e.nodes > maxTuple {
			return false
		}
		if e.text > maxTuple<<10 {
			break // enough is known
		}
	}
	return true
}

// measure sums up a value and all that it refers to, counting what is shared as
// often as it is met.
type measure struct {
	sum, limit uint64
	deep       bool
}

func (m *measure) add(v Value, depth int) {
	m.sum++
	if m.sum > m.limit {
		return
	}
	if depth == 0 {
		m.deep = true
		return
	}
	switch v := v.(type) {
	case starlark.String:
		m.sum += uint64(len(v)) / 4
	case starlark.Bytes:
		m.sum += uint64(len(v)) / 4
	case starlark.Int:
		m.sum += uint64(bitLen(v)-64)/48 + writing(words(v))
	case *starlark.List:
		for i := 0; i < v.Len() && m.sum <= m.limit; i++ {
			m.add(v.Index(i), depth-1)
		}
	case starlark.Tuple:
		for i := 0; i < len(v) && m.sum <= m.limit; i++ {
			m.add(v[i], depth-1)
		}
	case *starlark.Dict:
		for k, e := range v.Entries() {
			m.add(k, depth-1)
			m.add(e, depth-1)
			if m.sum > m.limit {
				return
			}
		}
	case *starlark.Set:
		for k := range v.Elements() {
			m.add(k, depth-1)
			if m.sum > m.limit {
				return
			}
		}
	default:
		// Only what is iterated over lazily is left: ranges, and strings by element.
		if it, ok := v.(starlark.Iterable); !ok {
			return
		} else if n := starlark.Len(v); n >= 0 {
			m.sum += times(2, uint64(n))
		} else {
			m.sum += uint64(len(it.String())) / 4
		}
	}
}

// text is the price of writing v out.
func (r *Run) text(v Value) (uint64, error) {
	m := measure{limit: r.left()}
	m.add(v, maxDepth)
	if m.deep {
		return 0, fmt.Errorf("a %s that is nested more than %d deep, or contains itself", v.Type(), maxDepth)
	}
	return m.sum, nil
}

func (r *Run) texts(list []Value) (uint64, error) {
	var sum uint64
	for _, v := range list {
		n, err := r.text(v)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// surface is the price of comparing v with something; Starlark looks no deeper
// than CompareLimit.
func (r *Run) surface(v Value, limit uint64) uint64 {
	switch v.(type) {
	case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set:
		m := measure{limit: limit}
		m.add(v, starlark.CompareLimit+1)
		return m.sum
	}
	return 1 + weight(v)
}

// binaryPrice is that of x op y in the full dialect.
func (r *Run) binaryPrice(op syntax.Token, x, y Value) (uint64, error) {
	switch op {
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		return r.surface(y, r.surface(x, r.left())), nil
	case syntax.IN, syntax.NOT_IN:
		switch y := y.(type) {
		case *starlark.List, starlark.Tuple:
			return times(span(y), r.surface(x, r.left())), nil
		case starlark.String, starlark.Bytes:
			return weight(y), nil
		}
		return weight(x), nil
	case syntax.STAR:
		if n, ok := x.(starlark.Int); ok {
			return r.product(y, n)
		}
		if n, ok := y.(starlark.Int); ok {
			return r.product(x, n)
		}
		return 0, nil
	case syntax.PERCENT:
		if format, ok := x.(starlark.String); ok {
			n, err := r.text(y)
			return times(n, 1+uint64(strings.Count(string(format), "%("))) + weight(format), err
		}
	}
	if a, ok := x.(starlark.Int); ok {
		price := max(weight(x), weight(y))
		if b, ok := y.(starlark.Int); ok && (op == syntax.SLASHSLASH || op == syntax.PERCENT) {
			price += dividing(words(a), words(b))
		}
		return price, nil
	}
	return weight(x) + weight(y), nil
}

// product is the price of x * n: n copies, unless both are numbers.
func (r *Run) product(x Value, n starlark.Int) (uint64, error) {
	if x, ok := x.(starlark.Int); ok {
		size := bitLen(x) + bitLen(n)
		if size > maxBits {
			return 0, fmt.Errorf("an integer of more than %d bits", maxBits)
		}
		return uint64(size)/128 + multiplying(words(x), words(n)), nil
	}
	if n.Sign() <= 0 {
		return 0, nil
	}
	count, ok := n.Uint64()
	if !ok {
		return r.Steps + 1, nil
	}
	switch x := x.(type) {
	case starlark.String:
		return times(uint64(len(x)), count) / 16, nil
	case starlark.Bytes:
		return times(uint64(len(x)), count) / 16, nil
	case *starlark.List, starlark.Tuple:
		return times(span(x), count), nil
	}
	return 0, nil
}

// operand is the right side of x op= y: it makes the interpreter ask us for the
// result.
type operand struct {
	Value
	run *Run
}

// Binary is other op= o, which changes a list or a dict in place.
func (o operand) Binary(op syntax.Token, other Value, _ starlark.Side) (Value, error) {
	method := ""
	switch other.(type) {
	case *starlark.List:
		if _, ok := o.Value.(starlark.Iterable); ok && op == syntax.PLUS {
			method = "extend"
		}
	case *starlark.Dict:
		if _, ok := o.Value.(*starlark.Dict); ok && op == syntax.PIPE {
			method = "update"
		}
	}
	if method == "" {
		return o.run.binary(op, other, o.Value)
	}
	f, err := other.(starlark.HasAttrs).Attr(method)
	if err != nil {
		return nil, err
	}
	_, err = wrap(f.(*starlark.Builtin)).CallInternal(o.run.thread, starlark.Tuple{o.Value}, nil)
	return other, err
}

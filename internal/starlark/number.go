package starlark

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// sum adds up numbers, or anything with a + if there is a start value. Floats
// are added with Neumaier's correction, as Python does.
func (r *Run) sum(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (Value, error) {
	var list starlark.Iterable
	var start Value = starlark.MakeInt(0)
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
func (r *Run) round(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (Value, error) {
	var x, digits Value
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
		return r.keep(starlark.MakeBigInt(roundToTens(x.BigInt(), big.NewInt(1), -places)))
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
func (r *Run) pow(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (Value, error) {
	var x, y, mod Value
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
		words := uint64(bitLen(m)+63) / 64
		if err := r.spend(uint64(bitLen(exp)) * words * words / 128); err != nil {
			return nil, err
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
		// The last product is the longest, and all before it together are not longer.
		half := times(uint64(b.BitLen()), e.Uint64()) / 128
		if err := r.spend(2 * multiplying(half, half)); err != nil {
			return nil, err
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

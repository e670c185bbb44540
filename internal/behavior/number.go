package behavior

import "strings"

// decimal is a number as it is written in JSON, taken apart: 0.digits × 10^exp,
// without zeros at either end of the digits. It is compared exactly, and never
// becomes a float: those differ between machines.
type decimal struct {
	negative bool
	digits   string
	exp      int
}

// maxExponent bounds what is compared; nobody means more.
const maxExponent = 1_000_000

func parseDecimal(s string) (d decimal, ok bool) {
	s, d.negative = strings.CutPrefix(s, "-")
	mantissa, exponent, has := strings.Cut(strings.ToLower(s), "e")
	exp := 0
	if has {
		sign := 1
		if exponent, has = strings.CutPrefix(exponent, "-"); has {
			sign = -1
		} else {
			exponent = strings.TrimPrefix(exponent, "+")
		}
		if exponent == "" {
			return d, false
		}
		if exponent = strings.TrimLeft(exponent, "0"); len(exponent) > 9 {
			return d, false
		}
		for _, c := range []byte(exponent) {
			if c < '0' || c > '9' {
				return d, false
			}
			exp = exp*10 + int(c-'0')
		}
		exp *= sign
	}
	whole, fraction, dotted := strings.Cut(mantissa, ".")
	if whole == "" || dotted && fraction == "" {
		return d, false
	}
	all := whole + fraction
	for _, c := range []byte(all) {
		if c < '0' || c > '9' {
			return d, false
		}
	}
	lead := len(all) - len(strings.TrimLeft(all, "0"))
	d.digits = strings.TrimRight(all[lead:], "0")
	d.exp = exp + len(whole) - lead
	if d.digits == "" {
		return decimal{}, true // zero has no sign
	}
	return d, d.exp <= maxExponent && d.exp >= -maxExponent
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// compareNumbers says whether a is less than, equal to or more than b. It is not
// ok if one of them is no number.
func compareNumbers(a, b string) (int, bool) {
	x, okX := parseDecimal(a)
	y, okY := parseDecimal(b)
	if !okX || !okY {
		return 0, false
	}
	if x.sign() != y.sign() {
		return x.sign() - y.sign(), true
	}
	c := x.exp - y.exp
	if c == 0 {
		c = strings.Compare(x.digits, y.digits)
	}
	return c * x.sign(), true
}

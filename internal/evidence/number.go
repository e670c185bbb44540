// Package evidence weighs what claims say against what their sources say.
//
// It knows three things: which numbers a text holds, and whether those of a claim
// occur in a source or follow from one (Missing); whether two values agree
// (Values, Agree); and which of several claims that attack each other stand
// (Grounded).
//
// Everything is pure and exact. A number is its digits and a power of ten, never
// a binary fraction; so 0.1 is 0.1, and the same texts give the same answer on
// every machine. All of it takes time in proportion to the texts, also when they
// are hostile: no number is ever built from its exponent.
package evidence

import (
	"strconv"
	"strings"
)

// Limits of what is compared as a number. What is beyond is compared as it is
// written.
const (
	maxDigits   = 1000
	maxExponent = 400
)

// Number is one in a text.
type Number struct {
	// Text is the number as written, with its sign, exponent and percent sign.
	Text string

	negative bool
	digits   string // without zeros in front; "" is zero
	exponent int    // the power of ten that the last digit counts
	percent  bool
	odd      bool   // beyond the limits
	key      string // what is compared of a number that is not evaluated
}

// String is the number in one form for all ways to write it: digits without
// zeros at either end, and a power of ten.
func (n Number) String() string {
	if n.key != "" {
		return n.key
	}
	if n.odd {
		return n.Text
	}
	digits := strings.TrimRight(n.digits, "0")
	if digits == "" {
		return "0"
	}
	exponent := n.exponent + len(n.digits) - len(digits)
	if n.percent {
		exponent -= 2
	}
	return n.sign() + digits + "e" + strconv.Itoa(exponent)
}

func (n Number) sign() string {
	if n.negative {
		return "-"
	}
	return ""
}

// fraction reads a percentage as the fraction that it is.
func (n Number) fraction() Number {
	if n.percent {
		n.exponent -= 2
		n.percent = false
	}
	return n
}

// face reads a percentage as the number in front of the sign.
func (n Number) face() Number {
	n.percent = false
	return n
}

// scaled is n times a power of ten.
func (n Number) scaled(power int) Number {
	if n.odd && n.key == "" && power != 0 {
		n.key = n.Text + " times ten to " + strconv.Itoa(power)
	}
	n.exponent += power
	return n
}

// atMostOne tells whether n can be the fraction of a whole.
func (n Number) atMostOne() bool {
	return !n.odd && (len(n.digits)+n.exponent <= 0 || strings.TrimPrefix(n.String(), "-") == "1e0")
}

// rounded are the digits of n at 10^exponent: rounded half up and half to even,
// which differ only where n is just between. There are none if n shows no more
// digits than that, or if nothing but zero is left.
func (n Number) rounded(exponent int) (up, even string) {
	drop := exponent - n.exponent
	if drop <= 0 || drop > len(n.digits) {
		return "", ""
	}
	kept, rest := n.digits[:len(n.digits)-drop], n.digits[len(n.digits)-drop:]
	half := "5" + strings.Repeat("0", drop-1)
	switch {
	case rest < half:
		return kept, kept
	case rest > half || kept != "" && (kept[len(kept)-1]-'0')%2 == 1:
		return increment(kept), increment(kept)
	}
	return increment(kept), kept
}

// increment adds one to a number in digits.
func increment(digits string) string {
	nines := len(digits) - len(strings.TrimRight(digits, "9"))
	zeros := strings.Repeat("0", nines)
	if nines == len(digits) {
		return "1" + zeros
	}
	last := len(digits) - nines - 1
	return digits[:last] + string(digits[last]+1) + zeros
}

// textual is a number that is compared as text, by its key.
func textual(text, key string) Number { return Number{Text: text, key: key, odd: true} }

// made builds a number from what was read. The digits may begin with zeros.
func made(text, digits string, exponent int, negative, percent bool) Number {
	digits = strings.TrimLeft(digits, "0")
	n := Number{Text: text, negative: negative && digits != "", digits: digits, exponent: exponent, percent: percent}
	n.odd = len(digits) > maxDigits || exponent > maxExponent || exponent < -maxExponent
	return n
}

// Numbers returns the numbers of a text, in order. A number here is a quantity:
// what merely holds digits does not count:
//
//   - names: H2O, sha256, UTF-8, rates-2.csv, 2024_run, 1.2.3, pH7
//   - the 1 of a unit such as 1/s, and exponents of units such as m² and s^-1
//   - pointers: citations such as [1] and [1, 2], the number of a list's item,
//     ordinals such as 2nd, and what follows Section, Figure, Table, Step, #
//     and the like
//
// But each of them counts after all if a unit of measure follows: no. 99 kJ is one
// way to say 99 kJ. A name then counts as a whole, E99.
//
// Numbers in quotes count: a quoted claim is one. So does 300 in 300K and 5 in
// 5-fold; so do ½, ① and Ⅻ, and ninety-nine before a unit or percent.
func Numbers(text string) []Number {
	var list []Number
	for _, f := range scan(text).found {
		list = append(list, f.number)
	}
	return list
}

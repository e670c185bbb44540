package demo

import (
	"fmt"
	"math/big"
	"strings"
)

// constants gives digits of pi, e, ln 2 and square roots.
type constants struct{}

var constantTo = late(`^(?:first )?(?:(\d+) (?:digits|decimals|decimal places|places) )?(pi|e|euler's number|ln 2|ln\(2\)|log 2|natural logarithm 2|square root \d+|sqrt ?\(?\d+\)?)(?: to (\d+) (?:digits|decimals|decimal places|places)(?: after (?:decimal )?point)?)?$`)

func (constants) recognise(s sentence) (inquiry, bool) {
	m := constantTo.FindStringSubmatch(s.plain)
	if m == nil || (m[1] == "") == (m[3] == "") {
		return nil, false
	}
	name, build := constant(m[2])
	places := digitsOf(m[1] + m[3])
	asks := name + " to " + brief(grouped(places.String())) + " digits after the point, cut off and not rounded"
	k, beyond := within(places, 1, 1000, asks, "a number of digits")
	if beyond != nil {
		return beyond, true
	}
	if build == nil {
		return &task{asks: asks, refused: "I did not compute this: I take square roots of numbers from 2 to 1,000,000 only.", looked: "I take the question to be: " + asks + "."}, true
	}
	t := &task{asks: asks, show: func(r string) string { return fmt.Sprintf("**%s** is %s.", firstLine(r), asks) }}
	t.methods = build(k)
	if k < 10 { // too few digits for a mistake to be sure to show
		t.methods[0].slips, t.methods[1].slips = nil, nil
	}
	return t, true
}

// constant returns the name of a constant and how it is computed.
func constant(word string) (string, func(int64) [3]method) {
	switch {
	case word == "pi":
		return "pi", piMethods
	case word == "e" || strings.HasPrefix(word, "euler"):
		return "e", eMethods
	case !strings.HasPrefix(word, "sq"):
		return "ln 2", logMethods
	}
	radicand := digitsOf(digit.FindString(word))
	name := "the square root of " + brief(radicand.String())
	if radicand.Cmp(big.NewInt(2)) < 0 || radicand.Cmp(big.NewInt(1_000_000)) > 0 {
		return name, nil
	}
	return name, func(k int64) [3]method { return rootMethods(radicand.Int64(), k) }
}

// All constants are computed with integers: the value times a power of ten, with
// fifteen digits more than are shown.

// shown cuts the guard digits off and puts the point in.
const shown = `
		value = value // pow(10, 15)
		text = str(value % pow(10, k))
		print(str(value // pow(10, k)) + "." + "0" * (k - len(text)) + text)
	`

// early ends a series when its terms no longer matter for half of the digits.
func early(code, loop string) slip {
	return mistake(code, loop+" > 0", loop+" > pow(10, 15 + k // 2)", "the series was ended when its terms no longer mattered for half of the digits")
}

func series(text string, k int64, pairs ...any) string {
	return program(text+shown, append([]any{"k", k}, pairs...)...)
}

const arc = `
		k = {k}
		one = pow(10, k + 15)
		def arc(x, alternate):
			# one times arctan(1/x), or artanh(1/x) if the signs do not alternate
			total, power, n, sign = 0, one // x, 1, 1
			while power > 0:
				total += sign * (power // n)
				power, n = power // (x * x), n + 2
				if alternate:
					sign = -sign
			return total
`

func arcs(k int64, formula string) string {
	return series(arc+"\t\tvalue = {formula}", k, "formula", formula)
}

func piMethods(k int64) [3]method {
	machin := arcs(k, "4 * (4 * arc(5, True) - arc(239, True))")
	stormer := arcs(k, "4 * (6 * arc(8, True) + 2 * arc(57, True) + arc(239, True))")
	euler := series(`
		# Euler's series: pi = 2 (1 + 1/3 + 1*2/(3*5) + 1*2*3/(3*5*7) + ...)
		k = {k}
		one = pow(10, k + 15)
		value, term, n = 0, 2 * one, 1
		while term > 0:
			value += term
			term, n = term * n // (2 * n + 1), n + 1`, k)
	return [3]method{
		{name: "Machin's formula", code: machin, slips: []slip{early(machin, "while power")}},
		{name: "Euler's series of products", code: euler, slips: []slip{early(euler, "while term")}},
		{name: "Størmer's formula", code: stormer},
	}
}

func eMethods(k int64) [3]method {
	factorials := series(`
		# 1 + 1/1! + 1/2! + 1/3! + ...
		k = {k}
		one = pow(10, k + 15)
		value, term, n = 0, one, 1
		while term > 0:
			value += term
			term, n = term // n, n + 1`, k)
	fraction := series(`
		# The continued fraction [2; 1, 2, 1, 1, 4, 1, 1, 6, 1, ...]
		k = {k}
		one = pow(10, k + 15)
		p, before_p, q, before_q = 2, 1, 1, 0
		i = 1
		while q * q < one * 1000:
			a = 2 * (i + 1) // 3 if i % 3 == 2 else 1
			p, before_p = a * p + before_p, p
			q, before_q = a * q + before_q, q
			i += 1
		value = one * p // q`, k)
	inverse := series(`
		# One over 1 - 1/1! + 1/2! - 1/3! + ...
		k = {k}
		one = pow(10, k + 15)
		total, term, n, sign = 0, one, 1, 1
		while term > 0:
			total += sign * term
			term, n, sign = term // n, n + 1, -sign
		value = one * one // total`, k)
	return [3]method{
		{name: "the series of factorials", code: factorials, slips: []slip{early(factorials, "while term")}},
		{name: "the continued fraction", code: fraction, slips: []slip{mistake(fraction, "while q * q < one * 1000", "while q * q < pow(10, k // 2)", "the fraction was ended when half of the digits were right")}},
		{name: "one over the alternating series", code: inverse},
	}
}

func logMethods(k int64) [3]method {
	halves := series(`
		# 1/2 + 1/(2*4) + 1/(3*8) + 1/(4*16) + ...
		k = {k}
		one = pow(10, k + 15)
		value, term, n = 0, one // 2, 1
		while term > 0:
			value += term // n
			term, n = term // 2, n + 1`, k)
	third := arcs(k, "2 * arc(3, False)")
	three := arcs(k, "18 * arc(26, False) - 2 * arc(4801, False) + 8 * arc(8749, False)")
	return [3]method{
		{name: "the series of halves", code: halves, slips: []slip{early(halves, "while term")}},
		{name: "the series of artanh(1/3)", code: third, slips: []slip{early(third, "while power")}},
		{name: "a formula with three fast series", code: three},
	}
}

func rootMethods(radicand, k int64) [3]method {
	newton := series(`
		# Newton's way to the whole square root of a number with many zeros.
		k = {k}
		target = {a} * pow(10, 2 * (k + 15))
		value = target
		better = {a} * pow(10, k + 15)
		while better < value:
			value = better
			better = (value + target // value) // 2`, k, "a", radicand)
	digitwise := series(`
		# By hand: two digits of the radicand give one digit of the root.
		k = {k}
		text = str({a})
		text = ("0" if len(text) % 2 else "") + text + "00" * (k + 15)
		rest, value = 0, 0
		for i in range(0, len(text), 2):
			rest = rest * 100 + int(text[i:i + 2])
			d = 9
			while (20 * value + d) * d > rest:
				d -= 1
			rest -= (20 * value + d) * d
			value = 10 * value + d`, k, "a", radicand)
	halving := series(`
		# Halving an interval that the root is in.
		k = {k}
		target = {a} * pow(10, 2 * (k + 15))
		low, high = 0, {a} * pow(10, k + 15) + 1
		while high - low > 1:
			middle = (low + high) // 2
			if middle * middle <= target:
				low = middle
			else:
				high = middle
		value = low`, k, "a", radicand)
	slips := []slip{mistake(newton, "2 * (k + 15))", "2 * (k + 15) + 1)", "the number had one zero too many")}
	return [3]method{
		{name: "Newton's iteration", code: newton, slips: slips},
		{name: "the way by hand, two digits at a time", code: digitwise, slips: []slip{mistake(digitwise, `("0" if len(text) % 2 else "")`, `("" if len(text) % 2 else "0")`, "the digits of the radicand were paired from the wrong end")}},
		{name: "halving an interval", code: halving},
	}
}

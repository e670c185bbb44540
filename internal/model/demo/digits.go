package demo

import (
	"fmt"
	"math"
)

// digits adds up or counts the digits of a power or a factorial.
type digits struct{}

var digitsOfPower = late(`^(sum|count) digits (?:(\d+)\^(\d+)|(\d+) factorial)$`)

// maxPowerDigits is how long the number may be.
const maxPowerDigits = 2000

func (digits) recognise(s sentence) (inquiry, bool) {
	m := digitsOfPower.FindStringSubmatch(s.plain)
	if m == nil {
		return nil, false
	}
	what := map[string]string{"sum": "the sum of the digits of ", "count": "the number of digits of "}[m[1]]
	name := m[2] + "^" + m[3]
	if m[4] != "" {
		name = m[4] + "!"
	}
	base, n, beyond := digitsBounds(m, what+brief(name))
	if beyond != nil {
		return beyond, true
	}
	factors := fmt.Sprintf("[%d] * %d", base, n)
	direct := fmt.Sprintf("pow(%d, %d)", base, n)
	if m[4] != "" {
		factors = fmt.Sprintf("range(1, %d)", n+1)
		direct = "1\nfor k in range(1, " + fmt.Sprint(n+1) + "):\n    value *= k"
	}
	return digitsTask(m[1] == "sum", what+name, factors, direct), true
}

// digitsBounds reads the base and the exponent, or the number of a factorial.
func digitsBounds(m []string, asks string) (base, n int64, beyond *task) {
	if m[4] != "" {
		n, beyond = within(digitsOf(m[4]), 1, 700, asks, "a factorial")
		return 0, n, beyond
	}
	if base, beyond = within(digitsOf(m[2]), 2, 1_000_000, asks, "a base"); beyond != nil {
		return 0, 0, beyond
	}
	most := min(3000, int64(maxPowerDigits/math.Log10(float64(base))))
	n, beyond = within(digitsOf(m[3]), 1, most, asks, "an exponent")
	return base, n, beyond
}

func digitsTask(sum bool, asks, factors, direct string) *task {
	fromText, fromLimbs, fromHalves := "sum([int(c) for c in str(value).elems()])", "sum([digit_sum(x) for x in limbs])", "left + right"
	if !sum {
		fromText, fromLimbs = "len(str(value))", "12 * (len(limbs) - 1) + digit_count(limbs[-1])"
	}
	text := program(`
		# One exact integer, and its digits as text.
		value = {direct}
		print({result})
	`, "direct", direct, "result", fromText)
	limbs := program(`
		# Multiplication as in school, with twelve digits in each place.
		def digit_sum(x):
			total = 0
			while x > 0:
				total, x = total + x % 10, x // 10
			return total
		def digit_count(x):
			count = 0
			while x > 0:
				count, x = count + 1, x // 10
			return count
		base = 1000000000000
		limbs = [1]
		for factor in {factors}:
			carry = 0
			for i in range(len(limbs)):
				carry += limbs[i] * factor
				limbs[i] = carry % base
				carry = carry // base
			while carry > 0:
				limbs.append(carry % base)
				carry = carry // base
		print({result})
	`, "factors", factors, "result", fromLimbs)
	leaf := "low"
	if !sum {
		leaf = "1"
	}
	halves := program(`
		# Multiply the factors in pairs, and take the digits off at the low end.
		row = list({factors})
		while len(row) > 1:
			row = [row[i] * row[i + 1] if i + 1 < len(row) else row[i] for i in range(0, len(row), 2)]
		value, left, right = row[0], 0, 0
		while value > 0:
			low, value = value % 10, value // 10
			left += {leaf}
		print({result})
	`, "factors", factors, "leaf", leaf, "result", fromHalves)
	t := &task{asks: asks, show: func(r string) string { return fmt.Sprintf("**%s** is %s.", grouped(r), asks) }}
	lost := mistake(limbs, "print(", "limbs = limbs[:-1] or [0]\nprint(", "the highest place was lost when the loop ended")
	t.methods = [3]method{
		{name: "taking one exact integer as text", code: text},
		{name: "multiplying as in school", code: limbs, slips: []slip{lost}},
		{name: "multiplying in pairs and taking the digits off", code: halves},
	}
	return t
}

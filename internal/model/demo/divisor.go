package demo

import (
	"fmt"
)

// perfect lists the numbers that are the sum of their proper divisors.
type perfect struct{}

var perfectBelow = late(`^(count )?perfects (below|upto) ` + whole + `$`)

func (perfect) recognise(s sentence) (inquiry, bool) {
	m := perfectBelow.FindStringSubmatch(s.plain)
	if m == nil {
		return nil, false
	}
	asks := fmt.Sprintf("the perfect numbers %s %s, and how many they are", map[string]string{"below": "below", "upto": "up to"}[m[2]], grouped(number(m[3]).String()))
	n, beyond := within(number(m[3]), 1, 20_000, asks, "a bound")
	if beyond != nil {
		return beyond, true
	}
	if m[2] == "upto" {
		n++
	}
	spread := program(`
		# Add each d to all its multiples.
		n = {n}  # the numbers below n
		total = [0] * n
		for d in range(1, n):
			for m in range(2 * d, n, d):
				total[m] += d
		print([k for k in range(1, n) if total[k] == k])
	`, "n", n)
	factors := program(`
		# The sum of all divisors, itself included, from the prime factors.
		n = {n}  # the numbers below n
		least = list(range(n))
		i = 2
		while i * i < n:
			if least[i] == i:
				for j in range(i * i, n, i):
					if least[j] == j:
						least[j] = i
			i += 1
		found = []
		for k in range(2, n):
			total, rest = 1, k
			while rest > 1:
				p, sum_of_powers = least[rest], 1
				while rest % p == 0:
					rest, sum_of_powers = rest // p, sum_of_powers * p + 1
				total *= sum_of_powers
			if total == 2 * k:
				found.append(k)
		print(found)
	`, "n", n)
	euclid := program(`
		# Euclid and Euler: the even ones are pow(2, p-1) * (pow(2, p) - 1), the
		# second factor being prime. No odd one is known, and none is below 10^1500.
		n = {n}  # the numbers below n
		def prime(k):
			return k > 1 and all([k % d != 0 for d in range(2, k) if d * d <= k])
		print([pow(2, p - 1) * (pow(2, p) - 1) for p in range(2, 12) if pow(2, p - 1) * (pow(2, p) - 1) < n and prime(pow(2, p) - 1)])
	`, "n", n)
	t := &task{asks: asks, show: func(r string) string {
		list := digit.FindAllString(r, -1)
		return fmt.Sprintf("**%d**: %s.", len(list), r)
	}}
	t.methods = [3]method{{name: "adding each number to its multiples", code: spread}, {name: "the formula for the prime factors", code: factors}, {name: "the theorem of Euclid and Euler", code: euclid}}
	if n > 6 {
		t.methods[0].slips = []slip{mistake(spread, "for m in range(2 * d, n, d)", "for m in range(d, n, d)", "each number was counted among its own proper divisors")}
		t.methods[1].slips = []slip{mistake(factors, "total == 2 * k", "total == k", "the sum has the number itself in it, so it must be twice the number, and I had compared it with the number")}
	}
	return t, true
}

// divisors counts or adds up the divisors of a number.
type divisors struct{}

var divisorsOf = late(`^(count|sum) divisors ` + whole + `$`)

func (divisors) recognise(s sentence) (inquiry, bool) {
	m := divisorsOf.FindStringSubmatch(s.plain)
	if m == nil {
		return nil, false
	}
	what := map[string]string{"count": "the number of divisors of ", "sum": "the sum of the divisors of "}[m[1]]
	asks := what + grouped(number(m[2]).String())
	n, beyond := within(number(m[2]), 1, 1_000_000_000, asks, "a number")
	if beyond != nil {
		return beyond, true
	}
	result, factor := "len(found)", "e + 1"
	if m[1] == "sum" {
		result, factor = "sum(found)", "(pow(p, e + 1) - 1) // (p - 1)"
	}
	pairs := program(`
		# Divisors come in pairs, d and n / d.
		n = {n}
		found = []
		d = 1
		while d * d <= n:
			if n % d == 0:
				found.append(d)
				if d != n // d:
					found.append(n // d)
			d += 1
		print({result})
	`, "n", n, "result", result)
	formula := program(`
		# The formula for the powers of primes in n.
		n = {n}
		rest, p, result = n, 2, 1
		while rest > 1:
			if p * p > rest:
				p = rest
			e = 0
			while rest % p == 0:
				rest, e = rest // p, e + 1
			result *= {factor}
			p += 1
		print(result)
	`, "n", n, "factor", factor)
	build := program(`
		# Take n apart with 2, 3 and numbers of the form 6k - 1 and 6k + 1, and build
		# every divisor from the parts.
		n = {n}
		found, rest, p, step = [1], n, 2, 1
		while p * p <= rest:
			grown = found
			while rest % p == 0:
				grown = [d * p for d in grown]
				found = found + grown
				rest = rest // p
			if p < 5:
				p, step = (3, 2) if p == 2 else (5, 2)
			else:
				p, step = p + step, 6 - step
		if rest > 1:
			found = found + [d * rest for d in found]
		found = list(set(found))
		print({result})
	`, "n", n, "result", result)
	t := &task{asks: asks + ", 1 and itself included", show: func(r string) string { return fmt.Sprintf("**%s** is %s.", grouped(r), asks) }}
	t.methods = [3]method{
		{name: "looking for divisors in pairs", code: pairs},
		{name: "the formula for the powers of primes", code: formula},
		{name: "building every divisor from the prime factors", code: build},
	}
	if n > 1 {
		t.methods[0].slips = []slip{mistake(pairs, "\nd = 1\n", "\nd = 2\n", "the search began at 2, so that 1 and the number itself were missing")}
		t.methods[1].slips = []slip{mistake(formula, "rest, p, result = n, 2, 1", "rest, p, result = n, 2, 2", "the product began with 2 instead of 1")}
	}
	return t, true
}

// multiples adds up the multiples of two numbers below a bound.
type multiples struct{}

var multiplesBelow = late(`^sum (?:numbers )?multiples ` + whole + ` or ` + whole + ` (below|upto) ` + whole + `$`)

func (multiples) recognise(s sentence) (inquiry, bool) {
	m := multiplesBelow.FindStringSubmatch(s.plain)
	if m == nil {
		return nil, false
	}
	asks := fmt.Sprintf("the sum of the multiples of %s or %s %s %s", m[1], m[2], map[string]string{"below": "below", "upto": "up to"}[m[3]], grouped(number(m[4]).String()))
	a, beyond := within(number(m[1]), 1, 1000, asks, "a divisor")
	if beyond != nil {
		return beyond, true
	}
	b, beyond := within(number(m[2]), 1, 1000, asks, "a divisor")
	if beyond != nil {
		return beyond, true
	}
	n, beyond := within(number(m[4]), 1, 100_000, asks, "a bound")
	if beyond != nil {
		return beyond, true
	}
	if m[3] == "upto" {
		n++
	}
	walk := program(`
		# Look at every number.
		total = 0
		for k in range({n}):
			if k % {a} == 0 or k % {b} == 0:
				total += k
		print(total)
	`, "n", n, "a", a, "b", b)
	gauss := program(`
		# Gauss's sum for each, and what was counted twice taken away.
		def upto(d, m):
			k = m // d
			return d * k * (k + 1) // 2
		a, b = {a}, {b}
		g, r = a, b
		while r:
			g, r = r, g % r
		both = a * b // g
		last = {n} - 1
		print(upto(a, last) + upto(b, last) - upto(both, last))
	`, "n", n, "a", a, "b", b)
	union := program(`
		# Collect both kinds in a set, which holds each number once.
		found = {k: True for k in range(0, {n}, {a})}
		for k in range(0, {n}, {b}):
			found[k] = True
		print(sum(list(found)))
	`, "n", n, "a", a, "b", b)
	t := &task{asks: asks, show: func(r string) string { return fmt.Sprintf("**%s** is %s.", grouped(r), asks) }}
	t.methods = [3]method{{name: "looking at every number", code: walk}, {name: "Gauss's sum", code: gauss}, {name: "collecting them in a set", code: union}}
	if a*b < n {
		t.methods[1].slips = []slip{mistake(gauss, " - upto(both, last)", "", "the multiples of both numbers were counted twice")}
	}
	if (n-1)%a == 0 || (n-1)%b == 0 {
		if n > 1 {
			t.methods[0].slips = []slip{mistake(walk, fmt.Sprintf("range(%d)", n), fmt.Sprintf("range(%d)", n-1), "the loop ended one number early")}
		}
	}
	return t, true
}

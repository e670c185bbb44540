package demo

import (
	"fmt"
)

// fibonacci finds a Fibonacci number, its digits' sum or how many they are.
type fibonacci struct{}

var fibonacciNumbered = late(`^(sum digits |count digits )?(?:fibonacci (?:no )?` + whole + `|no ` + whole + ` fibonacci)$`)

func (fibonacci) recognise(s sentence) (inquiry, bool) {
	m := fibonacciNumbered.FindStringSubmatch(s.plain)
	if m == nil {
		return nil, false
	}
	index := number(m[2] + m[3])
	name := "Fibonacci number " + grouped(index.String()) + " (F(1) = F(2) = 1)"
	what := map[string]string{"": "", "sum digits ": "the sum of the digits of ", "count digits ": "how many digits there are in "}[m[1]]
	n, beyond := within(index, 1, 4000, what+name, "a number")
	if beyond != nil {
		return beyond, true
	}
	end := map[string]string{
		"":              "print(f)",
		"sum digits ":   "print(sum([int(c) for c in str(f).elems()]))\nprint(\"last digits of the number:\", f % pow(10, 20))",
		"count digits ": "print(len(str(f)))\nprint(\"last digits of the number:\", f % pow(10, 20))",
	}[m[1]]
	loop := program(`
		# Adding up, one number after the other.
		n = {n}
		a, b = 0, 1
		for i in range(n):
			a, b = b, a + b
		f = a
		{end}
	`, "n", n, "end", end)
	double := program(`
		# Doubling the index: F(2k) = F(k) (2 F(k+1) - F(k)), F(2k+1) = F(k)^2 + F(k+1)^2.
		def pair(n):
			if n == 0:
				return [0, 1]
			a, b = pair(n // 2)
			c, d = a * (2 * b - a), a * a + b * b
			return [c, d] if n % 2 == 0 else [d, c + d]
		f = pair({n})[0]
		{end}
	`, "n", n, "end", end)
	binomial := program(`
		# The diagonals of Pascal's triangle: F(n) is the sum of C(n - 1 - k, k).
		n = {n}
		f, term, top, k = 0, 1, n - 1, 0
		while 2 * k <= n - 1:
			f += term
			m = n - 1 - k
			if m > 0:
				term = term * (m - k) * (m - k - 1) // (m * (k + 1))
			k += 1
		{end}
	`, "n", n, "end", end)
	t := &task{asks: what + name, show: func(r string) string { return fmt.Sprintf("**%s** is %s.", firstLine(r), what+name) }}
	t.methods = [3]method{{name: "adding up one by one", code: loop}, {name: "doubling the index", code: double}, {name: "summing the diagonals of Pascal's triangle", code: binomial}}
	if n >= 5 {
		t.methods[0].slips = []slip{mistake(loop, "a, b = 0, 1", "a, b = 1, 1", "the sum began with 1, 1 instead of 0, 1, so that it was one number too far")}
		t.methods[1].slips = []slip{mistake(double, ")[0]", ")[1]", "a pair holds F(n) and F(n+1), and I had taken the second")}
	}
	return t, true
}

// collatz finds the longest chain below a bound.
type collatz struct{}

var collatzBelow = late(`^(?:(?:starting )?number |start )?(?:(below|upto) ` + whole + ` )?(?:produces |with |starts )?longest collatz (?:chain|sequence)(?: (?:that starts |starting |with )?(?:at )?(?:number )?(below|upto) ` + whole + `)?$`)

func (collatz) recognise(s sentence) (inquiry, bool) {
	m := collatzBelow.FindStringSubmatch(s.plain)
	if m == nil || (m[2] == "") == (m[4] == "") {
		return nil, false
	}
	word := map[string]string{"below": "below", "upto": "at or below"}[m[1]+m[3]]
	bound := number(m[2] + m[4])
	asks := "the longest Collatz chain that starts " + word + " " + grouped(bound.String())
	n, beyond := within(bound, 3, 3000, asks, "a bound")
	if beyond != nil {
		return beyond, true
	}
	if word != "below" {
		n++
	}
	plainly := program(`
		# Follow each chain to its end.
		n = {n}  # the starts below n
		best, start = 0, 0
		for s in range(1, n):
			k, terms = s, 1
			while k != 1:
				k = k // 2 if k % 2 == 0 else 3 * k + 1
				terms += 1
			if terms > best:
				best, start = terms, s
		print("start", start)
		print("terms", best)
	`, "n", n)
	memory := program(`
		# Remember the chains that are known already.
		n = {n}  # the starts below n
		known = {1: 1}
		best, start = 1, 1
		for s in range(2, n):
			k, path = s, []
			while k not in known:
				path.append(k)
				k = k // 2 if k % 2 == 0 else 3 * k + 1
			terms = known[k]
			for j in reversed(path):
				terms += 1
				known[j] = terms
			if known[s] > best:
				best, start = known[s], s
		print("start", start)
		print("terms", best)
	`, "n", n)
	upward := program(`
		# A start below n / 2 is beaten by its double, so only the upper half is
		# followed; a step from an odd number is always followed by a half.
		n = {n}  # the starts below n
		best, start = 0, 0
		for s in range(n // 2 if n > 3 else 1, n):
			k, terms = s, 1
			while k > 1:
				if k % 2 == 1:
					k, terms = (3 * k + 1) // 2, terms + 2
				else:
					k, terms = k // 2, terms + 1
			if terms > best:
				best, start = terms, s
		print("start", start)
		print("terms", best)
	`, "n", n)
	t := &task{asks: asks, show: func(r string) string {
		var start, terms string
		_, _ = fmt.Sscanf(r, "start %s\nterms %s", &start, &terms)
		return fmt.Sprintf("**%s**: the longest chain starts at %s and has %s terms, the start and the final 1 included.", grouped(start), grouped(start), terms)
	}}
	t.methods = [3]method{
		{name: "following each chain", code: plainly, slips: []slip{mistake(plainly, "k, terms = s, 1", "k, terms = s, 0", "I had counted the steps instead of the terms, one too few")}},
		{name: "remembering the chains that are known", code: memory, slips: []slip{mistake(memory, "{1: 1}", "{1: 0}", "the chain of 1 has one term, and I had remembered it as none")}},
		{name: "following the upper half only", code: upward},
	}
	return t, true
}

// partitions counts the ways to write a number as a sum.
type partitions struct{}

var partitionsOf = late(`^count partitions ` + whole + `$`)

func (partitions) recognise(s sentence) (inquiry, bool) {
	m := partitionsOf.FindStringSubmatch(s.plain)
	if m == nil {
		return nil, false
	}
	asks := "the number of partitions of " + grouped(number(m[1]).String())
	n, beyond := within(number(m[1]), 1, 600, asks, "a number")
	if beyond != nil {
		return beyond, true
	}
	coins := program(`
		# One part size after the other, as with coins.
		n = {n}
		ways = [1] + [0] * n
		for part in range(1, n + 1):
			for total in range(part, n + 1):
				ways[total] += ways[total - part]
		print(ways[n])
	`, "n", n)
	euler := program(`
		# Euler's pentagonal numbers: p(n) = p(n-1) + p(n-2) - p(n-5) - p(n-7) + ...
		n = {n}
		p = [1]
		for m in range(1, n + 1):
			total, k = 0, 1
			while k * (3 * k - 1) // 2 <= m:
				sign = 1 if k % 2 == 1 else -1
				total += sign * p[m - k * (3 * k - 1) // 2]
				if k * (3 * k + 1) // 2 <= m:
					total += sign * p[m - k * (3 * k + 1) // 2]
				k += 1
			p.append(total)
		print(p[n])
	`, "n", n)
	sigma := program(`
		# The sums of divisors: n p(n) = sigma(1) p(n-1) + ... + sigma(n) p(0).
		n = {n}
		sigma = [0] * (n + 1)
		for d in range(1, n + 1):
			for m in range(d, n + 1, d):
				sigma[m] += d
		p = [1]
		for m in range(1, n + 1):
			p.append(sum([sigma[k] * p[m - k] for k in range(1, m + 1)]) // m)
		print(p[n])
	`, "n", n)
	t := &task{asks: asks, show: func(r string) string { return fmt.Sprintf("**%s** is %s.", grouped(r), asks) }}
	t.methods = [3]method{
		{name: "adding part sizes one by one", code: coins, slips: []slip{mistake(coins, "for part in range(1, n + 1)", "for part in range(1, n)", "the largest part was left out, so that the number alone was not counted as a partition")}},
		{name: "Euler's recurrence with pentagonal numbers", code: euler},
		{name: "the recurrence with sums of divisors", code: sigma},
	}
	if n >= 5 {
		t.methods[1].slips = []slip{mistake(euler, "while k * (3 * k - 1) // 2 <= m", "while k * (3 * k - 1) // 2 < m", "the bound of the inner loop was off by one, and p(0) = 1 was left out")}
	}
	return t, true
}

package demo

import (
	"fmt"
)

// primes counts or adds up the primes below a bound.
type primes struct{}

var primesBelow = late(`^(count|sum) primes (below|upto) ` + whole + `$`)

func (primes) recognise(s sentence) (inquiry, bool) {
	m := primesBelow.FindStringSubmatch(s.plain)
	if m == nil {
		return nil, false
	}
	what := map[string]string{"count": "the number of primes", "sum": "the sum of the primes"}[m[1]]
	asks := fmt.Sprintf("%s %s %s", what, map[string]string{"below": "below", "upto": "up to"}[m[2]], grouped(number(m[3]).String()))
	n, beyond := within(number(m[3]), 1, 40_000, asks, "a bound")
	if beyond != nil {
		return beyond, true
	}
	if m[2] == "upto" {
		n++
	}
	return primesTask(n, m[1] == "sum", asks), true
}

func primesTask(n int64, sum bool, asks string) *task {
	result, start, step := "len(primes)", "v - 1", "count[v // p] - before"
	if sum {
		result, start, step = "sum(primes)", "v * (v + 1) // 2 - 1", "p * (count[v // p] - before)"
	}
	sieve := program(`
		# Sieve of Eratosthenes: strike out the multiples of each prime.
		n = {n}  # the numbers below n
		alive = [k >= 2 for k in range(n)]
		i = 2
		while i * i < n:
			if alive[i]:
				for j in range(i * i, n, i):
					alive[j] = False
			i += 1
		primes = [k for k in range(n) if alive[k]]
		print({result})
	`, "n", n, "result", result)
	trial := program(`
		# Trial division of each number by the primes up to its square root.
		n = {n}  # the numbers below n
		primes = []
		for k in range(2, n):
			prime = True
			for p in primes:
				if p * p > k:
					break
				if k % p == 0:
					prime = False
					break
			if prime:
				primes.append(k)
		print({result})
	`, "n", n, "result", result)
	lucy := program(`
		# Legendre's way: start with all numbers from 2 on, and take away, prime by
		# prime, those whose least factor it is. No prime is ever listed.
		m = {m}  # the numbers up to m
		r = 1
		while (r + 1) * (r + 1) <= m:
			r += 1
		values = [m // i for i in range(1, r + 1)]
		values += [v for v in range(values[-1] - 1, 0, -1)]
		count = {v: {start} for v in values}
		for p in range(2, r + 1):
			before = count[p - 1]
			if count[p] == before:
				continue
			for v in values:
				if v < p * p:
					break
				count[v] -= {step}
		print(count[m])
	`, "m", max(n-1, 1), "start", start, "step", step)
	t := &task{asks: asks, show: func(r string) string { return fmt.Sprintf("**%s** is %s.", grouped(r), asks) }}
	t.methods = [3]method{{name: "a sieve of Eratosthenes", code: sieve}, {name: "trial division", code: trial}, {name: "Legendre's way of counting without listing", code: lucy}}
	if n >= 10 {
		t.methods[0].slips = []slip{mistake(sieve, "k >= 2", "k >= 1", "the sieve began at 1 and took it for a prime")}
		t.methods[1].slips = []slip{mistake(trial, "p * p > k", "p * p >= k", "trial division stopped one step early, at p * p >= k, and took the squares of primes for primes")}
	}
	return t
}

// nthPrime finds the prime with a given number.
type nthPrime struct{}

var primeNumbered = late(`^no ` + whole + ` primes$`)

func (nthPrime) recognise(s sentence) (inquiry, bool) {
	m := primeNumbered.FindStringSubmatch(s.plain)
	if m == nil {
		return nil, false
	}
	asks := fmt.Sprintf("prime number %s, where 2 is number 1", grouped(number(m[1]).String()))
	n, beyond := within(number(m[1]), 1, 3000, asks, "a number")
	if beyond != nil {
		return beyond, true
	}
	sieve := program(`
		# Sieve of Eratosthenes up to a bound that has enough primes below it.
		n = {n}
		bound = int(n * (math.log(n + 1) + math.log(math.log(n + 2) + 1))) + 20
		alive = [k >= 2 for k in range(bound)]
		i = 2
		while i * i < bound:
			if alive[i]:
				for j in range(i * i, bound, i):
					alive[j] = False
			i += 1
		primes = [k for k in range(bound) if alive[k]]
		print(primes[n - 1])
	`, "n", n)
	trial := program(`
		# Trial division, until there are enough primes.
		n = {n}
		primes = []
		k = 2
		while len(primes) < n:
			prime = True
			for p in primes:
				if p * p > k:
					break
				if k % p == 0:
					prime = False
					break
			if prime:
				primes.append(k)
			k += 1
		print(primes[-1])
	`, "n", n)
	strong := program(`
		# The strong test with the bases 2 and 3, which is a proof below 1373653.
		def passes(k, base):
			d, twos = k - 1, 0
			while d % 2 == 0:
				d, twos = d // 2, twos + 1
			x, square = 1, base
			while d > 0:
				if d % 2 == 1:
					x = x * square % k
				square, d = square * square % k, d // 2
			for i in range(twos):
				if x == 1 and i == 0 or x == k - 1:
					return True
				x = x * x % k
			return False
		n = {n}
		found = [2, 3]
		k = 5
		while len(found) < n:
			if k % 3 != 0 and passes(k, 2) and passes(k, 3):
				found.append(k)
			k += 2
		print(found[n - 1])
	`, "n", n)
	t := &task{asks: asks, show: func(r string) string { return fmt.Sprintf("**%s** is %s.", grouped(r), asks) }}
	t.methods = [3]method{
		{name: "a sieve of Eratosthenes", code: sieve, slips: []slip{mistake(sieve, "primes[n - 1]", "primes[n]", "lists begin at 0, so number n is at place n - 1, and I had printed the one after it")}},
		{name: "trial division", code: trial},
		{name: "the strong probable-prime test with bases 2 and 3", code: strong},
	}
	if n >= 3 {
		t.methods[1].slips = []slip{mistake(trial, "p * p > k", "p * p >= k", "trial division stopped one step early, at p * p >= k, and took the squares of primes for primes")}
	}
	return t, true
}

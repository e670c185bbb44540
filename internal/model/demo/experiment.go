package demo

import (
	"fmt"
	"strings"
)

// experiment is a question as a lab works on it: with programs that a colleague can
// run, in the agent's computer.
type experiment struct {
	// asks is what the question is understood to be, without a question mark.
	asks string
	// title begins the titles of papers about it.
	title string
	// data is the path of the file it is about, empty for none.
	data string
	// tries are what authors begin with; each takes one. Some are mistakes that are
	// easily made.
	tries []approach
	// checks are independent of each other, and sound.
	checks []approach
}

// approach is a program for the shell. It prints the answer on one line, and nothing
// else but remarks on lines that begin with #. Only sh, awk, sort, cut and tail are
// used: nearly every computer has them.
type approach struct {
	// slug names its file, name says it in words.
	slug, name string
	code       string
	// flaw is what is wrong with it, in the words of somebody who has seen it; empty
	// if nothing is. excuse is why its author did not check it.
	flaw, excuse string
}

func (a approach) path() string { return "programs/" + a.slug + ".sh" }

// experimenter is a kind of question that a lab of researchers can work on.
type experimenter interface {
	// recognise reads one sentence. As with a skill, it must understand all of it.
	recognise(s sentence) (designer, bool)
}

// designer makes the experiment. It may look at files on the way, and returns
// errPending while it waits for them; and, in words, why there is no experiment.
type designer interface {
	design(d *desk) (*experiment, string, error)
}

func experimenters() []experimenter {
	return []experimenter{squarefree{}, primesCounted{}, groupMeans{}}
}

// design recognises the question and makes the experiment of it.
func (d *desk) design() (*experiment, string, error) {
	for _, s := range d.question.sentences {
		for _, k := range experimenters() {
			if found, ok := k.recognise(s); ok {
				return found.design(d)
			}
		}
	}
	return nil, "I do not know how to work on this question, so I publish nothing on it rather than a guess", nil
}

// design makes an experiment a designer that needs no look at anything.
func (x *experiment) design(*desk) (*experiment, string, error) { return x, "", nil }

// unable is a question that was understood and is beyond reach.
type unable string

func (u unable) design(*desk) (*experiment, string, error) { return nil, string(u), nil }

// bounded reads the bound of a count.
func bounded(text, word string) (n int64, shown string, why string) {
	b := number(text)
	shown = grouped(b.String())
	if !b.IsInt64() || b.Int64() < 10 || b.Int64() > 1_000_000 {
		return 0, shown, "I did not compute this: I count up to a bound from 10 to 1,000,000, and the question has another"
	}
	if n = b.Int64(); word == "below" {
		n--
	}
	return n, shown, ""
}

// squarefree counts the numbers that no square but 1 divides.
type squarefree struct{}

var squarefreeUpto = late(`^count (?:(?:numbers )?(below|upto) ` + whole + ` square-?free|square-?free(?: numbers)? (below|upto) ` + whole + `)$`)

func (squarefree) recognise(s sentence) (designer, bool) {
	m := squarefreeUpto.FindStringSubmatch(s.plain)
	if m == nil {
		return nil, false
	}
	n, shown, why := bounded(m[2]+m[4], m[1]+m[3])
	if why != "" {
		return unable(why), true
	}
	x := &experiment{
		asks:  fmt.Sprintf("how many of the integers from 1 on, %s %s, are squarefree, that is, divisible by no square but 1", wordUpto(m[1]+m[3]), shown),
		title: fmt.Sprintf("The squarefree integers %s %s", wordUpto(m[1]+m[3]), shown),
	}
	sieve := approach{slug: "squarefree-by-sieve", name: "striking out the multiples of every square", code: script(`
		# Counts the squarefree integers from 1 to {n}: strikes out all multiples of
		# 4, 9, 16, ... and counts what is left.
		awk 'BEGIN {
			n = {n}
			for (d = 2; d * d <= n; d++) {
				q = d * d
				if (q in struck) continue  # a smaller square divides it
				for (m = q; m <= n; m += q) struck[m] = 1
			}
			for (k = 1; k <= n; k++) if (!(k in struck)) left++
			print left
		}'
	`, "n", n)}
	mobius := approach{slug: "squarefree-by-inclusion-exclusion", name: "inclusion and exclusion with the function of Möbius", code: script(`
		# Counts the squarefree integers from 1 to {n} as the sum of mu(d) * floor(n / d^2).
		awk 'BEGIN {
			n = {n}
			for (r = 1; (r + 1) * (r + 1) <= n; r++) ;
			mu[1] = 1
			for (d = 1; d <= r; d++)
				for (m = 2 * d; m <= r; m += d) mu[m] -= mu[d]
			for (d = 1; d <= r; d++) sum += mu[d] * int(n / (d * d))
			print sum
		}'
	`, "n", n)}
	unique := approach{slug: "squarefree-by-largest-square", name: "sorting all integers by their largest square divisor", code: script(`
		# Every integer is a square times a squarefree number, in one way. So n is the
		# sum of Q(n / d^2) over all d, with Q the count that is wanted; solved for Q(n).
		awk '
		function q(n,    d, rest) {
			if (n in known) return known[n]
			rest = n
			for (d = 2; d * d <= n; d++) rest -= q(int(n / (d * d)))
			return known[n] = rest
		}
		BEGIN { print q({n}) }'
	`, "n", n)}
	density := approach{slug: "squarefree-by-density", name: "the density 6 / pi^2 of squarefree integers", code: script(`
		# The share of squarefree integers is 6 / pi^2.
		awk 'BEGIN {
			pi = 3.141592653589793
			printf "%.0f\n", {n} * 6 / (pi * pi)
		}'
	`, "n", n),
		flaw:   "6 / pi^2 is the share of squarefree integers in the limit. Up to a given bound the count differs from it by a little, and a little is not nothing: the question is how many",
		excuse: "It is a theorem that this is their share, so I see nothing to check",
	}
	x.checks = []approach{sieve, mobius, unique}
	x.tries = []approach{density, sieve, mobius, unique}
	return x, true
}

func wordUpto(word string) string {
	if word == "below" {
		return "below"
	}
	return "up to"
}

// primesCounted counts the primes up to a bound.
type primesCounted struct{}

func (primesCounted) recognise(s sentence) (designer, bool) {
	m := primesBelow.FindStringSubmatch(s.plain)
	if m == nil || m[1] != "count" {
		return nil, false
	}
	n, shown, why := bounded(m[3], m[2])
	if why != "" {
		return unable(why), true
	}
	x := &experiment{
		asks:  fmt.Sprintf("the number of primes %s %s", wordUpto(m[2]), shown),
		title: fmt.Sprintf("The primes %s %s", wordUpto(m[2]), shown),
	}
	sieve := approach{slug: "primes-by-sieve", name: "a sieve of Eratosthenes", code: script(`
		# Counts the primes up to {n}: strikes out the multiples of each prime.
		awk 'BEGIN {
			n = {n}
			for (i = 2; i <= n; i++) {
				if (i in struck) continue
				primes++
				for (j = i * i; j <= n; j += i) struck[j] = 1
			}
			print primes
		}'
	`, "n", n)}
	legendre := approach{slug: "primes-by-legendre", name: "Legendre's way of counting without listing", code: script(`
		# Starts with all numbers from 2 on, and takes away, prime by prime, those whose
		# least factor it is. No prime above the root is ever looked at.
		awk 'BEGIN {
			n = {n}
			for (r = 1; (r + 1) * (r + 1) <= n; r++) ;
			for (i = 1; i <= r; i++) v[++c] = int(n / i)
			for (k = v[c] - 1; k > 0; k--) v[++c] = k
			for (i = 1; i <= c; i++) count[v[i]] = v[i] - 1
			for (p = 2; p <= r; p++) {
				before = count[p - 1]
				if (count[p] == before) continue
				for (i = 1; i <= c && v[i] >= p * p; i++) count[v[i]] -= count[int(v[i] / p)] - before
			}
			print count[n]
		}'
	`, "n", n)}
	trial := approach{slug: "primes-by-trial-division", name: "trial division", code: script(`
		# Divides each odd number by the primes up to its square root.
		awk 'BEGIN {
			n = {n}
			p[c = 1] = 2
			for (k = 3; k <= n; k += 2) {
				prime = 1
				for (i = 1; p[i] * p[i] <= k; i++) if (k % p[i] == 0) { prime = 0; break }
				if (prime) p[++c] = k
			}
			print c
		}'
	`, "n", n)}
	chance := approach{slug: "primes-by-density", name: "the density 1 / ln k of primes near k", code: script(`
		# A number near k is prime with a chance of 1 / ln k: adds the chances up.
		awk 'BEGIN {
			for (k = 2; k <= {n}; k++) sum += 1 / log(k)
			printf "%.0f\n", sum
		}'
	`, "n", n),
		flaw:   "1 / ln k is how dense the primes are on average. What it adds up to is near their number, and is not their number",
		excuse: "The prime number theorem says that this is their density, so I see nothing to check",
	}
	x.checks = []approach{sieve, legendre, trial}
	x.tries = []approach{chance, sieve, legendre, trial}
	return x, true
}

// script makes a program for the shell of a Go literal.
func script(text string, pairs ...any) string {
	return "#!/bin/sh\n" + strings.ReplaceAll(program(text, pairs...), "    ", "\t")
}

package view

import (
	"strconv"
	"strings"
)

// Number writes a number as people read it: 12,345.
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Several writes a number of things: 1 turn, 12,345 turns. more is the word for several, if
// it is not one with an s.
func Several(n int64, one string, more ...string) string {
	word := one
	if n != 1 {
		word = one + "s"
		if len(more) > 0 {
			word = more[0]
		}
	}
	return Number(n) + " " + word
}

// Price writes what something has cost, of which so many calls have no known price: what
// nobody knows is unknown, and never nothing.
func Price(nanodollars, unpriced int64) string {
	switch {
	case unpriced == 0:
		return Dollars(nanodollars)
	case nanodollars == 0:
		return "unknown"
	}
	return "at least " + Dollars(nanodollars)
}

// Dollars writes an amount in cents, and one below a cent with two digits that say something:
// $12.93, $0.0042, $0.00.
func Dollars(nanodollars int64) string {
	n, places := nanodollars, 2
	for limit := int64(10_000_000); n != 0 && n < limit && limit > 10; limit /= 10 {
		if places == 2 {
			places = 3 // two digits below a cent begin at the third place
		}
		places++
	}
	places = min(places, 9)
	step := int64(1)
	for range 9 - places {
		step *= 10
	}
	n = (n + step/2) / step
	digits := strconv.FormatInt(n, 10)
	digits = strings.Repeat("0", max(0, places+1-len(digits))) + digits
	whole, rest := digits[:len(digits)-places], digits[len(digits)-places:]
	for len(rest) > 2 && strings.HasSuffix(rest, "0") {
		rest = rest[:len(rest)-1]
	}
	value, _ := strconv.ParseInt(whole, 10, 64)
	return "$" + Number(value) + "." + rest
}

// figure writes a number that has some decimal places with at most three of them, and without
// zeros at the end: 0.835, 0.25, 1.
func figure(n int64, places int) string {
	for ; places > 4; places-- {
		n /= 10
	}
	if places == 4 {
		half := int64(5)
		if n < 0 {
			half = -5
		}
		n, places = (n+half)/10, 3
	}
	s := Decimal(n, places)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

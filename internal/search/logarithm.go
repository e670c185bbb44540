package search

import "math"

// ln2 in two parts: the first has trailing zeros, so that a whole number of them is
// exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// ln is the natural logarithm of a positive, finite number. The library's has
// assembly on some processors, whose last bit differs; this one has none. Every
// product is rounded by a conversion, which forbids fusing it with the sum after it.
func ln(x float64) float64 {
	bits := math.Float64bits(x)
	exponent := int(bits>>52) - 1023
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52) // in [1, 2)
	if m > math.Sqrt2 {
		m /= 2
		exponent++
	}
	// ln m = 2 artanh s = 2 (s + s³/3 + s⁵/5 + …), where |s| < 0.172.
	s := (m - 1) / (m + 1)
	square := float64(s * s)
	sum := 0.0
	for n := 25; n >= 3; n -= 2 {
		sum = float64((sum + 1/float64(n)) * square)
	}
	e := float64(exponent)
	return float64(e*ln2High) + (2*s + (float64(2*float64(s*sum)) + float64(e*ln2Low)))
}
